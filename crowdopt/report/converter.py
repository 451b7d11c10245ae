"""Pictures by vl-convert in a process of its own: its engine ends a process that gets too little memory by a signal."""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crowdopt.errors import InputError

MISSING = "charts need the extra plots: pip install 'crowdopt[plots]'"
SCRIPT = Path(__file__).with_name("converter_process.py")
WAIT = 5.0  # seconds that the process has to end by itself


class Undrawn(InputError):
    """There is no picture of it, though nothing is wrong with the rest."""


class Converter:
    """The process: started with the first picture, ended with this one."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", str(SCRIPT)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        atexit.register(self.close)

    def ask(self, request: dict[str, Any]) -> tuple[bool, bytes]:
        """Whether it was done, and the picture or what was wrong; OSError or EOFError if the process ends over it."""
        asked, answered = self.process.stdin, self.process.stdout
        assert asked is not None and answered is not None
        asked.write(json.dumps(request).encode() + b"\n")
        asked.flush()
        done, size = json.loads(answered.readline() or b"null") or (None, 0)
        content = answered.read(size)
        if done is None or len(content) < size:
            raise EOFError
        return done, content

    def close(self) -> str:
        """End the process; what it ended with, in words."""
        atexit.unregister(self.close)
        try:
            self.process.communicate(timeout=WAIT)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        code = self.process.returncode
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


_running = cache(Converter)


def converted(name: str, function: str, given: Any, **options: Any) -> bytes:
    """What a function of vl-convert makes of its first argument, as bytes; Undrawn where that fails."""
    if find_spec("vl_convert") is None:
        raise Undrawn(MISSING)
    try:
        done, content = _running().ask({"function": function, "given": given, "options": options})
    except (OSError, EOFError) as error:
        said = str(error) if not _running.cache_info().currsize else f"the process that draws ended with {_ended()}"
        raise Undrawn(f"{name} cannot be drawn: {said}; it may need more memory than it gets") from None
    except BaseException:  # Ctrl-C between question and answer: the next answer would be that of this question
        _ended(at_once=True)
        raise
    if not done:
        raise Undrawn(f"{name} cannot be drawn: {' '.join(content.decode().split())}")
    return content


def _ended(at_once: bool = False) -> str:
    if not _running.cache_info().currsize:
        return "nothing"
    running = _running()
    _running.cache_clear()
    if at_once:
        running.process.kill()
    return running.close()
