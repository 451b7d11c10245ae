"""The service as a process: uvicorn, a line of progress, an end that finishes what was taken."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from typing import Any

import uvicorn

from crowdopt.errors import InputError
from crowdopt.serving.running import Live
from crowdopt.serving.service.callers import SECONDS

EVERY = 10.0  # seconds between two lines of progress
PATIENCE = 10  # seconds that clients have to take their answers when the service ends


def serve(app: Any, at: tuple[str, int], say: Callable[[str], None], live: Live) -> None:
    """Serve until SIGTERM or Ctrl-C; say: prints a sentence. Raises InputError if the port is taken."""
    host, port = at
    config = uvicorn.Config(app, host, port, log_level="warning", access_log=False, server_header=False, ws="none")
    config.lifespan, config.timeout_graceful_shutdown = "on", PATIENCE
    try:
        place = config.bind_socket()
    except SystemExit:
        raise InputError(f"port {port} of {host} is not free; choose another --port") from None
    named, number = f"[{host}]" if ":" in host else host, place.getsockname()[1]
    pages = f"labelling page http://{named}:{number}/ and manager's page http://{named}:{number}/manage"
    over = Signal()
    watcher = Thread(target=_watch, args=(live, say, over), daemon=True)
    watcher.start()

    def announce() -> None:
        say(pages)
        with live.together() as turn:
            for remark in turn.state.course.remarks():
                say(f"note: {remark}")

    def end() -> None:
        over.set()
        watcher.join()
        live.close()

    try:
        Announced(config, announce, end).run(sockets=[place])
    finally:
        end()
        place.close()


class Announced(uvicorn.Server):
    """A server that says when it takes calls, and ends what stands behind it before SIGTERM ends the process."""

    def __init__(self, config: uvicorn.Config, say: Callable[[], None], end: Callable[[], None]) -> None:
        super().__init__(config)
        self.say, self.end = say, end
        self.still: dict[Any, tuple[Any, float]] = {}  # connection that waits for its client -> at what, since when

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets=sockets)
        if self.started:
            self.say()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second; close connections whose client sends no whole request, or takes no answer."""
        now, before, self.still = time.monotonic(), self.still, {}
        connections: list[Any] = list(self.server_state.connections)
        for one in connections:
            unsent = one.transport.get_write_buffer_size()
            if unsent or one.cycle is None or one.cycle.response_complete:
                at, since = before.get(one, (None, now))
                self.still[one] = (one.cycle, unsent), since if at == (one.cycle, unsent) else now
                if now - self.still[one][1] > SECONDS:
                    one.transport.abort()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Let clients take their answers, then end the rest."""
        await super().shutdown(sockets=sockets)
        self.end()


def _watch(live: Live, say: Callable[[str], None], over: Signal) -> None:
    """A line whenever labels have come."""
    last = -1
    while not over.wait(EVERY):
        now = live.progress()
        if now["labels"] != last:
            if last <= 0 < now["labels"]:
                gc.freeze()  # all that is loaded by now stays: a collection that walks it keeps people waiting
            last = now["labels"]
            say(progress_line(now))


def progress_line(now: dict[str, Any]) -> str:
    """How far a campaign is, in a line."""
    unsure = "" if now["unsure"] is None else f", {now['unsure']} of {now['tasks']} tasks not sure yet"
    money = "" if now["money"] is None else f" of {now['money']:g}"
    clock = time.strftime("%H:%M:%S")
    return f"{clock} {now['labels']} labels, paid {now['paid']:g}{money}, {now['out']} out{unsure}"
