"""A worker over HTTP, who goes on when the service or the connection breaks down."""

from __future__ import annotations

import time
from contextlib import suppress
from random import Random
from threading import Thread

from tests.live.service import Client


class Labeller(Thread):
    """A worker who does all they are asked, and is right four times in five."""

    def __init__(self, port: int, token: str, seed: int) -> None:
        super().__init__()
        self.rng = Random(seed)
        self.client = Client(port, token, self.rng)
        self.acknowledged: dict[int, str] = {}
        self.most = 10**9
        self.pause = 0.0  # seconds that they think

    def run(self) -> None:
        with suppress(TimeoutError):
            while len(self.acknowledged) < self.most:
                lease = self.client.insist("/api/next", {})
                if lease["lease"] is None:
                    if lease["over"]:
                        return
                    time.sleep(0.1)
                    continue
                time.sleep(self.pause)
                label = "yes" if self.rng.random() < 0.8 else "no"
                told = self.client.insist("/api/label", {"lease": lease["lease"], "label": label})
                assert told["lease"] == lease["lease"] and told["label"] == label
                self.acknowledged[lease["lease"]] = label
