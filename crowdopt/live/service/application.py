"""The endpoints and the two pages as one application."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader
from starlette.exceptions import HTTPException

from crowdopt.errors import InputError
from crowdopt.live.running import Live
from crowdopt.live.service.callers import LONGEST, NotAllowed
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.service.manager_calls import arrivals, reports, steering, tables
from crowdopt.live.service.participants import participants
from crowdopt.live.service.request_limits import RequestLimits
from crowdopt.live.service.worker_calls import Shown, worker_calls
from crowdopt.live.stores.sql_ledgerbook import Unwritten

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
