"""Label Studio's server as a bridge sees it: rounds out, annotations in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crowdopt.documents import Shape
from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.annotations import Annotations
from crowdopt.io.bridges.exchange.bridge import Address, Changes, Wishes
from crowdopt.io.bridges.exchange.pushed_round import PushedRound
from crowdopt.io.bridges.label_studio_api import ANSWER, accounts, connect, find_project, title_of
from crowdopt.io.bridges.label_studio_push import StudioPush
from crowdopt.io.tables.foreign_json import check


@dataclass(frozen=True)
class LabelStudio:
    """The tool's server."""

    export: Shape  # of an export
    annotations_of: Callable[..., Annotations]  # export, source, wishes, accounts -> annotations
    interface: Callable[[PushedRound], str]  # round -> labelling interface of a new project

    def push(self, handed: PushedRound, address: Address, dry_run: bool) -> Changes:
        """Project, tasks with their queues, answers as predictions, a tab for each worker; only what differs."""
        web, title = connect(address), title_of(address, handed.title)
        work = StudioPush(web, handed, title, find_project(web, title), dry_run)
        work.settle(self.interface(handed))
        work.hand_out()
        work.predict()
        work.open_tabs()
        number = "" if work.project is None else f" ({web.url}/projects/{work.project['id']}/data)"
        return Changes(tuple(work.changes), f"project {title!r}{number}", work.notes(), work.links)

    def pull(self, address: Address, wishes: Wishes) -> Annotations:
        """Every annotation of the project, cancelled ones too."""
        web = connect(address)
        title = title_of(address, "")
        project = find_project(web, title)
        if project is None:
            raise InputError(
                f"there is no project {title!r} on {web.url}; push a round first, or name it with --project"
            )
        source = f"project {title!r}"
        people = {user["id"]: user["email"] for user in accounts(web)}
        path = f"/api/projects/{project['id']}/export"
        tasks = web.get(path, exportType="JSON", download_all_tasks="true")
        check(tasks, self.export, source, ANSWER)
        return self.annotations_of(tasks, source, wishes, people)
