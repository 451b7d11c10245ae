"""Runs pytest again and again, each time in a fork of a process that has the libraries loaded: a second, not four.

Reads lines of JSON, ``{"folder": ..., "tests": [...], "log": ..., "seconds": ...}``, and answers each with pytest's
exit status, negative where a signal ended it. Nothing of the code under test is loaded before the fork.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module

import pytest

LIBRARIES = ("numpy", "scipy.sparse", "scipy.stats", "scipy.special", "highspy", "numba", "click")


def play(folder: str, tests: list[str], log: str, seconds: int) -> None:
    """Pytest in the folder, its words in the log; never returns."""
    signal.alarm(seconds)
    os.chdir(folder)
    sys.path.insert(0, folder)
    words = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(words, 1)
    os.dup2(words, 2)
    status = pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests])
    sys.stdout.flush()
    os._exit(int(status))


if __name__ == "__main__":
    for name in LIBRARIES:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            play(**json.loads(line))
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])), flush=True)
