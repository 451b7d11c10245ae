"""A campaign that runs as a service (the extra ``live``), and tokens for those who may call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowdopt.api.binding import AnyPath, BackendMissing
from crowdopt.api.live import live, store_of
from crowdopt.io.campaign.campaign_settings import read_settings
from crowdopt.io.tables.folder import CAMPAIGN
from crowdopt.io.tables.table_columns import find_table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES
from crowdopt.live.running import Live
from crowdopt.live.service.tokens import MANAGER, WORKER, new_token

MISSING = "the service needs FastAPI, uvicorn and Jinja: pip install 'crowdopt[live]'"


def token(store: AnyPath, worker: str | None) -> str:
    """A token for a worker, or for the manager (None); one that they had before ends."""
    place = store_of(store)
    try:
        return new_token(place, MANAGER if worker is None else WORKER + worker)
    finally:
        place.close()


def live_application(campaign: AnyPath, running: Live, **limits: float) -> Any:
    """The ASGI application of a campaign that runs.

    limits: ``rate`` and ``burst``, calls per second that a client may make. Raises BackendMissing without the extra.
    """
    try:
        from crowdopt.live.service.application import Shown, application
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("crowdopt"):
            raise
        raise BackendMissing(MISSING) from None
    return application(running, Shown(*_shown(Path(campaign))), **limits)


def serve(campaign: AnyPath, host: str, port: int, say: Callable[[str], None], **settings: Any) -> None:
    """Serve a campaign until the process is told to end; say: takes sentences; settings: those of ``live``."""
    running = live(campaign, **settings)
    app = live_application(campaign, running)
    from crowdopt.live.service.server import serve as run

    run(app, host, port, say, running)


def _shown(campaign: Path) -> tuple[str, dict[str, dict[str, str]]]:
    """The title, and of each task the columns that no plan uses: text, pictures."""
    title, place = campaign.resolve().name, None
    if campaign.is_dir():
        title, place = read_settings(campaign / CAMPAIGN).get("title", title), find_table(campaign, "tasks")
    if place is None:
        return title, {}
    table = read_table(place, CAMPAIGN_TABLES["tasks"])
    names = list(table.extras)
    return title, {
        task: {name: table.extras[name][row] for name in names} for row, task in enumerate(table.ids("task"))
    }
