"""Each mutant of tests/mutants.toml, one line of the code made wrong, must make one of the tests named for it fail.

``python -m pytest -m mutants`` takes minutes; ``-n 0 -k NAME`` runs one. Everything happens in a copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
PARTS = ("crowdopt", "tests", "benchmarks", "models", "pyproject.toml")
SECONDS = 600  # a mutant that never ends is no survivor


def run(copy: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy, there and nowhere else."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which all tests that are named pass: one that fails anyway kills nothing."""
    folder = tmp_path_factory.mktemp("mutants")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(ROOT / part, folder / part)
    every = sorted({test for mutant in MUTANTS for test in mutant["tests"]})
    done = run(folder, every)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder


def mutated(text: str, mutant: dict[str, str]) -> str:
    """The file with the one place changed."""
    count = text.count(mutant["old"])
    assert count == 1, f"{mutant['file']} has this {count} times, not once: {mutant['old']}"
    return text.replace(mutant["old"], mutant["new"])


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"].replace(" ", "-"))
def test_the_mutant_dies(mutant: dict, copy: Path) -> None:
    """A wrong line that no test notices could have been written at any time."""
    path = copy / mutant["file"]
    text = path.read_text(encoding="utf-8")
    path.write_text(mutated(text, mutant), encoding="utf-8")
    try:
        done = run(copy, mutant["tests"])
    except subprocess.TimeoutExpired:
        return
    finally:
        path.write_text(text, encoding="utf-8")
    said = done.stdout[-2000:] + done.stderr[-2000:]
    assert done.returncode != 0, f"survived: {mutant['why']}"
    assert done.returncode == 1, f"a mutant must run, not break the import: {said}"


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"].replace(" ", "-"))
def test_the_mutant_is_of_the_code_as_it_is(mutant: dict) -> None:
    """Each names one place of one file, and tests that are there."""
    text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
    assert mutated(text, mutant) != text
    for test in mutant["tests"]:
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_no_two_mutants_share_a_name() -> None:
    names = [mutant["name"] for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 70
