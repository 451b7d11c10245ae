"""One trial: a command on damaged input, and whether what came of it is an answer or a sentence."""

from __future__ import annotations

import random
import signal
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from crowdopt.errors import TableWarning
from tests.fuzz.damage import copy, damaged, mistyped
from tests.fuzz.desk import Case, run

LONGEST = 1000  # letters of a sentence
PATIENCE = 120  # seconds; what takes longer hangs


def _over(*_: object) -> None:
    raise TimeoutError(f"it took more than {PATIENCE} s")


def there(folder: Path) -> set[str]:
    """Everything in the folder, by its path there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def trial(desk: Path, seed: int, cases: Sequence[Case]) -> str | None:
    """One damaged input; what is wrong with what came of it, in words, or None."""
    rng = random.Random(seed)
    case = rng.choices(cases, [case.weight for case in cases])[0]
    words, done = case.words.split(), "mistyping"
    with TemporaryDirectory() as place:
        folder = Path(place)
        copy(desk, folder, (*case.reads, *case.beside))
        if case.reads and rng.random() < 0.75:
            done = damaged(folder, case.reads, rng)
        else:
            words = mistyped(words, rng)
        before = there(folder)
        signal.signal(signal.SIGALRM, _over)
        signal.alarm(PATIENCE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # a note beside the sentence, on a line of its own
            result = run(folder, words)
        signal.alarm(0)
        left = sorted(name for name in there(folder) - before if not name.startswith(case.keeps))
    what = f"seed {seed}: crowdopt {' '.join(words)!a} after {done}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{what}: {type(result.exception).__name__}: {result.exception}"
    if result.exit_code not in (0, 1, 2):
        return f"{what}: exit status {result.exit_code}"
    if any(".partial" in name for name in left) or (result.exit_code == 2 and left):
        return f"{what}: left {left}"
    if result.exit_code == 2 and not _is_a_sentence(result.stderr):
        return f"{what}: {result.stderr[-300:]!r}"
    return None


def _is_a_sentence(said: str) -> bool:
    """What ``crowdopt:`` says on one line, or what click says of options."""
    lines = said.strip().splitlines()
    return "Error: " in said or (len(lines) == 1 and said.startswith("crowdopt: ") and len(said) <= LONGEST)
