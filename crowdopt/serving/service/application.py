"""The endpoints and the two pages as one application.

What workers and the expert call: the next task, its label, another label in its place, a task given back.

What the manager calls: what is known so far, and changes of the course.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from crowdopt.errors import InputError
from crowdopt.io.cells import csv_text
from crowdopt.online.limits import Least
from crowdopt.serving import stores
from crowdopt.serving.live_rows import ToldLabel
from crowdopt.serving.running import Live, LiveTurn
from crowdopt.serving.service.callers import (
    LONGEST,
    Caller,
    FrontDesk,
    NotAllowed,
    RequestLimits,
    managed,
    participants,
    steered,
    worked,
)
from crowdopt.serving.stores import EXPERT, Unwritten
from crowdopt.serving.tokens import WORKER, new_token

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
        return await steered(desk, caller, lambda turn: noted(turn, stores.PAUSED))

    @app.post("/api/resume")
    async def resume(caller: Caller) -> dict[str, Any]:
        """Tasks are handed out again."""
        return await steered(desk, caller, lambda turn: noted(turn, stores.RESUMED))

    @app.post("/api/end")
    async def end(caller: Caller) -> dict[str, Any]:
        """No worker will come who has not come yet; what is short may be repaired."""
        return await steered(desk, caller, lambda turn: noted(turn, stores.DOORS_SHUT))

    @app.post("/api/remove")
    async def remove(body: WorkerBody, caller: Caller) -> dict[str, Any]:
        """A worker is asked no more."""

        def act(turn: LiveTurn) -> dict[str, Any]:
            turn.known_worker(body.worker)
            return noted(turn, stores.REMOVED, worker=body.worker)

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


PAGES = Path(__file__).parent / "pages"
ROWS = 50  # of a table on the manager's page


def application(live: Live, shown: Shown, join: str) -> Any:
    """The ASGI application of a campaign; join: the secret of :func:`participants`."""
    desk = FrontDesk(live)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> Any:
        yield
        await asyncio.to_thread(desk.close)  # what was taken is done before the process ends

    app = FastAPI(title="crowdopt live", lifespan=lifespan, docs_url=None, redoc_url=None)
    _refusals(app)
    worker_calls(app, desk, shown)
    for calls in (reports, tables, steering, arrivals):
        calls(app, desk)
    participants(app, desk, join)
    _pages(app, live, shown)
    return RequestLimits(app)


def _pages(app: FastAPI, live: Live, shown: Shown) -> None:
    pages = Environment(loader=FileSystemLoader(PAGES), autoescape=True)
    facts = {"title": shown.title, "policy": live.settings.policy, "rows": ROWS}

    @app.get("/", response_class=HTMLResponse)
    async def labelling() -> str:
        """The page on which workers label."""
        return pages.get_template("labelling.html").render(facts)

    @app.get("/manage", response_class=HTMLResponse)
    async def manage() -> str:
        """The page of the manager."""
        return pages.get_template("manager.html").render(facts)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is there."""
        return {"status": "UP"}

    app.mount("/static", StaticFiles(directory=PAGES / "static"), name="static")


def _refusals(app: FastAPI) -> None:
    """Whatever goes wrong is a sentence in JSON, without a trace of the inside."""

    @app.exception_handler(NotAllowed)
    async def not_allowed(_: Request, error: NotAllowed) -> Response:
        return JSONResponse({"error": str(error)}, error.status, error.headers)

    @app.exception_handler(Unwritten)
    async def unwritten(_: Request, error: Unwritten) -> Response:
        return JSONResponse({"error": "nothing can be kept just now; call again"}, 503, {"Retry-After": "5"})

    @app.exception_handler(InputError)
    async def bad_input(_: Request, error: InputError) -> Response:
        return JSONResponse({"error": str(error)}, 409)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])[:LONGEST]
        return JSONResponse({"error": f"{place or 'the body'}: {first['msg']}"}, 422)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": "the service could not do this; it is in the log"}, 500)
