"""The line that follows a search: forward only, with the seconds running, whatever the search does."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

import crowdopt
from crowdopt import bars, kernels
from crowdopt.cli.common import ProgressLine
from crowdopt.core.solution import Progress
from crowdopt.verbs.solve import Forward, watched

SHOWN = re.compile(r"\r\x1b\[K([^\r]*)")
MOMENTS = re.compile(r"(\d+) s: best plan (\S+), none below ([^\s,]+)")


def goes_forward(moments):
    """Seconds and bounds never fall, values never rise, no bound is above the value."""
    for first, then in pairwise(moments):
        assert then.seconds >= first.seconds and (first.value is None or then.value <= first.value)
        assert first.bound is None or then.bound >= first.bound
    assert all(one.value is None or one.bound is None or one.bound <= one.value for one in moments)


def test_stages_that_begin_anew_are_told_as_one_run():
    """A stage with a clock of its own, a dearer plan, a weaker bound, none at all."""
    told = []
    follow = Forward(told.append)
    for moment in ((3.0, 120.0, 90.0), (0.0, None, None), (0.1, 130.0, 80.0), (0.2, 110.0, 95.0), (0.0, None, 111.0)):
        follow(Progress(*moment))
    goes_forward(told)
    assert [one.value for one in told] == [120, 120, 120, 110, 110]
    assert [one.bound for one in told] == [90, 90, 90, 95, 110]


def more(written):
    """What is written from now on: three lines of it."""
    known, end = len(written), time.monotonic() + 30
    while len(written) < known + 4:
        assert time.monotonic() < end
        time.sleep(0.01)
    return written[known + 1 :]


def test_the_line_moves_while_nothing_is_told(monkeypatch):
    """Compiling takes half a minute, and the line says so, but no longer: what was said before is over after it."""
    written = []
    stream = SimpleNamespace(isatty=lambda: True, write=written.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("crowdopt.bars.TICK", 0.02)
    with ProgressLine() as line:
        line.show(Progress(0.0, None, None, "compiling once"))
        kernels.pause()
        during = more(written)
        kernels.go_on()
        after = more(written)
    assert all("compiling once" in said for said in during)
    assert not any("compiling" in said for said in after) and written[-1] == "\r\x1b[K"


def test_on_a_terminal_the_line_goes_forward_and_is_gone_at_the_end(tmp_path):
    """The verb as a user sees it; nothing of it is left when the answer stands there."""
    crowdopt.init(tmp_path / "birds")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 60))
    command = [sys.executable, "-m", "crowdopt.cli", "solve", str(tmp_path / "birds"), "-o", str(tmp_path / "plan")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    lines = SHOWN.findall(os.read(ours, 1 << 16).decode())
    assert lines and lines[-1] == "" and all(len(line) < 60 for line in lines)
    moments = [MOMENTS.match(line) for line in lines]
    bounds = [float(one[3]) for one in moments if one and one[3] != "none"]
    assert bounds == sorted(bounds) and done.stdout.startswith(b"48 labels")


@pytest.mark.parametrize(("least", "wanted"), [(0.0, " s: best plan 104, none below 96, gap 8.33 %\n"), (5.0, "")])
def test_in_a_pipe_there_is_one_line_at_the_end_of_a_long_search(monkeypatch, capsys, least, wanted):
    """However much is told meanwhile; nothing where it took no while."""
    monkeypatch.setattr("crowdopt.cli.common.WHILE", least)
    with ProgressLine() as line:
        for bound in (80.0, 90.0, 96.0):
            line.show(Progress(1.0, 104.0, bound))
        assert capsys.readouterr().err == ""
    said = capsys.readouterr()
    assert said.err.lstrip("0123456789") == wanted and said.out == ""


def test_a_notebook_has_a_bar(monkeypatch):
    """Where a caller listens, the caller is told and there is none."""
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert bars.in_notebook()
    with watched(print, 60.0) as told:
        assert isinstance(told, Forward) and told.listener is print
    with watched(None, 60.0) as told:
        told(Progress(1.0, 104.0, 96.0, "note"))
    monkeypatch.delitem(sys.modules, "IPython")
    with watched(None, 60.0) as told:
        assert told is None
