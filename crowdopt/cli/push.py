"""The verb push."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.exchange import push as call
from crowdopt.cli.common import PATH, PLANNED, as_json, manual, say
from crowdopt.io.bridges.pushed import Changes

SHOWN = 20  # changes that a dry run lists


@click.command(
    epilog=manual(
        PLANNED,
        "crowdopt push my-campaign my-plan --to potato -o potato",
        reads="campaign and plan; with --url the token in LABEL_STUDIO_API_KEY",
        writes="the tool's own files into the folder, or tasks, queues and tabs on its server",
    )
)
@click.argument("campaign", type=PATH)
@click.argument("plan", type=PATH)
@click.option("--to", "tool", required=True, help="The tool: label-studio, potato, prodigy or inspect.")
@click.option("--url", help="Address of the tool's server.")
@click.option("--project", help="Title of the project there; default: the campaign's title.")
@click.option("-o", "--output", type=PATH, help="Folder for the tool's files, where there is no server.")
@click.option("--content", type=PATH, help="Table of what is shown of a task: column task, and any others.")
@click.option("--answers", type=PATH, help="Answers so far, as aggregate writes them.")
@click.option(
    "--classes",
    default="",
    show_default=False,
    help="Classes to choose from, as in cat,dog, where the campaign names none.",
)
@click.option("--insecure", is_flag=True, help="Allow plain HTTP to another machine.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@as_json
def push(campaign: Path, plan: Path, classes: str, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Hand a plan to the tool where people label; a second push changes only what differs."""
    names = [name.strip() for name in classes.split(",")] if classes else []
    done = call(campaign, plan, classes=names, dry_run=dry_run, **options)
    known = {"place": done.place, "dry_run": dry_run, "changes": done.counts, "notes": list(done.notes)}
    known["links"] = dict(done.links)
    say(as_json, known, *_sentences(done, dry_run), *(f"  {worker}: {link}" for worker, link in done.links.items()))


def _sentences(done: Changes, dry_run: bool) -> list[str]:
    counts = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in done.counts.items())
    if not done.changes:
        return [f"{done.place}: everything is in place", *done.notes]
    if not dry_run:
        return [f"{done.place}: {counts}", *done.notes]
    listed = [f"  {change.what}" for change in done.changes[:SHOWN]]
    more = len(done.changes) - len(listed)
    return [f"{done.place}: would change: {counts}", *listed, *([f"  and {more} more"] if more else []), *done.notes]


VERBS = (push,)
