"""The verb init."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crowdopt.api.generate import init as call
from crowdopt.cli.common import FIRST, PATH, as_json, manual, say


@click.command(
    epilog=manual(
        FIRST, reads="nothing", writes="the folder: campaign.toml with comments, tasks.csv, workers.csv, gold.csv"
    )
)
@click.argument("folder", type=PATH)
@click.option(
    "--panel", is_flag=True, help="Write a campaign of six language-model judges of three families, paid by the call."
)
@click.option("--classes", help="Classes of a label, as in cat,dog; at a terminal init asks for them.")
@click.option("--force", is_flag=True, help="Replace the folder if it exists.")
@as_json
def init(folder: Path, panel: bool, classes: str | None, force: bool, as_json: bool) -> None:
    """Write a small campaign, with comments, to start from."""
    if classes is None:
        classes = "pass,fail" if panel else "yes,no"
        if not as_json and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
            classes = click.prompt("What can a label say? Names, with commas between", default=classes)
    names = [name.strip() for name in classes.split(",")]
    call(folder, panel=panel, classes=names, force=force)
    say(
        as_json,
        {"campaign": str(folder), "classes": names},
        f"wrote the sample campaign {folder}, labels {' or '.join(names)}; its campaign.toml explains the tables",
        f"next: crowdopt solve {folder} -o my-plan",
    )


VERBS = (init,)
