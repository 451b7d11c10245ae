"""Limits hold for the whole tree of processes, and nothing survives them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from crowdopt.errors import InputError
from crowdopt.isolated import run_confined
from tests.sampled import first_of

EATER = "import time\nheld = []\nwhile True:\n    held.append(bytearray(b'x' * 4_000_000))\n    time.sleep({pause})\n"
GREEDY_TREE = """
import subprocess, sys, time
for _ in range(2):
    subprocess.Popen([sys.executable, "-c", {eater!r}])
time.sleep(60)
"""
LASTING = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep({seconds})
"""


def confined(code: str, folder: Path, megabytes: float = 1000.0, seconds: float = 30.0):
    command = [sys.executable, "-c", code]
    return run_confined(command, os.environ, folder / "said", megabytes, lambda elapsed: elapsed > seconds)


@pytest.mark.parametrize(("limit", "pause"), first_of([(200.0, 0.0), (600.0, 0.001)]))
def test_memory_is_limited_within_ten_percent(tmp_path, limit, pause):
    """However fast it is filled: the nearer the limit, the sooner the next look."""
    ending = confined(EATER.format(pause=pause), tmp_path, limit)
    assert ending.kind == "memory"
    assert limit < ending.megabytes <= 1.1 * limit


def test_memory_is_that_of_the_whole_tree(tmp_path):
    """Two children that each stay below the limit are above it together."""
    ending = confined(GREEDY_TREE.format(eater=EATER.format(pause=0.001)), tmp_path, 400.0)
    assert ending.kind == "memory"
    assert 400.0 < ending.megabytes <= 440.0


@pytest.mark.parametrize(("seconds", "kind"), [(60, "time"), pytest.param(0.3, "finished", marks=pytest.mark.slow)])
def test_nothing_is_left_behind(tmp_path, seconds, kind):
    """Neither past the time limit nor after an ordinary end, though a child has left its session."""
    ending = confined(LASTING.format(seconds=seconds), tmp_path, seconds=1.0)
    assert ending.kind == kind
    child = int((tmp_path / "said").read_text(encoding="utf-8"))
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_an_ordinary_end_is_told_as_it_was(tmp_path):
    """Status, output, seconds; a limit below any interpreter is refused."""
    ending = confined("print('hello'); raise SystemExit(7)", tmp_path)
    assert (ending.kind, ending.status) == ("finished", 7)
    assert (tmp_path / "said").read_text(encoding="utf-8") == "hello\n"
    assert 0 < ending.seconds < 30
    with pytest.raises(InputError, match="at least 50"):  # it would call every backend greedy
        confined("pass", tmp_path, megabytes=10.0)
