"""The service as a process on the loopback address, and workers who speak HTTP to it."""

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
from threading import Thread
from typing import Any

ROOT = Path(__file__).parents[2]


class Client:
    """One who calls the service, over a connection for each call."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    def call(self, path: str, body: Any) -> Any:
        """The JSON of an answer that is one."""
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("POST", path, json.dumps(body), head)
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status == 200, (answer.status, content)
        return json.loads(content)


class Labeller(Thread):
    """A worker who does all they are asked, right four times in five, though the service or their line breaks down."""

    def __init__(self, port: int, token: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.client, self.chance = Client(port, token), Random(seed)
        self.acknowledged: dict[int, str] = {}

    def insist(self, path: str, body: Any) -> Any:
        """A call until it is answered, three times in ten once more than that."""
        while True:
            with suppress(OSError, HTTPException):
                if self.chance.random() < 0.3:
                    self.client.call(path, body)  # whose answer never came
                return self.client.call(path, body)
            time.sleep(0.05)

    def run(self) -> None:
        """Until no more is asked; a label takes a tenth of a second."""
        while not (lease := self.insist("/api/next", {})).get("over"):
            time.sleep(0.1)
            if lease["lease"] is not None:
                label = "yes" if self.chance.random() < 0.8 else "no"
                told = self.insist("/api/label", {"lease": lease["lease"], "label": label})
                assert told["lease"] == lease["lease"] and told["label"] == label
                self.acknowledged[lease["lease"]] = label


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
