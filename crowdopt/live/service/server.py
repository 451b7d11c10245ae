"""The service as a process: uvicorn, a line of progress, an end that finishes what was taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from typing import Any

import uvicorn

from crowdopt.errors import InputError
from crowdopt.live.running import Live

EVERY = 10.0  # seconds between two lines of progress
PATIENCE = 10  # seconds that clients have to take their answers when the service ends


def serve(app: Any, host: str, port: int, say: Callable[[str], None], live: Live) -> None:
    """Serve until SIGTERM or Ctrl-C; say: prints a sentence. Raises InputError if the port is taken."""
    config = uvicorn.Config(app, host, port, log_level="warning", access_log=False, server_header=False)
    config.lifespan, config.timeout_graceful_shutdown = "on", PATIENCE
    try:
        place = config.bind_socket()
    except SystemExit:
        raise InputError(f"port {port} of {host} cannot be had; choose another --port") from None
    named, number = f"[{host}]" if ":" in host else host, place.getsockname()[1]
    pages = f"labelling page http://{named}:{number}/ and manager's page http://{named}:{number}/manage"
    over = Signal()
    watcher = Thread(target=_watch, args=(live, say, over), daemon=True)
    watcher.start()
    try:
        Announced(config, lambda: say(pages)).run(sockets=[place])
    finally:
        over.set()
        watcher.join()
        place.close()


class Announced(uvicorn.Server):
    """A server that says when it takes calls."""

    def __init__(self, config: uvicorn.Config, say: Callable[[], None]) -> None:
        super().__init__(config)
        self.say = say

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets=sockets)
        if self.started:
            self.say()


def _watch(live: Live, say: Callable[[str], None], over: Signal) -> None:
    """A line whenever labels have come."""
    last = -1
    while not over.wait(EVERY):
        now = live.progress()
        if now["labels"] != last:
            last = now["labels"]
            say(progress_line(now))


def progress_line(now: dict[str, Any]) -> str:
    """How far a campaign is, in a line."""
    unsure = "" if now["unsure"] is None else f", {now['unsure']} of {now['tasks']} tasks not sure yet"
    money = "" if now["money"] is None else f" of {now['money']:g}"
    clock = time.strftime("%H:%M:%S")
    return f"{clock} {now['labels']} labels, paid {now['paid']:g}{money}, {now['out']} out{unsure}"
