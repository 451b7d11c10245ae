"""What workers and the expert call: the next task, its label, another label in its place, a task given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from crowdopt.live.live_rows import ToldLabel
from crowdopt.live.running import LiveTurn
from crowdopt.live.service.callers import LONGEST, Caller, NotAllowed, worked
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.stores.event import EXPERT

WAIT = 5  # seconds after which a worker for whom there is nothing now may ask again
LAST = 2**62  # number of a lease at most


class LabelBody(BaseModel):
    """A label for a lease."""

    lease: int = Field(ge=1, le=LAST)
    label: str = Field(max_length=LONGEST)


class LeaseBody(BaseModel):
    """A lease that is given back."""

    lease: int = Field(ge=1, le=LAST)


@dataclass(frozen=True, eq=False)
class Shown:
    """What the pages show beside numbers: a title, and of each task columns such as text and image."""

    title: str = "Labels"
    content: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def worker_calls(app: FastAPI, desk: FrontDesk, shown: Shown) -> None:
    """Add them to an application."""

    @app.post("/api/next")
    async def next_task(caller: Caller) -> dict[str, Any]:
        """The worker's next task, or the one they have; without one: in how many seconds to ask again, if at all."""

        def act(turn: LiveTurn, worker: str) -> dict[str, Any]:
            lease = turn.asked(worker)
            if lease is None:
                return _nothing(turn, worker)
            content = dict(shown.content.get(lease.task, {}))
            return {"lease": lease.id, "task": lease.task, "until": lease.until, "content": content}

        return await worked(desk, caller, act)

    @app.post("/api/label")
    async def label(body: LabelBody, caller: Caller) -> dict[str, Any]:
        """A label for a lease; sent again, the same answer comes again and nothing changes."""

        def act(turn: LiveTurn, worker: str) -> dict[str, Any]:
            _mine(turn, body.lease, worker)
            return _answer(turn.told(body.lease, body.label))

        return await worked(desk, caller, act)

    @app.post("/api/correct")
    async def correct(body: LabelBody, caller: Caller) -> dict[str, Any]:
        """Another label in place of the worker's last one."""

        def act(turn: LiveTurn, worker: str) -> dict[str, Any]:
            _mine(turn, body.lease, worker)
            if turn.state.last_of.get(worker) != body.lease:
                raise NotAllowed(409, "only the label that you told last can be changed")
            return _answer(turn.corrected(body.lease, body.label))

        return await worked(desk, caller, act)

    @app.post("/api/skip")
    async def skip(body: LeaseBody, caller: Caller) -> dict[str, Any]:
        """A task goes back."""

        def act(turn: LiveTurn, worker: str) -> dict[str, Any]:
            _mine(turn, body.lease, worker)
            turn.skipped(body.lease)
            return {"lease": body.lease}

        return await worked(desk, caller, act)

    @app.get("/api/me")
    async def me(caller: Caller) -> dict[str, Any]:
        """Who the worker is, what they told and what that is paid, and the names of the classes."""

        def act(turn: LiveTurn, worker: str) -> dict[str, Any]:
            count, paid = turn.state.labels.of_worker(turn.state.enrolled.get(worker, -1))
            if worker == EXPERT:
                worker, count, paid = "expert", len(turn.state.looks.seen), turn.state.looks.paid
            return {"worker": worker, "labels": count, "paid": paid, "classes": turn.state.classes}

        return await worked(desk, caller, act)


def _nothing(turn: LiveTurn, worker: str) -> dict[str, Any]:
    over = worker in turn.state.enrolled and turn.state.course.is_over(worker) and not turn.state.paused
    return {"lease": None, "again_in": WAIT, "over": over}


def _answer(told: ToldLabel) -> dict[str, Any]:
    return {"lease": told.lease, "label": told.label, "late": told.late}


def _mine(turn: LiveTurn, lease: int, worker: str) -> None:
    """Another worker's lease is none."""
    if turn.state.holder(lease) != worker:
        raise NotAllowed(404, f"you have no lease {lease}; ask for a task first")
