"""Runs pytest again and again, each time in a fork of a process that has the libraries loaded: a second, not four.

Reads lines of JSON, ``{"folder": ..., "tests": [...], "log": ..., "seconds": ...}``, and answers each with pytest's
exit status, negative where a signal ended it. Nothing of the code under test is loaded before the fork.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

LIBRARIES = (
    "numpy",
    "scipy.sparse",
    "scipy.stats",
    "scipy.special",
    "highspy",
    "numba",
    "click",
    "hypothesis",
    "pytest",
)


def main() -> None:
    """Serve until there are no more lines."""
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.alarm(asked["seconds"])
            play(asked["folder"], asked["tests"], asked["log"])
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


def play(folder: str, tests: list[str], log: str) -> None:
    """Pytest in the folder, its words in the log; never returns."""
    import pytest

    os.chdir(folder)
    sys.path.insert(0, folder)
    words = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(words, 1)
    os.dup2(words, 2)
    status = pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests])
    sys.stdout.flush()
    os._exit(int(status))


if __name__ == "__main__":
    main()
