"""Where the tools are, and servers that can be started, killed and started again."""

from __future__ import annotations

import http.cookiejar
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True}
            self.process = subprocess.Popen(self.command, cwd=self.folder, env=os.environ | self.environment, **streams)
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                said = (self.folder / "server.log").read_text(errors="replace", encoding="utf-8")[-3000:]
                pytest.fail(f"the server did not start: {said}")
            time.sleep(0.3)

    def _answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(self.url + self.healthy, timeout=20):
            return True
        return False

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


class Visitor:
    """A browser's session."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies = http.cookiejar.CookieJar()
        handlers = urllib.request.HTTPCookieProcessor(self.cookies), urllib.request.ProxyHandler({})
        self.opener = urllib.request.build_opener(*handlers)

    def open(self, path: str, data: bytes | None = None, method: str | None = None, kind: str = "") -> str:
        """The page or answer at a path."""
        token = next((one.value for one in self.cookies if one.name == "csrftoken"), "")
        headers = {"Referer": self.url, "X-CSRFToken": token}
        headers |= {"Content-Type": kind} if kind else {}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with self.opener.open(request, timeout=120) as answer:
            text: str = answer.read().decode()
        return text

    def form(self, path: str, **fields: str) -> str:
        """A form sent."""
        return self.open(path, urllib.parse.urlencode(fields).encode(), kind="application/x-www-form-urlencoded")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What the page's scripts ask."""
        data = None if body is None else json.dumps(body).encode()
        text = self.open(path, data, method, "application/json")
        return json.loads(text) if text.strip().startswith(("{", "[")) else text
