"""Limits hold for the whole tree of processes, nothing survives them, and no size is tried that no machine holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from crowdopt import InputError, recipe
from crowdopt.isolated import run_confined
from crowdopt.labelers.arrivals import drawn_labelers
from crowdopt.memory import machine_memory, refuse_beyond_memory
from tests.sampled import first_of
from tests.typed import run

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


EATERS = [(GREEDY_TREE.format(eater=EATER.format(pause=0.001)), 400.0)]  # two children, each below the limit
EATERS += [(EATER.format(pause=0.0), 200.0), (EATER.format(pause=0.001), 600.0)]


@pytest.mark.parametrize(("code", "limit"), first_of(EATERS, 2))
def test_memory_of_the_whole_tree_is_limited_within_ten_percent(tmp_path, code, limit):
    """However fast it is filled: the nearer the limit, the sooner the next look."""
    ending = confined(code, tmp_path, limit)
    assert ending.kind == "memory" and limit < ending.megabytes <= 1.1 * limit


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


def test_the_limit_is_the_machines(monkeypatch):
    """What fits is let through, what does not is refused with both sizes in it; no crowd beyond it is allocated."""
    assert machine_memory() > 1e6
    monkeypatch.setattr("crowdopt.memory.machine_memory", lambda: 8e9)
    refuse_beyond_memory(1e9, "a table")
    with pytest.raises(InputError, match=r"a table would take 16 GB of memory, and this machine has 8; ask for less"):
        refuse_beyond_memory(2e9, "a table")
    sizes = [(recipe, "R10:999999999x999999999"), (recipe, "T9999:9x999999999"), (drawn_labelers, 10**15, (0,))]
    for draw, *size in sizes:
        with pytest.raises(InputError, match="GB of memory"):
            draw(*size)


def test_no_verb_tries_what_no_memory_holds(tmp_path, monkeypatch):
    """Exit 2, one line, nothing left."""
    monkeypatch.chdir(tmp_path)
    assert run("generate", "HS:6x60", "-o", "c").exit_code == 0
    for words in ("learn --draw 3 --policies ls-ol", "compare c --policies greedy"):
        result = run(*words.split(), "--trials", "9999999999999", "-o", "new")
        assert result.exit_code == 2 and "GB of memory" in result.stderr and result.stderr.count("\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["c"]
