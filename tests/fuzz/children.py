"""Commands as processes of their own, with the signals that a terminal gives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import crowdopt

HOME = str(Path(crowdopt.__file__).parent.parent)


def default_signals() -> None:
    """Undo what a background job, nohup or cron leave behind: there SIGINT is ignored, and children inherit it."""
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def start(words: list[str], folder: Path, **streams: Any) -> subprocess.Popen[str]:
    """``crowdopt WORDS`` in a folder, at the head of a process group of its own."""
    environment = {**os.environ, "PYTHONPATH": HOME, "PYTHONDONTWRITEBYTECODE": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams, "env": environment, "cwd": folder}
    command = [sys.executable, "-m", "crowdopt.cli", *words]
    return subprocess.Popen(command, text=True, start_new_session=True, preexec_fn=default_signals, **streams)
