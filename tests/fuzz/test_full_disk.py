"""A disk that is full at any point: one sentence, an exit status that is not 0, and nothing half-written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from tests.fuzz.children import HOME, start
from tests.fuzz.damage import copy
from tests.fuzz.desk import CASES, Case
from tests.fuzz.trials import inside, there

VERBS = "init generate import solve explain export budget rehearse aggregate select compare learn report pull"
COMMANDS = [next(case for case in CASES if case.verb == verb) for verb in VERBS.split()]
GOES_ON = ("compare", "learn")  # what is finished is kept, for the next try
SIZES = (0, 90, 1000, 9000)  # bytes that fit in a file

PAIRS = (  # the second of two tables is the longer one
    Case("rehearse campaign plan --seed 2 -o new.csv --truth new-truth.csv --lost 0.9", ("campaign", "plan")),
    Case("aggregate labels.csv --method one-coin -o new.csv --workers who.csv", ("labels.csv",)),
    Case("select gold.csv --most 1 -o new.csv --frontier curve.csv", ("gold.csv",)),
)


@contextmanager
def _no_file_beyond(size: int) -> Iterator[None]:
    """As on a full disk, writing fails at some byte of some file: here the first beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def _two_sizes() -> Iterator[Any]:
    """Each command with room for two sizes, one in four by default."""
    for place, case in enumerate(COMMANDS):
        for turn in (0, 2):
            size, slow = SIZES[(place // 2 + turn) % 4], turn > 0 or place % 2 > 0
            yield pytest.param(case, size, id=f"{case.words}, {size}", marks=[pytest.mark.slow] * slow)


@pytest.mark.parametrize(("case", "size"), list(_two_sizes()))
def test_a_full_disk_is_one_sentence(desk: Path, case: Case, size: int) -> None:
    """Whichever byte of whichever file it is that no longer fits; with room again, the same command works."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        copy(desk, folder, case.reads)
        before = there(folder)
        with inside(folder):
            with _no_file_beyond(size):
                result = CliRunner().invoke(main, case.words.split())
            left = sorted(there(folder) - before)
            assert isinstance(result.exception, SystemExit | None), result.exception
            assert not any(".partial" in name for name in left)
            if result.exit_code == 0:
                return
            assert result.exit_code == 2 and result.stderr.count("\n") == 1 and "written" in result.stderr
            assert case.verb in GOES_ON or not left
            assert CliRunner().invoke(main, case.words.split()).exit_code == 0


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case.verb)
def test_of_two_tables_both_are_written_or_none(desk: Path, tmp_path: Path, case: Case) -> None:
    """The disk is full at every byte of either: what is left is the whole answer, or what was there before."""
    copy(desk, tmp_path, case.reads)
    before = there(tmp_path)
    with inside(tmp_path):
        assert CliRunner().invoke(main, case.words.split()).exit_code == 0
        made = sorted(there(tmp_path) - before)
        assert len(made) == 2
        sizes = sorted((tmp_path / name).stat().st_size for name in made)
        for name in made:
            (tmp_path / name).unlink()
        for size in (sizes[0] - 1, sizes[0], sizes[1] - 1):
            with _no_file_beyond(size):
                result = CliRunner().invoke(main, case.words.split())
            assert result.exit_code == 2 and there(tmp_path) == before, size


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(
    "words",
    [
        "init new --json",
        pytest.param("solve nowhere -o new", marks=pytest.mark.slow),
        pytest.param("--help", marks=pytest.mark.slow),
        pytest.param("verify campaign plan", marks=pytest.mark.slow),
    ],
)
def test_a_full_stream_is_no_traceback(desk, tmp_path, words, stream):
    """Where the answer goes there is no room for it: the status says so, and so does the other stream."""
    copy(desk, tmp_path, ("campaign", "plan"))
    with Path("/dev/full").open("w") as full:
        child = start(words.split(), tmp_path, **{stream: full})
        said, complaint = child.communicate(timeout=120)
    assert "Traceback" not in (said or "") + (complaint or "")
    wanted = 2 if stream == "stdout" or words.startswith("solve nowhere") else 0
    assert child.returncode == wanted
    if stream == "stdout":
        assert len(complaint.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_traceback(tmp_path, closed):
    """As under some daemons: nothing that is opened takes the number of a stream, and the work is done."""
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "crowdopt.cli", "init", "new"]
    environment = {**os.environ, "PYTHONPATH": HOME}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Traceback" not in done.stdout + done.stderr
    assert (tmp_path / "new" / "campaign.toml").read_text(encoding="utf-8").startswith("#")
