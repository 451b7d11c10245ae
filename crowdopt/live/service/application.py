"""The endpoints: what workers and a manager may call, and the two pages."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from crowdopt.errors import InputError
from crowdopt.live.running import Live, LiveTurn, check_name
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.service.metrics import exposition
from crowdopt.live.service.request_limits import BURST, RATE, RequestLimits
from crowdopt.live.service.tokens import MANAGER, WORKER, digest_of, new_token
from crowdopt.live.stores import event as kinds

PAGES = Path(__file__).parent / "pages"
WAIT = 5  # seconds after which a worker for whom there is nothing now may ask again
LONGEST = 200  # letters of a label or an id
LAST = 2**62  # number of a lease at most
ROWS = 50  # of a table on the manager's page


class LabelBody(BaseModel):
    """A label for a lease."""

    lease: int = Field(ge=1, le=LAST)
    label: str = Field(max_length=LONGEST)


class LeaseBody(BaseModel):
    """A lease that is given back."""

    lease: int = Field(ge=1, le=LAST)


class WorkerBody(BaseModel):
    """A worker by name."""

    worker: str = Field(min_length=1, max_length=LONGEST)


class TaskBody(BaseModel):
    """A task that arrives."""

    task: str = Field(min_length=1, max_length=LONGEST)
    type: str = Field(default="", max_length=LONGEST)


@dataclass(frozen=True, eq=False)
class Shown:
    """What the pages show beside numbers: a title, and of each task columns such as text and image."""

    title: str = "Labels"
    content: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class NotAllowed(InputError):
    """A call that is not allowed; the sentence says why."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers


T = TypeVar("T")
ASK = {"WWW-Authenticate": "Bearer"}


def application(live: Live, shown: Shown = Shown(), rate: float = RATE, burst: float = BURST) -> Any:
    """The ASGI application of a campaign; rate, burst: see :class:`RequestLimits`."""
    desk = FrontDesk(live)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> Any:
        yield
        await asyncio.to_thread(desk.close)  # what was taken is done before the process ends

    app = FastAPI(title="crowdopt live", lifespan=lifespan, docs_url=None, redoc_url=None)
    _refusals(app)
    _worker_calls(app, desk, shown)
    for calls in (_reports, _steering, _arrivals):
        calls(app, desk)
    _pages(app, live, shown)
    return RequestLimits(app, rate, burst)


async def _done(desk: FrontDesk, job: Callable[[LiveTurn], T]) -> T:
    answer: T = await asyncio.wrap_future(desk.submit(job))
    return answer


def _token(request: Request) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise NotAllowed(401, "send your token: Authorization: Bearer TOKEN", ASK)
    return digest_of(token.strip())


Digest = Annotated[str, Depends(_token)]


def _owner(turn: LiveTurn, digest: str) -> str:
    owner = turn.book.owner(digest)
    if owner is None:
        raise NotAllowed(401, "this token is not known, or no longer; ask for a new one", ASK)
    return owner


def _worker(turn: LiveTurn, digest: str) -> str:
    owner = _owner(turn, digest)
    if not owner.startswith(WORKER):
        raise NotAllowed(403, "this call is for workers")
    return owner[len(WORKER) :]


def _manager(turn: LiveTurn, digest: str) -> None:
    if _owner(turn, digest) != MANAGER:
        raise NotAllowed(403, "this call is for the manager")


def _mine(turn: LiveTurn, lease: int, worker: str) -> None:
    """Another worker's lease is none."""
    if turn.state.holder(lease) != worker:
        raise NotAllowed(404, f"you have no lease {lease}; ask for a task first")


def _worker_calls(app: FastAPI, desk: FrontDesk, shown: Shown) -> None:
    @app.post("/api/next")
    async def next_task(digest: Digest) -> dict[str, Any]:
        """The worker's next task, or the one they have; without one: in how many seconds to ask again, if at all."""

        def job(turn: LiveTurn) -> dict[str, Any]:
            worker = _worker(turn, digest)
            lease = turn.asked(worker)
            if lease is None:
                over = worker in turn.state.enrolled and turn.state.course.is_over(worker)
                return {"lease": None, "again_in": WAIT, "over": over and not turn.state.paused}
            content = dict(shown.content.get(lease.task, {}))
            return {"lease": lease.id, "task": lease.task, "until": lease.until, "content": content}

        return await _done(desk, job)

    @app.post("/api/label")
    async def label(body: LabelBody, digest: Digest) -> dict[str, Any]:
        """A label for a lease; sent again, the same answer comes again and nothing changes."""

        def job(turn: LiveTurn) -> dict[str, Any]:
            _mine(turn, body.lease, _worker(turn, digest))
            told = turn.told(body.lease, body.label)
            return {"lease": told.lease, "label": told.label, "late": told.late}

        return await _done(desk, job)

    @app.post("/api/skip")
    async def skip(body: LeaseBody, digest: Digest) -> dict[str, Any]:
        """A task goes back."""

        def job(turn: LiveTurn) -> dict[str, Any]:
            _mine(turn, body.lease, _worker(turn, digest))
            turn.skipped(body.lease)
            return {"lease": body.lease}

        return await _done(desk, job)

    @app.get("/api/me")
    async def me(digest: Digest) -> dict[str, Any]:
        """Who the worker is, what they told and what that is paid, and the names of the classes."""

        def job(turn: LiveTurn) -> dict[str, Any]:
            worker = _worker(turn, digest)
            place = turn.state.enrolled.get(worker, -1)
            rows = [row for row in turn.state.labels.rows if row[1] == place]
            paid = sum(row[5] for row in rows)
            return {"worker": worker, "labels": len(rows), "paid": paid, "classes": turn.state.classes}

        return await _done(desk, job)


async def _managed(desk: FrontDesk, digest: str, look: Callable[[LiveTurn], T]) -> T:
    """What the manager sees or changes in a turn."""

    def job(turn: LiveTurn) -> T:
        _manager(turn, digest)
        return look(turn)

    return await _done(desk, job)


async def _noted(desk: FrontDesk, digest: str, kind: str) -> dict[str, Any]:
    """The number of an event that the manager adds to the history."""
    return await _managed(desk, digest, lambda turn: {"event": turn.note(kind).number})


def _reports(app: FastAPI, desk: FrontDesk) -> None:
    """What the manager reads."""

    @app.get("/api/progress")
    async def progress(digest: Digest) -> dict[str, Any]:
        """Labels, money, workers, leases, tasks that are not sure."""
        return await _managed(desk, digest, lambda turn: turn.state.progress())

    @app.get("/api/answers")
    async def answers(digest: Digest) -> list[Any]:
        """An answer for each task."""
        return await _managed(desk, digest, lambda turn: [row._asdict() for row in turn.state.answer_rows()])

    @app.get("/api/workers")
    async def workers(digest: Digest) -> list[Any]:
        """Who came, what they told, and what is believed of their skill."""
        return await _managed(desk, digest, lambda turn: [row._asdict() for row in turn.state.worker_rows()])

    @app.get("/api/labels.csv")
    async def labels(digest: Digest) -> Response:
        """Every label: task, worker, label, at, paid, late, gold."""
        rows = await _managed(desk, digest, lambda turn: turn.state.label_rows())
        header = ("task", "worker", "label", "at", "paid", "late", "gold")
        return _csv(header, ([getattr(row, name) for name in header] for row in rows))

    @app.get("/api/events.csv")
    async def events(digest: Digest, after: int = 0) -> Response:
        """The history after an event."""
        rows = await _managed(desk, digest, lambda turn: turn.book.after(max(0, min(after, LAST))))
        header = ("number", "at", "kind", "worker", "task", "lease", "value")
        return _csv(header, ([getattr(row, name) for name in header] for row in rows))

    @app.get("/metrics")
    async def metrics(digest: Digest) -> Response:
        """Counts, for Prometheus."""
        return PlainTextResponse(exposition(await _managed(desk, digest, lambda turn: turn.state.progress())))


def _steering(app: FastAPI, desk: FrontDesk) -> None:
    """How the manager changes the course of the campaign."""

    @app.post("/api/pause")
    async def pause(digest: Digest) -> dict[str, Any]:
        """No task is handed out until the campaign is resumed."""
        return await _noted(desk, digest, kinds.PAUSED)

    @app.post("/api/resume")
    async def resume(digest: Digest) -> dict[str, Any]:
        """Tasks are handed out again."""
        return await _noted(desk, digest, kinds.RESUMED)

    @app.post("/api/end")
    async def end(digest: Digest) -> dict[str, Any]:
        """No worker will come who has not come yet; what is short may be repaired."""
        return await _noted(desk, digest, kinds.DOORS_SHUT)

    @app.post("/api/remove")
    async def remove(body: WorkerBody, digest: Digest) -> dict[str, Any]:
        """A worker is asked no more."""

        def look(turn: LiveTurn) -> dict[str, Any]:
            turn.known_worker(body.worker)
            return {"event": turn.note(kinds.REMOVED, worker=body.worker).number}

        return await _managed(desk, digest, look)


def _arrivals(app: FastAPI, desk: FrontDesk) -> None:
    """What the manager brings in: tasks, and workers' tokens."""

    @app.post("/api/tasks")
    async def arrive(body: TaskBody, digest: Digest) -> dict[str, Any]:
        """A task arrives; who is to label it."""

        def look(turn: LiveTurn) -> dict[str, Any]:
            leases = turn.arrived(body.task, body.type)
            return {"task": body.task, "workers": [lease.worker for lease in leases]}

        return await _managed(desk, digest, look)

    @app.post("/api/tokens")
    async def tokens(body: WorkerBody, digest: Digest) -> dict[str, Any]:
        """A token for a worker, shown this once; one they had before ends."""

        def look(turn: LiveTurn) -> None:
            check_name(body.worker)
            if not turn.state.course.knows(body.worker):
                raise InputError(f"worker {body.worker!r} is not in workers.csv, and no place for newcomers is left")

        await _managed(desk, digest, look)
        token = await asyncio.to_thread(new_token, desk.live.store, WORKER + body.worker)
        return {"worker": body.worker, "token": token}


def _pages(app: FastAPI, live: Live, shown: Shown) -> None:
    pages = Environment(loader=FileSystemLoader(PAGES), autoescape=True)
    facts = {"title": shown.title, "policy": live.settings.policy, "rows": ROWS}

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is there."""
        return {"status": "UP"}

    @app.get("/", response_class=HTMLResponse)
    async def labelling() -> str:
        """The page on which workers label."""
        return pages.get_template("labelling.html").render(facts)

    @app.get("/manage", response_class=HTMLResponse)
    async def manage() -> str:
        """The page of the manager."""
        return pages.get_template("manager.html").render(facts)

    app.mount("/static", StaticFiles(directory=PAGES / "static"), name="static")


def _refusals(app: FastAPI) -> None:
    """Whatever goes wrong is a sentence in JSON, without a trace of the inside."""

    @app.exception_handler(NotAllowed)
    async def not_allowed(_: Request, error: NotAllowed) -> Response:
        return JSONResponse({"error": str(error)}, error.status, error.headers)

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


def _csv(header: tuple[str, ...], rows: Any) -> Response:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8")
