"""Whatever is damaged: an answer, or one sentence and nothing left behind.

Every verb runs in process on a desk of small good files, of which one is damaged or one word of the command mistyped.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from tests.fuzz.damage import copy, damaged, mistyped
from tests.fuzz.desk import CASES, lay

DEFAULT, MANY = 200, 20_000  # damaged inputs
EACH = 40  # of them in a test
LONGEST = 1000  # letters of a sentence
PATIENCE = 120  # seconds; what takes longer hangs


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """The good files."""
    folder = tmp_path_factory.mktemp("desk")
    with _inside(folder):
        lay(folder)
    return folder


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _patience() -> Iterator[None]:
    def over(number, frame):
        raise TimeoutError(f"it took more than {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _there(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _run(desk: Path, seed: int) -> str | None:
    """One damaged input; what is wrong with what came of it, in words, or None."""
    rng = random.Random(seed)
    case = rng.choices(CASES, [case.weight for case in CASES])[0]
    words = case.words.split()
    with TemporaryDirectory() as place:
        folder = Path(place)
        copy(desk, folder, case.reads)
        done = ""
        if case.reads and rng.random() < 0.75:
            done = damaged(folder, case.reads, rng)
        else:
            words = mistyped(words, rng)
        before = _there(folder)
        with _inside(folder), _patience():
            result = CliRunner().invoke(main, words)
        left = sorted(_there(folder) - before)
    what = f"seed {seed}: crowdopt {' '.join(words)!a} after {done or 'mistyping'}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{what}: {type(result.exception).__name__}: {result.exception}"
    if result.exit_code not in (0, 1, 2):
        return f"{what}: exit status {result.exit_code}"
    if result.exit_code == 2 and left:
        return f"{what}: left {left}"
    if any(".partial" in name for name in left):
        return f"{what}: left {left}"
    if result.exit_code == 2 and not _is_a_sentence(result.stderr):
        return f"{what}: {result.stderr[-300:]!r}"
    return None


def _is_a_sentence(said: str) -> bool:
    """What ``crowdopt:`` says on one line, or what click says of options."""
    lines = [line for line in said.splitlines() if line.startswith("crowdopt: ")]
    if "Error: " in said:
        return True
    return len(lines) == 1 and len(said.strip().splitlines()) == 1 and len(said) <= LONGEST


def _wrong(desk: Path, first: int, count: int) -> list[str]:
    return [wrong for seed in range(first, first + count) if (wrong := _run(desk, seed)) is not None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_without_damage_every_command_answers(desk, tmp_path, case):
    """Otherwise the trials below would try nothing."""
    copy(desk, tmp_path, case.reads)
    with _inside(tmp_path):
        result = CliRunner().invoke(main, case.words.split())
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("first", range(0, DEFAULT, EACH))
def test_damage_ends_in_an_answer_or_a_sentence(desk, first):
    """No traceback, no leftover, one line that says what is wrong."""
    assert not _wrong(desk, first, EACH)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 100_000 + MANY, 500))
def test_much_damage_ends_in_an_answer_or_a_sentence(desk, first):
    """The same with other seeds, 20,000 of them."""
    assert not _wrong(desk, first, 500)
