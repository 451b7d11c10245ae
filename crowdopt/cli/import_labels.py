"""The verb import."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt.api.import_labels import Imported, import_labels
from crowdopt.cli.common import PATH, PLANNED, REHEARSED, as_json, manual, say, size_of, target, trust_gold
from crowdopt.crowd.rules import EACH
from crowdopt.crowd.skills import AGREEMENT


@click.command(
    "import",
    epilog=manual(
        PLANNED,
        REHEARSED,
        "crowdopt import labels.csv --truth truth.csv --epsilon 0.2 -o imported",
        reads="labels task,worker,label, or with --from a tool's export; truth task,label; types task,type",
        writes="a campaign folder: its gold.csv has all workers' tallies",
    ),
)
@click.argument("labels", type=PATH)
@click.option(
    "--truth",
    type=PATH,
    help="Known answers: task,label. Without them skills are estimated from how labels of a task agree.",
)
@click.option(
    "--from", "tool", help="The tool that exported the labels: label-studio, inspect, deepeval, … (see the guide)."
)
@click.option("--field", help="The question whose answers are the labels, where a tool asks several.")
@click.option("--key", help="The key of a task's data that holds its id, in a tool's export.")
@click.option("--time-as-price", is_flag=True, help="Take a worker's mean seconds for a label as their price.")
@click.option("--cost-as-price", is_flag=True, help="Take what 1000 calls cost, as the tool says, as a worker's price.")
@click.option(
    "--token-prices",
    type=PATH,
    help="Take what 1000 calls cost by this table as a worker's price. It has prices of a million tokens: "
    "worker,input,output[,cache_read][,cache_write][,batch].",
)
@click.option("--types", type=PATH, help="Types of the tasks: task,type.")
@click.option("--epsilon", default=0.05, help="Error probability that each task may have.")
@click.option(
    "--capacity", type=click.IntRange(min=0), help="Capacity of each worker; default: the number of labels they gave."
)
@click.option("--families", is_flag=True, help="Make families of workers who err together; needs --truth.")
@click.option("--rule", type=click.Choice(EACH), help="Rule of the campaign; default: exact-error.")
@trust_gold
@target("Campaign folder")
@as_json
def import_(labels: Path, families: bool, output: Path, as_json: bool, **options: Any) -> None:
    """Make a campaign of real labels (columns task, worker, label): its tasks, its workers, their skills."""
    made = import_labels(labels, families=families, output=output, **options)
    size = size_of(made.instance)
    asked, against = int((made.gold[1] > 0).sum()), "from" if made.gold_source == AGREEMENT else "against"
    say(
        as_json,
        {
            "campaign": str(output),
            **size,
            "gold_source": made.gold_source,
            "pairs_with_gold": asked,
            "account": None if made.account is None else asdict(made.account),
            **_facts(made),
        },
        f"wrote {output}: {size['tasks']} tasks of {size['types']} type(s), {size['workers']} workers, "
        f"{made.instance.classes} classes",
        f"skills: tallies {against} {made.gold_source}; {asked} of {made.gold[1].size} worker-type pairs have any",
        *_of_errors(made, families),
        *([] if made.account is None else [made.account.sentence]),
    )


def _facts(made: Imported) -> dict[str, Any]:
    if made.together is None:
        return {}
    found, name = made.together, made.instance.worker_id
    return {
        "errors_together": {
            "pairs_looked_at": found.first.size,
            "pairs": [
                {
                    "workers": [name(int(found.first[k])), name(int(found.second[k]))],
                    "tasks": int(found.shared[k]),
                    "correlation": float(found.correlation[k]),
                    "interval": [float(found.low[k]), float(found.high[k])],
                }
                for k in np.flatnonzero(found.warned).tolist()
            ],
            "families": [
                {"workers": [name(int(j)) for j in members], "effective_votes": found.effective_votes(members)}
                for members in made.families
            ],
        }
    }


def _of_errors(made: Imported, kept: bool) -> list[str]:
    found, name = made.together, made.instance.worker_id
    if found is None or not found.warned.any():
        return []
    k = int(np.argmax(np.where(found.warned, found.correlation, -1.0)))
    lines = [
        f"errors go together: {int(found.warned.sum())} of {found.first.size} pairs of workers err together more than "
        f"chance, {name(int(found.first[k]))} and {name(int(found.second[k]))} most "
        f"({found.correlation[k]:.2f} [{found.low[k]:.2f}, {found.high[k]:.2f}] on {found.shared[k]} tasks)"
    ]
    for members in made.families[:SHOWN]:
        names = ", ".join(name(int(j)) for j in members[:SHOWN]) + (", ..." if members.size > SHOWN else "")
        worth = found.effective_votes(members)
        lines.append(f"suggested family: {names}; {members.size} votes worth {worth:.1f} independent ones")
        if 2 * members.size > made.instance.n_workers > 2:
            lines.append(
                "those are most of the workers: tasks hard for all workers, perhaps, which families do not mend"
            )
    more = len(made.families) - SHOWN
    lines += [f"and {more} more families"] if more > 0 else []
    done = "the campaign has them as dependent groups" if kept else "--families writes them into the campaign"
    return [*lines, f"{done}: a task then gets one label of each at most"]


SHOWN = 5  # families, and members of one, in sentences


VERBS = (import_,)
