"""A campaign that runs as a service (the extra ``live``), and tokens for those who may call it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdopt.api.binding import AnyPath, BackendMissing
from crowdopt.api.live import live, store_of
from crowdopt.io.campaign.campaign_settings import read_settings
from crowdopt.io.tables.folder import CAMPAIGN
from crowdopt.io.tables.table_columns import find_table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES
from crowdopt.live.running import Live, check_name
from crowdopt.live.service.secrets_of_others import Secrets
from crowdopt.live.service.tokens import MANAGER, WORKER, new_token

SECRETS = ("CROWDOPT_WEBHOOK_SECRET", "CROWDOPT_PROLIFIC_SECRET", "CROWDOPT_JOIN_SECRET")
MISSING = "the service needs FastAPI, uvicorn and Jinja: pip install 'crowdopt[live]'"


@dataclass(frozen=True)
class OutsideOptions:
    """What a service shares with others: secrets are kept out of command lines and files.

    webhooks: addresses that are told each label; code: what participants hand in where they were hired.
    """

    webhooks: tuple[str, ...] = ()
    code: str = ""
    secrets: Secrets = field(default_factory=Secrets)

    @staticmethod
    def of_environment(webhooks: tuple[str, ...], code: str) -> OutsideOptions:
        """Secrets as the environment has them."""
        return OutsideOptions(webhooks, code, Secrets(*(os.environ.get(name, "") for name in SECRETS)))


def token(store: AnyPath, worker: str | None = None, role: str = MANAGER) -> str:
    """A token for a worker, or for the manager, the expert or a labelling tool; one that they had before ends.

    Raises InputError if the worker's name is empty or blank.
    """
    if worker is not None:
        check_name(worker)
    place, owner = store_of(store), role if worker is None else WORKER + worker
    try:
        return new_token(place, owner)
    finally:
        place.close()


def live_application(campaign: AnyPath, running: Live, outside: OutsideOptions | None = None, **limits: float) -> Any:
    """The ASGI application of a campaign that runs.

    limits: ``rate`` and ``burst``, calls per second that a client may make. Raises BackendMissing without the extra.
    """
    try:
        from crowdopt.live.service.application import application
        from crowdopt.live.service.worker_calls import Shown
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("crowdopt"):
            raise
        raise BackendMissing(MISSING) from None
    outside = outside or OutsideOptions()
    return application(running, Shown(*_shown(Path(campaign)), outside.code), outside.secrets, **limits)


def serve(
    campaign: AnyPath, at: tuple[str, int], say: Callable[[str], None], outside: OutsideOptions, **settings: Any
) -> None:
    """Serve a campaign until the process is told to end; at: host and port; settings: those of ``live``.

    say: takes sentences.
    """
    running = live(campaign, **settings)
    app = live_application(campaign, running, outside)
    from crowdopt.live.service.courier import Courier
    from crowdopt.live.service.server import serve as run

    couriers = [Courier(running, url, outside.secrets.webhooks, say) for url in outside.webhooks]
    run(app, at, say, running, couriers)


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
