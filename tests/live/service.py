"""The service as a process on the loopback address, and clients that speak HTTP to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[2]
TRIES = 200  # of a client whose connection breaks


class Client:
    """One who calls the service, over a connection for each call."""

    def __init__(self, port: int, token: str = "", blunders: Random | None = None) -> None:
        self.port, self.token, self.tries, self.blunders = port, token, TRIES, blunders

    def raw(self, method: str, path: str, body: bytes | None = None, headers=None) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of an answer."""
        given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        given |= {"Content-Type": "application/json"} if body is not None else {}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}

    def call(self, path: str, body: Any = None) -> Any:
        """The JSON of an answer that is one."""
        status, content, _ = self.raw(
            "GET" if body is None else "POST", path, None if body is None else json.dumps(body).encode()
        )
        assert status == 200, (status, content)
        return json.loads(content)

    def insist(self, path: str, body: Any) -> Any:
        """The same, again until it is answered: a service that was killed comes back, a poor line loses answers."""
        content = json.dumps(body).encode()
        for _ in range(self.tries):
            with suppress(OSError, HTTPException):
                if self.blunders is not None and self.blunders.random() < 0.3:
                    self.raw("POST", path, content)  # whose answer never came
                status, answer, _ = self.raw("POST", path, content)
                assert status == 200, (status, answer)
                return json.loads(answer)
            time.sleep(0.05)
        raise TimeoutError(path)


def started(campaign: Path, store: Path | str, *options: str, port: int = 0) -> tuple[subprocess.Popen[str], int]:
    """A service that answers, and its port."""
    command = [sys.executable, "-m", "crowdopt.cli", "live", str(campaign), "--store", str(store), "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    line = process.stdout.readline()
    assert "labelling page http://127.0.0.1:" in line, (line, process.stderr.read() if not line else "")
    return process, int(line.split("127.0.0.1:")[1].split("/")[0])


@contextmanager
def running(campaign: Path, store: Path | str, *options: str) -> Iterator[int]:
    """The port of a service that is ended politely."""
    process, port = started(campaign, store, *options)
    try:
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert process.returncode in (0, -signal.SIGTERM, 128 + signal.SIGTERM), (process.returncode, err)
        assert "Traceback" not in err, err
