"""What other services call: signed messages, Label Studio's questions to a model, participants of Prolific."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from crowdopt.io.bridges.label_studio_tasks import MODEL, Control, prediction
from crowdopt.live.inbox import PROLIFIC, STUDIO, WEBHOOK, handle
from crowdopt.live.running import LiveTurn
from crowdopt.live.service.callers import LONGEST, Caller, NotAllowed, connected, done
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.service.secrets_of_others import Secrets
from crowdopt.live.service.signatures import is_prolific, is_signed
from crowdopt.live.service.tokens import WORKER, digest_of, entitled

CHOICES = re.compile(r"<Choices\b([^>]*)>")
TAKEN = "this participant has a place here already; come back in the same browser, or ask for a token of your own"
MONTH = 30 * 24 * 3600  # seconds that a participant's browser knows them by
ATTRIBUTE = re.compile(r"""\b(name|toName)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class QuestionedTask(BaseModel):
    """A task of Label Studio's: its own data name ours."""

    id: int = 0
    data: dict[str, Any] = Field(default_factory=dict)


class PredictBody(BaseModel):
    """What Label Studio wants predicted."""

    tasks: list[QuestionedTask] = Field(max_length=10_000)
    label_config: str = ""


def tool_calls(app: FastAPI, desk: FrontDesk, secrets: Secrets) -> None:
    """Add them to an application."""
    _hooks(app, desk, secrets)
    _studio(app, desk)
    _participants(app, desk, secrets.join)


def _hooks(app: FastAPI, desk: FrontDesk, secrets: Secrets) -> None:
    async def kept(
        request: Request, source: str, secret: str, signed: Callable[[str, Mapping[str, str], bytes, float], bool]
    ) -> dict[str, str]:
        """Verified, stored and answered; it is acted on after that."""
        body = await request.body()
        if not secret or not signed(secret, request.headers, body, time.time()):
            raise NotAllowed(401, "the signature is not right, or the message is old")
        message = request.headers.get("webhook-id") or request.headers.get("x-event-id") or sha256(body).hexdigest()
        await _received(desk, source, message, _json(body))
        return {"status": "kept"}

    @app.post("/hooks/standard")
    async def standard(request: Request) -> dict[str, str]:
        """A message that is signed by Standard Webhooks: a label that was given elsewhere."""
        return await kept(request, WEBHOOK, secrets.webhooks, is_signed)

    @app.post("/hooks/prolific")
    async def prolific(request: Request) -> dict[str, str]:
        """A message that is signed by Prolific: what became of a participant's submission."""
        return await kept(request, PROLIFIC, secrets.prolific, is_prolific)


def _studio(app: FastAPI, desk: FrontDesk) -> None:
    """A machine learning backend, as Label Studio asks for one."""

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is there."""
        return {"status": "UP", "model_class": MODEL}

    @app.post("/setup")
    async def setup(request: Request, caller: Caller) -> dict[str, str]:
        """A project is connected."""
        return await connected(desk, caller, lambda turn: {"model_version": MODEL})

    @app.post("/predict")
    async def predict(body: PredictBody, caller: Caller) -> dict[str, Any]:
        """Our answers, each with its chance to be right: tasks that need labels most have the least."""
        control = _control(body.label_config)
        names = [str(task.data.get("task", task.id)) for task in body.tasks]

        def look(turn: LiveTurn) -> dict[str, tuple[str, float | None]]:
            return {row.task: (row.answer, row.claim) for row in turn.state.answer_rows()}

        known = await connected(desk, caller, look)
        none = {"model_version": MODEL, "score": 0.0, "result": []}
        return {"results": [_predicted(control, *known.get(name, ("", None))) or none for name in names]}

    @app.post("/webhook")
    async def webhook(request: Request, caller: Caller) -> dict[str, str]:
        """What happened in a project."""
        await connected(desk, caller, lambda turn: None)
        body = await request.body()
        await _received(desk, STUDIO, sha256(body).hexdigest(), _json(body))
        return {"status": "kept"}


def _participants(app: FastAPI, desk: FrontDesk, secret: str) -> None:
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


async def _received(desk: FrontDesk, source: str, message: str, body: Any) -> None:
    await done(desk, lambda turn: turn.received(source, f"{source} {message[:LONGEST]}", body))
    desk.submit(handle)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise NotAllowed(400, "the body is no JSON") from None


def _control(config: str) -> Control:
    """The first question of an interface that asks for a class; ours where there is none."""
    for found in CHOICES.finditer(config):
        told = {name: html.unescape(one or other) for name, one, other in ATTRIBUTE.findall(found[1])}
        if {"name", "toName"} <= told.keys():
            return Control(told["name"], told["toName"])
    return Control("label", "text")


def _predicted(control: Control, answer: str, claim: float | None) -> dict[str, Any] | None:
    return prediction(control, answer, 0.0 if claim is None else 1 - claim) if answer else None
