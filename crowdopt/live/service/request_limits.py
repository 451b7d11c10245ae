"""Limits on what a client may send: bytes of a body, seconds until it is whole, calls per second."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

LARGEST = 64 * 1024  # bytes of a body,
OF_TOOLS = {"/predict": 4 * 1024 * 1024, "/webhook": 1024 * 1024}  # and of those that hold a tool's own tasks
SECONDS = 20.0  # in which the head of a request has to come, and then its body
RATE, BURST = 20.0, 60.0  # calls per second that a client may make for long, and at once
CLIENTS = 10_000  # that are remembered

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     b"img-src 'self' https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)  # fmt: skip


class RequestLimits:
    """An ASGI application in front of another one: refuses what is too large or too often, and adds headers.

    rate, burst: calls per second for long, and at once, by one client: a token, or an address without one; clock:
    seconds.
    """

    def __init__(
        self, app: Any, rate: float = RATE, burst: float = BURST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.app, self.rate, self.burst, self.clock = app, rate, burst, clock
        self.left: dict[object, tuple[float, float]] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
            await send(message)

        headers = dict(scope["headers"])
        if not self._may(headers.get(b"authorization") or (scope.get("client") or ("",))[0]):
            await _refuse(sent, 429, "too many calls; wait a second", [(b"retry-after", b"1")])
            return
        try:
            async with asyncio.timeout(SECONDS):
                body = await _body(receive, OF_TOOLS.get(scope["path"], LARGEST))
        except TimeoutError:
            await _refuse(sent, 408, f"the rest did not come in {SECONDS:g} seconds", [(b"connection", b"close")])
            return
        except ValueError as error:
            await _refuse(sent, 413, str(error), [(b"connection", b"close")])
            return
        if body is None:
            return
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(given, None) or await receive()

        await self.app(scope, again, sent)

    def _may(self, client: object) -> bool:
        """Whether the client has a call left: a bucket that fills with time."""
        now = self.clock()
        left, then = self.left.pop(client, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        self.left[client] = (max(0.0, left - 1), now)
        if len(self.left) > CLIENTS:
            del self.left[next(iter(self.left))]
        return left >= 1


async def _body(receive: Any, largest: int) -> bytes | None:
    """All of the body; None: the client has gone. Raises ValueError if it is larger."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > largest:
            raise ValueError(f"a body has at most {largest} bytes")
    return body


async def _refuse(send: Any, status: int, sentence: str, headers: list[tuple[bytes, bytes]]) -> None:
    body = json.dumps({"error": sentence}).encode()
    about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": body})
