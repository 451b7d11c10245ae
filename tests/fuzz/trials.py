"""One trial: a command on damaged input, and whether what came of it is an answer or a sentence."""

from __future__ import annotations

import os
import random
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from crowdopt.errors import TableWarning
from tests.fuzz.damage import copy, damaged, mistyped
from tests.fuzz.desk import Case

LONGEST = 1000  # letters of a sentence
PATIENCE = 120  # seconds; what takes longer hangs


def firsts(count: int, each: int) -> list[Any]:
    """The first seed of every block of trials: one block by default, the others where there is time."""
    return [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(each, count, each))]


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """In a folder as the current one."""
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


def there(folder: Path) -> set[str]:
    """Everything in the folder, by its path there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def trial(desk: Path, seed: int, cases: Sequence[Case]) -> str | None:
    """One damaged input; what is wrong with what came of it, in words, or None."""
    rng = random.Random(seed)
    case = rng.choices(cases, [case.weight for case in cases])[0]
    words = case.words.split()
    with TemporaryDirectory() as place:
        folder = Path(place)
        copy(desk, folder, (*case.reads, *case.beside))
        done = ""
        if case.reads and rng.random() < 0.75:
            done = damaged(folder, case.reads, rng)
        else:
            words = mistyped(words, rng)
        before = there(folder)
        with inside(folder), _patience(), warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # a note beside the sentence, on a line of its own
            result = CliRunner().invoke(main, words)
        left = sorted(name for name in there(folder) - before if not name.startswith(case.keeps))
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
