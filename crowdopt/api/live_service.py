"""A campaign that runs as a service (the extra ``live``), and tokens for those who may call it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowdopt.api.binding import AnyPath, BackendMissing
from crowdopt.api.live import live, store_of
from crowdopt.errors import InputError
from crowdopt.io.folders import CAMPAIGN
from crowdopt.io.settings import read_settings
from crowdopt.io.table_kinds import CAMPAIGN_TABLES
from crowdopt.io.tables import find_table, read_table
from crowdopt.live.running import Live, check_name
from crowdopt.live.service.callers import MANAGER, WORKER, new_token

JOIN = "CROWDOPT_JOIN_SECRET"  # what a link has that lets participants of Prolific in; kept out of command lines
SHORTEST = 16  # letters of it
MISSING = "the service needs FastAPI, uvicorn and Jinja: pip install 'crowdopt[live]'"


def token(store: AnyPath, worker: str | None = None, role: str = MANAGER) -> str:
    """A token for a worker, or for the manager or the expert; one that they had before ends.

    Raises InputError if the worker's name is empty or blank.
    """
    if worker is not None:
        check_name(worker)
    place, owner = store_of(store), role if worker is None else WORKER + worker
    try:
        return new_token(place, owner)
    finally:
        place.close()


def live_application(campaign: AnyPath, running: Live, join: str = "") -> Any:
    """The ASGI application of a campaign that runs; join: the secret of a link that lets people in, empty: none.

    Raises BackendMissing without the extra.
    """
    try:
        from crowdopt.live.service.application import Shown, application
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("crowdopt"):
            raise
        raise BackendMissing(MISSING) from None
    return application(running, Shown(*_shown(Path(campaign))), join)


def serve(campaign: AnyPath, at: tuple[str, int], say: Callable[[str], None], **settings: Any) -> None:
    """Serve a campaign until the process is told to end; at: host and port; settings: those of ``live``.

    say: takes sentences.
    """
    join = os.environ.get(JOIN, "")
    if join and len(join) < SHORTEST:
        raise InputError(f"{JOIN}: a secret for links that let people in has {SHORTEST} letters at least")
    running = live(campaign, **settings)
    app = live_application(campaign, running, join)
    from crowdopt.live.service.server import serve as run

    run(app, at, say, running)


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
