"""The verb generate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.generate import generate as call
from crowdopt.api.parts import generate_parts
from crowdopt.cli.common import as_json, manual, say, seed, size_of, target
from crowdopt.errors import InputError
from crowdopt.io.parts import count_tasks


@click.command(
    epilog=manual(
        "crowdopt generate R10:100x40 --seed 0 -o r10",
        reads="nothing",
        writes="a campaign folder with skills.csv, or one .npz file",
    )
)
@click.argument("name", metavar="RECIPE")
@seed("Seed of the draw", 2**63 - 1)
@click.option("--priced", is_flag=True, help="Draw a price of 1 to 5 for each worker.")
@click.option(
    "--round",
    "number",
    default=1,
    type=click.IntRange(1, 9),
    help="Round of the campaign; the labels of earlier rounds are drawn too.",
)
@click.option("--epsilon", type=float, help="Error probability of every task, in place of the recipe's.")
@click.option(
    "--parts", type=click.IntRange(1), help="Number of Parquet files for the tasks, which are read one at a time."
)
@click.option(
    "--processes",
    default=0,
    show_default=False,
    type=click.IntRange(0, 1024),
    help="Number of processes that draw parts.  [default: none]",
)
@target("Campaign folder, or .npz file,")
@as_json
def generate(
    name: str, seed: int, number: int, parts: int | None, processes: int, output: Path, as_json: bool, **options: Any
) -> None:
    """Draw a synthetic campaign by a recipe KIND:TASKSxWORKERS.

    Kinds: HS, U, K<types>, R1, R10, T<types>, B5, L3 and I<features>.
    """
    if parts is not None:
        if number > 1:
            raise InputError("a later round is not written in parts; leave one of --round and --parts out")
        folder = generate_parts(name, seed, parts=parts, output=output, processes=processes, **options)
        size = {
            "tasks": sum(count_tasks(folder, part) for part in folder.parts),
            "workers": len(folder.workers),
            "parts": len(folder.parts),
        }
        title = folder.settings.get("title", "")
        say(as_json, {"campaign": str(output), **size}, f"wrote {output} in {parts} parts: {title}")
        return
    instance = call(name, seed, round=number, output=output, **options)
    say(as_json, {"campaign": str(output), **size_of(instance)}, f"wrote {output}: {instance.title}")


VERBS = (generate,)
