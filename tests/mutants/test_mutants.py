"""Each mutant of tests/mutants.toml, one line of the code made wrong, must make one of the tests named for it fail.

``python -m pytest -m mutants`` takes minutes; ``-n 0 -k NAME`` runs one. Everything happens in a copy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))
MUTANTS = TABLE["mutant"]
PARTS = ("crowdopt", "tests", "benchmarks", "models", "pyproject.toml")
SECONDS = 900  # a mutant that never ends is no survivor
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants run in forks")


class Copy:
    """A copy of the repository, and a process that runs tests in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log.txt"
        for part in PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
            else:
                shutil.copy(ROOT / part, folder / part)
        command = [sys.executable, str(folder / "tests" / "mutants" / "forker.py")]
        # no bytecode on disk: a file changed and changed back within a second would be taken for the other
        env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=folder, env=env, text=True, **pipes)

    def run(self, tests: list[str]) -> int:
        """Pytest's exit status, negative where a signal ended it."""
        asked = {"folder": str(self.folder), "tests": tests, "log": str(self.log), "seconds": SECONDS}
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        return int(json.loads(self.process.stdout.readline()))

    def forget(self, file: str) -> None:
        """What was compiled, if a file has kernels: of one that calls another's, numba keeps both as one."""
        for index in self.folder.rglob("*.nbi") if file.endswith("_kernels.py") else ():
            index.unlink()

    def words(self) -> str:
        """The end of what pytest said."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-3000:]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """All tests that are named pass in the copy as it is: one that fails anyway kills nothing."""
    made = Copy(tmp_path_factory.mktemp("mutants"))
    with made.process:
        assert made.run(sorted({test for mutant in MUTANTS for test in mutant["tests"]})) == 0, made.words()
        yield made
        made.process.stdin.close()


def mutated(text: str, mutant: dict[str, str]) -> str:
    """The file with the one place changed."""
    count = text.count(mutant["old"])
    assert count == 1, f"{mutant['file']} has this {count} times, not once: {mutant['old']}"
    return text.replace(mutant["old"], mutant["new"])


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"].replace(" ", "-"))
def test_the_mutant_dies(mutant: dict, copy: Copy) -> None:
    """A wrong line that no test notices could have been written at any time."""
    path = copy.folder / mutant["file"]
    text = path.read_text(encoding="utf-8")
    path.write_text(mutated(text, mutant), encoding="utf-8")
    copy.forget(mutant["file"])
    try:
        status = copy.run(mutant["tests"])
    finally:
        path.write_text(text, encoding="utf-8")
        copy.forget(mutant["file"])
    assert status != 0, f"survived: {mutant['why']}"
    assert status == 1 or status < 0, f"a mutant must run, not break the import: {copy.words()}"


def test_mutants_are_of_the_code_as_it_is() -> None:
    """Each names one place of one file, tests that are there, and why; code that changes takes its mutants along."""
    assert len({mutant["name"] for mutant in MUTANTS}) == len(MUTANTS) > 0
    for mutant in [*MUTANTS, *TABLE["equivalent"]]:
        text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
        assert mutated(text, mutant) != text and mutant["why"]
        for test in mutant.get("tests", ()):
            file, _, name = test.partition("::")
            there = f"def {name.partition('[')[0]}(" if name else "def test_"
            assert there in (ROOT / file).read_text(encoding="utf-8"), test
