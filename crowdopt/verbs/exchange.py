"""The verb push: a round into the tool where people label.

The verb pull: labels back from the tool where people label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from crowdopt.errors import InputError
from crowdopt.io.bridges import bridge_named
from crowdopt.io.bridges.annotations import Annotations, read_people, with_gold
from crowdopt.io.bridges.pulled import PULLED, Pulled, check_nothing_lost, labels_there, sort_out, write_pulled
from crowdopt.io.bridges.pushed import Address, Bridge, Changes, Wishes, push_files, read_round
from crowdopt.io.campaign import read_with_labels
from crowdopt.io.folders import check_target
from crowdopt.said import Listed, Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, InstanceLike, PlanLike, TableLike, keywords, on_disk


@dataclass(frozen=True, kw_only=True)
class PushOptions:
    """Options of a push: where the round goes, and what is shown with it.

    Parameters
    ----------
    plan : Plan or path
        A plan, or its folder.
    tool : str
        The tool: label-studio, potato, prodigy or inspect; or a third party's.
    url : str, optional
        Address of the tool's server. The token comes from the environment.
    project : str, optional
        Title of the project there; default: the campaign's title.
    output : path, optional
        Folder for the tool's files, where there is no server. New, or written by an earlier push.
    content : path or frame, optional
        Table of what is shown of a task: column task, and any others. Default: the task's id.
    answers : path, optional
        Answers so far, as aggregate writes them. They are shown to those who run the project.
    classes : sequence of str
        Classes to choose from, as in cat,dog, where the campaign names none.
    insecure : bool
        Allow plain HTTP to another machine.
    dry_run : bool
        Say what would change, and change nothing.
    """

    plan: PlanLike = field(kw_only=False)
    tool: Annotated[str, Word("--to")]
    url: str | None = None
    project: str | None = None
    output: AnyPath | None = None
    content: TableLike | None = None
    answers: AnyPath | None = None
    classes: Listed = ()
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

    Reads
    -----
    campaign and plan; with --url the token in LABEL_STUDIO_API_KEY

    Writes
    ------
    the tool's own files into the folder, or tasks, queues and tabs on its server

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt push my-campaign my-plan --to potato -o potato
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


@dataclass(frozen=True, kw_only=True)
class PullOptions:
    """Options of a pull: where the labels are, whose they are, and where they are written.

    Parameters
    ----------
    files : sequence of path
        Exports or folders of the tool; none with ``url``.
    tool : str
        The tool or format; ``crowdopt list formats`` shows all.
    output : path
        Folder to write, or to add to. It has labels.csv, skipped.csv, others.csv, truth.csv.
    url : str, optional
        Address of the tool's server, in place of files. The token comes from the environment.
    project : str, optional
        Title of the project there; default: the campaign's title.
    people : path or frame, optional
        Table of the workers' accounts: worker,account. Where they are not the workers' ids.
    field : str, optional
        The question whose answers are the labels, where there are several.
    key : str, optional
        The key of a task's data that holds its id.
    insecure : bool
        Allow plain HTTP to another machine.
    dry_run : bool
        Say what would be written, and write nothing.
    force : bool
        Take over labels that were deleted or changed in the tool.
    """

    files: Sequence[AnyPath] = field(default=(), kw_only=False)
    tool: Annotated[str, Word("--from")]
    output: AnyPath
    url: str | None = None
    project: str | None = None
    people: TableLike | None = None
    field: str | None = None
    key: str | None = None
    insecure: bool = False
    dry_run: bool = False
    force: bool = False


@keywords(PullOptions)
def pull(campaign: AnyPath, asked: PullOptions) -> Pulled:
    """Get labels back from a tool's server or files, as a folder with ``labels.csv`` for ``aggregate``.

    A pull into a folder that was pulled before adds what is new; a label that is gone or changed is refused.

    Parameters
    ----------
    campaign : path
        Folder: whose tasks and workers they are.

    Returns
    -------
    Pulled

    Raises
    ------
    InputError
        If something cannot be read or written, or the server says no or nothing.

    Reads
    -----
    campaign; the tool's files, or its server with --url and the token in LABEL_STUDIO_API_KEY

    Writes
    ------
    a folder: labels.csv for aggregate, skipped.csv, others.csv, truth.csv

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv
        crowdopt pull my-campaign labels.csv --from crowd-kit -o back
    """
    bridge, folder = bridge_named(asked.tool), Path(asked.output)
    there = labels_there(folder)
    check_target(folder, PULLED, True)
    instance = read_with_labels(campaign).instance
    wishes = Wishes(asked.field, asked.key)
    if asked.url is not None:
        if bridge.pull is None or asked.files:
            no_api = f"{asked.tool} has no API here; name its files"
            raise InputError("give --url or files, not both" if asked.files else no_api)
        found = bridge.pull(Address(asked.url, asked.project or instance.title, asked.insecure), wishes)
    else:
        found = read_files(bridge, asked.files, wishes)
    workers = instance.worker_ids
    pulled = sort_out(found.of_workers(read_people(asked.people), workers), instance)
    if there is not None:
        check_nothing_lost(pulled, there, folder, asked.force)
    known = there or {}
    pulled = replace(pulled, new=sum((row.task, row.worker) not in known for row in pulled.labels))
    if not asked.dry_run:
        write_pulled(pulled, folder)
    return pulled


def read_files(bridge: Bridge, files: Sequence[AnyPath], wishes: Wishes) -> Annotations:
    """The annotations of files of one tool, one after another."""
    if not files:
        raise InputError(f"name the files to read: {bridge.what}")
    read = [bridge.reader()(Path(path), wishes) for path in files]
    truth = {task: label for one in read for task, label in one.truth.items()}
    return with_gold((row for one in read for row in one.rows), ", ".join(one.source for one in read), truth)


SHOWN = 20  # changes that a dry run lists


def _changes_said(done: Changes, dry_run: bool) -> list[str]:
    counts = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in done.counts.items())
    if not done.changes:
        return [f"{done.place}: everything is in place", *done.notes]
    if not dry_run:
        return [f"{done.place}: {counts}", *done.notes]
    listed = [f"  {change.what}" for change in done.changes[:SHOWN]]
    more = len(done.changes) - len(listed)
    return [f"{done.place}: would change: {counts}", *listed, *([f"  and {more} more"] if more else []), *done.notes]


def _pulled_said(pulled: Pulled, output: AnyPath, dry_run: bool) -> list[str]:
    said = [f"{pulled.source}: {len(pulled.labels)} labels ({pulled.new} new), {len(pulled.skipped)} skipped"]
    if pulled.skipped:
        who = [f"{name} ({count})" for name, count in pulled.silent.items()]
        share = 100 * len(pulled.skipped) / (len(pulled.skipped) + len(pulled.labels))
        said.append(f"{share:.3g} % of those asked gave no label: {', '.join(who[:5])}{', ...' * (len(who) > 5)}")
    why = Counter(reason for _, reason in pulled.others)
    first = {reason: row.place for row, reason in reversed(pulled.others) if row.refused}
    said += [
        f"{count} label(s) do not count: {reason}{f' (first: {first[reason]})' if reason in first else ''}"
        for reason, count in why.items()
    ]
    said += [f"{pulled.repeated} row(s) were there twice"] * bool(pulled.repeated)
    if pulled.truth:
        said.append(f"{len(pulled.truth)} task(s) are marked with their truth")
    if dry_run:
        return [*said, f"nothing was written; {output} would be"]
    if pulled.formulas:
        said.append(
            f"{pulled.formulas} row(s) have a text that begins with = + - or @: to a spreadsheet it is a formula, so "
            "import the columns as text"
        )
    skipped = f" --skipped {output}/skipped.csv" if pulled.skipped else ""
    go_on = f"crowdopt aggregate {output}/labels.csv{skipped} --plan PLAN --campaign CAMPAIGN"
    return [*said, f"wrote {output}; to go on: {go_on}"]


def _said_push(done: Changes, dry_run: bool) -> Said:
    facts = {"place": done.place, "dry_run": dry_run, "changes": done.counts, "notes": list(done.notes)}
    links = [f"  {worker}: {link}" for worker, link in done.links.items()]
    return Said({**facts, "links": dict(done.links)}, [*_changes_said(done, dry_run), *links])


def _said_pull(pulled: Pulled, output: AnyPath, dry_run: bool) -> Said:
    facts = {"folder": str(output), "dry_run": dry_run, **pulled.facts, "new": pulled.new}
    return Said(facts, _pulled_said(pulled, output, dry_run))


VERBS = (Verb("push", push, _said_push), Verb("pull", pull, _said_pull))
