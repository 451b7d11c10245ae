"""A disk that is full at any point: one sentence, an exit status that is not 0, and nothing half-written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from tests.fuzz.children import HOME, start
from tests.fuzz.damage import copy
from tests.fuzz.desk import CASES, PLANNED, Case, run
from tests.fuzz.trials import there

VERBS = "init generate import solve explain export budget rehearse aggregate select compare learn report pull"
GOES_ON = ("compare", "learn")  # what is finished is kept, for the next try
SIZES = (0, 90, 1000, 9000)  # bytes that fit in a file
FULL = [  # each verb with room for two sizes, one in four by default
    pytest.param(verb, SIZES[(place // 2 + turn) % 4], marks=[pytest.mark.slow] * (turn + place % 2 > 0))
    for place, verb in enumerate(VERBS.split())
    for turn in (0, 2)
]
PAIRS = (  # the second of two tables is the longer one
    Case("rehearse campaign plan --seed 2 -o new.csv --truth new-truth.csv --lost 0.9", PLANNED),
    Case("aggregate labels.csv --method one-coin -o new.csv --workers who.csv", ("labels.csv",)),
    Case("select gold.csv --most 1 -o new.csv --frontier curve.csv", ("gold.csv",)),
)


def _cramped(folder: Path, words: str, size: int) -> Result:
    """As on a full disk, writing fails at some byte of some file: here the first beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        return run(folder, words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize(("verb", "size"), FULL)
def test_a_full_disk_is_one_sentence(desk, tmp_path, verb, size):
    """Whichever byte of whichever file it is that no longer fits; with room again, the same command works."""
    case = next(case for case in CASES if case.verb == verb)
    copy(desk, tmp_path, case.reads)
    before = there(tmp_path)
    result = _cramped(tmp_path, case.words, size)
    left = there(tmp_path) - before
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert not any(".partial" in name for name in left)
    if result.exit_code:
        assert result.exit_code == 2 and result.stderr.count("\n") == 1 and "written" in result.stderr
        assert verb in GOES_ON or not left
        assert run(tmp_path, case.words).exit_code == 0


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case.verb)
def test_of_two_tables_both_are_written_or_none(desk, tmp_path, case):
    """The disk is full at every byte of either: what is left is the whole answer, or what was there before."""
    copy(desk, tmp_path, case.reads)
    before = there(tmp_path)
    assert run(tmp_path, case.words).exit_code == 0
    made = [tmp_path / name for name in there(tmp_path) - before]
    shorter, longer = sorted(path.stat().st_size for path in made)
    for path in made:
        path.unlink()
    for size in (shorter - 1, shorter, longer - 1):
        assert _cramped(tmp_path, case.words, size).exit_code == 2 and there(tmp_path) == before, size


@pytest.mark.parametrize(
    ("words", "stream", "status"),
    [
        ("init new --json", "stdout", 2),
        ("init new --json", "stderr", 0),
        pytest.param("--help", "stdout", 2, marks=pytest.mark.slow),
        pytest.param("solve nowhere -o new", "stderr", 2, marks=pytest.mark.slow),
        pytest.param("verify campaign plan", "stdout", 2, marks=pytest.mark.slow),
    ],
)
def test_a_full_stream_is_no_traceback(desk, tmp_path, words, stream, status):
    """Where the answer goes there is no room for it: the status says so, and so does the other stream."""
    copy(desk, tmp_path, PLANNED)
    with Path("/dev/full").open("w") as full:
        child = start(words.split(), tmp_path, **{stream: full})
        said, complaint = child.communicate(timeout=120)
    assert child.returncode == status and "Traceback" not in (said or "") + (complaint or "")
    assert stream == "stderr" or len(complaint.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_traceback(tmp_path, closed):
    """As under some daemons: nothing that is opened takes the number of a stream, and the work is done."""
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "crowdopt.cli", "init", "new"]
    environment = {**os.environ, "PYTHONPATH": HOME}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Traceback" not in done.stdout + done.stderr
    assert (tmp_path / "new" / "campaign.toml").read_text(encoding="utf-8").startswith("#")
