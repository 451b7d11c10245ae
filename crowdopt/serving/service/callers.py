"""Who calls: tokens, what each may do, and calls that are repeated with the same key.

Tokens: random, shown once, kept as digests.

One thread that does what all requests ask, as many at a time as are waiting: they share one flush to the disk.

How participants of Prolific come in: by the link of their study.

Limits on what a client may send: bytes of a body, seconds until it is whole.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from hmac import compare_digest
from queue import SimpleQueue
from threading import Thread
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import Depends, FastAPI, Header, Request
from fastapi.responses import RedirectResponse, Response

from crowdopt.errors import InputError
from crowdopt.serving import stores
from crowdopt.serving.running import Live, LiveTurn
from crowdopt.serving.tokens import EXPERT, MANAGER, WORKER, digest_of, entitled

Job: TypeAlias = Callable[[LiveTurn], Any]
Waiting: TypeAlias = tuple[Job, "Future[Any]"]

MOST = 64  # requests that share a flush


class FrontDesk:
    """Requests in, answers out, in the order in which they came; an answer is given when its events are on the disk."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self.thread = Thread(target=self._work, name="desk", daemon=True)
        self.thread.start()

    def submit(self, job: Job) -> Future[Any]:
        """Have a job done in a turn of the campaign."""
        answer: Future[Any] = Future()
        self.queue.put((job, answer))
        return answer

    def close(self) -> None:
        """Do what is waiting, and stop."""
        self.queue.put(None)
        self.thread.join()

    def _work(self) -> None:
        while (first := self.queue.get()) is not None:
            batch, ends = [first], False
            while len(batch) < MOST and not self.queue.empty():
                if (more := self.queue.get()) is None:
                    ends = True
                    break
                batch.append(more)
            batch = [one for one in batch if one[1].set_running_or_notify_cancel()]  # who gave up is not served
            if batch and not self._done_together(batch):
                for one in batch:
                    self._done_together([one], alone=True)
            if ends:
                return

    def _done_together(self, batch: list[Waiting], alone: bool = False) -> bool:
        """Do the jobs in one turn; False: one of them broke down, and none has happened."""
        answers: list[tuple[Future[Any], Any, InputError | None]] = []
        try:
            with self.live.together() as turn:
                for job, answer in batch:
                    try:
                        answers.append((answer, job(turn), None))
                    except InputError as error:  # before anything was changed
                        answers.append((answer, None, error))
        except Exception as error:
            if not alone:
                return False
            batch[0][1].set_exception(error)
            return True
        for answer, result, refused in answers:
            if refused is None:
                answer.set_result(result)
            else:
                answer.set_exception(refused)
        return True


LONGEST = 200  # letters of a label, an id, or a key
ASK = {"WWW-Authenticate": "Bearer"}

T = TypeVar("T")


class NotAllowed(InputError):
    """A call that is not allowed; the sentence says why."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers


@dataclass(frozen=True)
class CallerOf:
    """The digest of a caller's token, the key of the call, and the digest of what is called for: a key is for that."""

    digest: str
    key: str = ""
    call: str = ""


async def _caller(
    request: Request, idempotency_key: Annotated[str, Header(max_length=LONGEST, pattern=r"^[\x20-\x7e]*$")] = ""
) -> CallerOf:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise NotAllowed(401, "send your token: Authorization: Bearer TOKEN", ASK)
    call = f"{request.method} {request.url.path}\n" + (await request.body()).decode(errors="replace")
    return CallerOf(digest_of(token.strip()), idempotency_key, digest_of(call))


Caller = Annotated[CallerOf, Depends(_caller)]


async def done(desk: FrontDesk, job: Callable[[LiveTurn], T]) -> T:
    """What a job gives, when its events are on the disk."""
    answer: T = await asyncio.wrap_future(desk.submit(job))
    return answer


async def worked(desk: FrontDesk, caller: CallerOf, act: Callable[[LiveTurn, str], dict[str, Any]]) -> dict[str, Any]:
    """What a worker or the expert does in a turn; act: given the turn and their name, the expert's is empty."""
    return await done(desk, lambda turn: _once(turn, caller, lambda: act(turn, _worker(turn, caller))))


async def managed(desk: FrontDesk, caller: CallerOf, look: Callable[[LiveTurn], T]) -> T:
    """What the manager sees in a turn."""

    def job(turn: LiveTurn) -> T:
        if _owner(turn, caller) != MANAGER:
            raise NotAllowed(403, "this call is for the manager")
        return look(turn)

    return await done(desk, job)


async def steered(desk: FrontDesk, caller: CallerOf, act: Callable[[LiveTurn], dict[str, Any]]) -> dict[str, Any]:
    """What the manager changes in a turn, once for each key."""
    return await managed(desk, caller, lambda turn: _once(turn, caller, lambda: act(turn)))


def _once(turn: LiveTurn, caller: CallerOf, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer to the first call of that key by that caller."""
    if not caller.key:
        return act()
    _owner(turn, caller)
    key = f"{caller.digest}:{caller.key}"
    if (known := turn.book.reply(key)) is not None:
        reply, _, call = known.partition("\n")
        if call != caller.call:
            raise NotAllowed(422, "this Idempotency-Key was used for another call; give each call a key of its own")
        answer: dict[str, Any] = json.loads(reply)
        return answer
    answer = act()
    turn.book.remember(key, f"{json.dumps(answer)}\n{caller.call}")
    return answer


def _owner(turn: LiveTurn, caller: CallerOf) -> str:
    owner = turn.book.owner(caller.digest)
    if owner is None:
        raise NotAllowed(401, "this token is not known, or no longer; ask for a new one", ASK)
    return owner


def _worker(turn: LiveTurn, caller: CallerOf) -> str:
    owner = _owner(turn, caller)
    if owner == EXPERT:
        return stores.EXPERT
    if not owner.startswith(WORKER):
        raise NotAllowed(403, "this call is for workers")
    return owner[len(WORKER) :]


TAKEN = "this participant has a place here already; come back in the same browser, or ask for a token of your own"
MONTH = 30 * 24 * 3600  # seconds that a participant's browser knows them by


def participants(app: FastAPI, desk: FrontDesk, secret: str) -> None:
    """Add the link to an application; secret: what it has that lets people in, empty: none comes by it."""

    @app.get("/join")
    async def join(request: Request, key: str = "", PROLIFIC_PID: str = "") -> Response:
        """A participant of Prolific is sent to the labelling page with a token of their own, once.

        The browser that got it keeps it as a cookie for this path, with which the same link leads back. The names of
        other workers are no secret: the link gives no token of theirs.
        """
        if not secret or not compare_digest(key.encode(), secret.encode()):
            raise NotAllowed(403, "this link lets no one in; use the one of your study")
        if not 0 < len(PROLIFIC_PID) <= LONGEST:
            raise NotAllowed(422, "PROLIFIC_PID: who are you?")
        owner, token = WORKER + PROLIFIC_PID, request.cookies.get("token", "")

        def seat(turn: LiveTurn) -> str:
            if turn.book.owner(digest_of(token)) == owner:
                return token
            turn.may_come(PROLIFIC_PID)
            came = PROLIFIC_PID in turn.state.enrolled or turn.book.entitled(owner)
            if came or PROLIFIC_PID in turn.state.course.place_of:
                raise NotAllowed(403, TAKEN)
            return entitled(turn.book, owner)

        given = await done(desk, seat)
        seated = RedirectResponse(f"/#{given}", 303)
        safe = request.url.scheme == "https"
        seated.set_cookie("token", given, MONTH, path="/join", secure=safe, httponly=True, samesite="lax")
        return seated


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
