"""Who calls: tokens, what each may do, and calls that are repeated with the same key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request

from crowdopt.errors import InputError
from crowdopt.live.running import LiveTurn
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.service.tokens import EXPERT, MANAGER, WORKER, digest_of
from crowdopt.live.stores import event as kinds

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
        reply, _, call = known.partition("\n")  # older versions kept no call
        if call not in ("", caller.call):
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
        return kinds.EXPERT
    if not owner.startswith(WORKER) or owner == WORKER:  # without a name, as older versions made it, it is the expert's
        raise NotAllowed(403, "this call is for workers")
    return owner[len(WORKER) :]
