"""What the manager calls: what is known so far, and changes of the course."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from math import isfinite
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response
from pydantic import BaseModel, Field

from crowdopt.io.cells import csv_text
from crowdopt.live.running import LiveTurn
from crowdopt.live.service.callers import LONGEST, Caller, managed, steered
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.service.tokens import WORKER, new_token
from crowdopt.live.service.worker_calls import LAST
from crowdopt.live.stores import event as kinds
from crowdopt.online.limits.least_cost import Least

LATEST = 50  # events on the manager's page
SHOWN = 120  # letters of an event's value there
LABELS = ("task", "worker", "label", "at", "paid", "late", "gold")
EVENTS = ("number", "at", "kind", "worker", "task", "lease", "value")


class WorkerBody(BaseModel):
    """A worker by name."""

    worker: str = Field(min_length=1, max_length=LONGEST)


class TaskBody(BaseModel):
    """A task that arrives."""

    task: str = Field(min_length=1, max_length=LONGEST)
    type: str = Field(default="", max_length=LONGEST)


class TargetBody(BaseModel):
    """The chance of a wrong answer that every task may have."""

    epsilon: float = Field(gt=0, lt=1)


def reports(app: FastAPI, desk: FrontDesk) -> None:
    """What the manager reads."""

    @app.get("/api/progress")
    async def progress(caller: Caller) -> dict[str, Any]:
        """Labels, money, workers, leases, tasks that are not sure."""
        return await managed(desk, caller, lambda turn: turn.state.progress())

    @app.get("/api/answers")
    async def answers(caller: Caller) -> list[Any]:
        """An answer for each task."""
        return await managed(desk, caller, lambda turn: [row._asdict() for row in turn.state.answer_rows()])

    @app.get("/api/workers")
    async def workers(caller: Caller) -> list[Any]:
        """Who came, what they told, and what is believed of their skill."""
        return await managed(desk, caller, lambda turn: [row._asdict() for row in turn.state.worker_rows()])

    @app.get("/api/looks")
    async def looks(caller: Caller) -> list[Any]:
        """What an expert looks at: task, status, answer, label, paid; nothing where tasks arrive."""

        def rows(turn: LiveTurn) -> list[Any]:
            return [] if turn.state.course.looks is None else turn.state.looks.rows(turn.state.classes)

        return [row._asdict() for row in await managed(desk, caller, rows)]

    @app.get("/api/events")
    async def latest(caller: Caller) -> list[Any]:
        """The last events, the newest first; long values are cut."""
        events = await managed(desk, caller, lambda turn: turn.book.after(max(0, turn.book.last() - LATEST)))
        return [asdict(event) | {"value": event.value[:SHOWN]} for event in reversed(events)]


def tables(app: FastAPI, desk: FrontDesk) -> None:
    """What the manager takes away, and what no policy can beat."""

    @app.get("/api/labels.csv")
    async def labels(caller: Caller) -> Response:
        """Every label: task, worker, label, at, paid, late, gold."""
        rows = await managed(desk, caller, lambda turn: turn.state.label_rows())
        return _table(LABELS, rows)

    @app.get("/api/events.csv")
    async def events(caller: Caller, after: int = 0) -> Response:
        """The history after an event."""
        rows = await managed(desk, caller, lambda turn: turn.book.after(max(0, min(after, LAST))))
        return _table(EVENTS, rows)

    known: dict[int, Least] = {}  # number of labels -> what is possible then

    @app.get("/api/limits")
    async def limits(caller: Caller) -> dict[str, Any]:
        """What all labels cost at least, whatever the policy, with those who came and skills as believed now.

        ``cost`` null: they alone cannot reach the target.
        """
        told, possible = await managed(desk, caller, lambda turn: (turn.state.told, turn.state.course.possible()))
        if told not in known:
            found = await asyncio.to_thread(possible)  # takes seconds; others are served meanwhile
            known.clear()
            known[told] = found
        cost = known[told].cost
        return {"cost": cost if isfinite(cost) else None}


def steering(app: FastAPI, desk: FrontDesk) -> None:
    """How the manager changes the course of the campaign."""

    def noted(turn: LiveTurn, kind: str, **what: Any) -> dict[str, Any]:
        return {"event": turn.note(kind, **what).number}

    @app.post("/api/pause")
    async def pause(caller: Caller) -> dict[str, Any]:
        """No task is handed out until the campaign is resumed."""
        return await steered(desk, caller, lambda turn: noted(turn, kinds.PAUSED))

    @app.post("/api/resume")
    async def resume(caller: Caller) -> dict[str, Any]:
        """Tasks are handed out again."""
        return await steered(desk, caller, lambda turn: noted(turn, kinds.RESUMED))

    @app.post("/api/end")
    async def end(caller: Caller) -> dict[str, Any]:
        """No worker will come who has not come yet; what is short may be repaired."""
        return await steered(desk, caller, lambda turn: noted(turn, kinds.DOORS_SHUT))

    @app.post("/api/remove")
    async def remove(body: WorkerBody, caller: Caller) -> dict[str, Any]:
        """A worker is asked no more."""

        def act(turn: LiveTurn) -> dict[str, Any]:
            turn.known_worker(body.worker)
            return noted(turn, kinds.REMOVED, worker=body.worker)

        return await steered(desk, caller, act)

    @app.post("/api/target")
    async def target(body: TargetBody, caller: Caller) -> dict[str, Any]:
        """Every task may be wrong with that chance from now on."""

        def act(turn: LiveTurn) -> dict[str, Any]:
            turn.retargeted(body.epsilon)
            return {"epsilon": body.epsilon}

        return await steered(desk, caller, act)


def arrivals(app: FastAPI, desk: FrontDesk) -> None:
    """What the manager brings in: tasks, and workers' tokens."""

    @app.post("/api/tasks")
    async def arrive(body: TaskBody, caller: Caller) -> dict[str, Any]:
        """A task arrives; who is to label it."""

        def act(turn: LiveTurn) -> dict[str, Any]:
            leases = turn.arrived(body.task, body.type)
            return {"task": body.task, "workers": [lease.worker for lease in leases]}

        return await steered(desk, caller, act)

    @app.post("/api/tokens")
    async def tokens(body: WorkerBody, caller: Caller) -> dict[str, Any]:
        """A token for a worker, shown this once; one they had before ends."""
        await managed(desk, caller, lambda turn: turn.may_come(body.worker))
        token = await asyncio.to_thread(new_token, desk.live.store, WORKER + body.worker)
        return {"worker": body.worker, "token": token}


def _table(header: tuple[str, ...], rows: list[Any]) -> Response:
    text = csv_text(header, ([getattr(row, name) for row in rows] for name in header))
    return Response(text, media_type="text/csv; charset=utf-8")
