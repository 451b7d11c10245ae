"""The verb push: a round into the tool where people label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crowdopt.api.at_hand import PlanLike, on_disk
from crowdopt.api.binding import AnyPath, InstanceLike, TableLike
from crowdopt.api.verbs import keywords
from crowdopt.errors import InputError
from crowdopt.io.bridges import bridge_named
from crowdopt.io.bridges.pushed import Address, Changes, push_files, read_round


@dataclass(frozen=True, kw_only=True)
class PushOptions:
    """Options of a push: where the round goes, and what is shown with it.

    Parameters
    ----------
    plan : Plan or path
        A plan, or its folder.
    tool : str
        ``label-studio``, ``potato``, ``prodigy``, ``inspect``, or a third party's.
    url : str, optional
        Of the tool's server. The token comes from the environment.
    project : str, optional
        Title of the project on the server; default: the campaign's title.
    output : path, optional
        Folder for files, new or written by an earlier push.
    content : path or frame, optional
        Table with a column ``task`` and what is shown of each; default: the task's id.
    answers : path, optional
        What ``aggregate`` wrote of the labels so far, to be shown to those who run the project.
    classes : sequence of str
        What can be chosen, where the campaign does not name its classes.
    insecure : bool
        Whether plain HTTP may leave this machine.
    dry_run : bool
        Whether nothing is changed, only said.
    """

    plan: PlanLike = field(kw_only=False)
    tool: str
    url: str | None = None
    project: str | None = None
    output: AnyPath | None = None
    content: TableLike | None = None
    answers: AnyPath | None = None
    classes: Sequence[str] = ()
    insecure: bool = False
    dry_run: bool = False


@keywords(PushOptions)
def push(campaign: InstanceLike, asked: PushOptions) -> Changes:
    """Hand a plan to a labelling tool: its server where there is an API, else files.

    What is there already is looked at, and only what differs is changed: a push that was interrupted is finished by the
    same push, and one that is done changes nothing.

    Raises
    ------
    InputError
        If something cannot be read or written, or the server says no or nothing.
    """
    bridge = bridge_named(asked.tool)
    if (asked.url is None) == (asked.output is None):
        raise InputError("say where to push: --url of the tool's server, or -o and a folder for files")
    with on_disk(campaign, asked.plan) as folders:
        handed = read_round(*folders, asked.content, asked.answers, tuple(asked.classes))
    if asked.output is not None:
        return push_files(bridge, handed, Path(asked.output), asked.dry_run)
    if bridge.push is None or asked.url is None:
        raise InputError(f"{asked.tool} has no API here; push files with -o FOLDER")
    return bridge.push(handed, Address(asked.url, asked.project, asked.insecure), asked.dry_run)
