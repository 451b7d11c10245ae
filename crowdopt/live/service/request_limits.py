"""Limits on what a client may send: bytes of a body, seconds until it is whole."""

from __future__ import annotations

import asyncio
import json
from typing import Any

LARGEST = 64 * 1024  # bytes of a body
SECONDS = 20.0  # in which the head of a request has to come, and then its body

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     b"img-src 'self' https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)  # fmt: skip


class RequestLimits:
    """An ASGI application in front of another one: refuses what is too large or too slow, and adds headers."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
            await send(message)

        try:
            async with asyncio.timeout(SECONDS):
                body = await _body(receive)
        except TimeoutError:
            await _refuse(sent, 408, f"the rest did not come in {SECONDS:g} seconds")
            return
        except ValueError as error:
            await _refuse(sent, 413, str(error))
            return
        if body is None:
            return
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(given, None) or await receive()

        await self.app(scope, again, sent)


async def _body(receive: Any) -> bytes | None:
    """All of the body; None: the client has gone. Raises ValueError if it is larger."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > LARGEST:
            raise ValueError(f"a body has at most {LARGEST} bytes")
    return body


async def _refuse(send: Any, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    about = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": body})
