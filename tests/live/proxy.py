"""A proxy that cuts connections before a call and after it, repeats calls, and delays them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import numpy as np

FATES = ("passed", "lost before", "lost after", "repeated", "delayed")
CHANCE = (0.4, 0.15, 0.15, 0.2, 0.1)


class Proxy(ThreadingHTTPServer):
    """In front of a port of this machine; fates: what became of the calls so far."""

    def __init__(self, port: int, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind, self.rng, self.fates, self.lock = port, np.random.default_rng(seed), Counter(), Lock()

    def fate(self) -> str:
        """Of the next call."""
        with self.lock:
            fate = str(self.rng.choice(FATES, p=CHANCE))
            self.fates[fate] += 1
        return fate


class Handler(BaseHTTPRequestHandler):
    """One connection, one call."""

    server: Proxy

    def do_POST(self) -> None:
        fate, body = self.server.fate(), self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True
        if fate == "lost before":
            return
        if fate == "delayed":
            time.sleep(0.2)
        answers = [self.passed(body) for _ in range(2 if fate == "repeated" else 1)]
        if fate == "lost after":
            return
        status, content = answers[-1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def passed(self, body: bytes) -> tuple[int, bytes]:
        """What the service says."""
        with closing(HTTPConnection("127.0.0.1", self.server.behind, timeout=20)) as connection:
            connection.request("POST", self.path, body, dict(self.headers))
            answer = connection.getresponse()
            return answer.status, answer.read()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def unreliable(port: int, seed: int = 0) -> Iterator[Proxy]:
    """A proxy in front of a port while the block lasts."""
    with Proxy(port, seed) as proxy:
        thread = Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
