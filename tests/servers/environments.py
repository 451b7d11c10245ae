"""Where the tools are, and servers that can be started, killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest

VARIABLE = "CROWDOPT_SERVERS"
PATIENCE = 600  # seconds until a server must answer; a first start makes a database
HOW = f"see tests/servers/README.md; {VARIABLE} names the folder of environments"


def executable(name: str) -> Path:
    """A tool's program, in the environments or on the PATH; skips the test where there is none."""
    folder = os.environ.get(VARIABLE)
    found = sorted(Path(folder).resolve().glob(f"*/bin/{name}")) if folder else []
    path = found[0] if found else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: {HOW}")
    return Path(path)


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
    return port


@dataclass
class Server:
    """A server in a folder, on a port that it keeps when it is started again."""

    command: list[str]
    folder: Path
    port: int
    healthy: str
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        assert self.process is None
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            ended = self.process.poll() is not None
            if ended or time.monotonic() > end:
                said = (self.folder / "server.log").read_text(errors="replace", encoding="utf-8")[-3000:]
                self.kill()
                pytest.fail(f"the server did not start: {said}")
            time.sleep(0.3)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + self.healthy, timeout=20):
                return True
        except (OSError, urllib.error.URLError):
            return False

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
