"""Verbs that make a campaign: init, generate, import."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt import api
from crowdopt.cli.common import as_json, say, target
from crowdopt.crowd.evidence import EACH
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.io.folder import CAMPAIGN, check_target
from crowdopt.io.sample import write_sample


@click.command(epilog="Example: crowdopt init my-campaign")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the folder if it exists.")
@as_json
def init(folder: Path, force: bool, as_json: bool) -> None:
    """Write a small campaign, with comments, to start from."""
    write_sample(folder, force)
    say(
        as_json,
        {"campaign": str(folder)},
        f"wrote the sample campaign {folder}; its campaign.toml explains the tables",
        f"next: crowdopt solve {folder} -o my-plan",
    )


@click.command(epilog="Example: crowdopt generate R10:1000x300 --seed 0 -o r10")
@click.argument("name", metavar="RECIPE")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Seed of the draw.")
@click.option("--priced", is_flag=True, help="Draw a price of 1 to 5 for each worker.")
@target("Campaign folder, or .npz file,")
@as_json
def generate(name: str, seed: int, priced: bool, output: Path, force: bool, as_json: bool) -> None:
    """Draw a synthetic campaign: HS, U, K<types>, R1, R10, T<types>, B5 or L3, as KIND:TASKSxWORKERS."""
    instance = recipe(name, seed, priced)
    api.write_campaign(instance, output, force)
    say(as_json, {"campaign": str(output), **_size(instance)}, f"wrote {output}: {instance.title}")


@click.command("import", epilog="Example: crowdopt import labels.csv --truth truth.csv --epsilon 0.1 -o my-campaign")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="Known answers: task,label. Without, one-coin EM stands in.",
)
@click.option("--types", type=click.Path(path_type=Path), help="Types of the tasks: task,type.")
@click.option("--epsilon", default=0.05, show_default=True, help="Error probability each task may have.")
@click.option("--capacity", type=click.IntRange(min=0), help="Tasks per worker; default: as many labels as each gave.")
@click.option("--rule", default="bhattacharyya", show_default=True, type=click.Choice(EACH))
@target("Campaign folder")
@as_json
def import_(
    labels: Path,
    truth: Path | None,
    types: Path | None,
    epsilon: float,
    capacity: int | None,
    rule: str,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Make a campaign of real labels (columns task, worker, label): its tasks, its workers, their skills."""
    check_target(output, CAMPAIGN, force)
    found = api.import_labels(labels, truth, types, epsilon, capacity, rule)
    api.write_campaign(found.instance, output, force, found.gold, found.gold_source)
    size = _size(found.instance)
    asked = int((found.gold[1] > 0).sum())
    say(
        as_json,
        {"campaign": str(output), **size, "gold_source": found.gold_source, "pairs_with_gold": asked},
        f"wrote {output}: {size['tasks']} tasks of {size['types']} type(s), {size['workers']} workers, "
        f"{found.instance.classes} classes",
        f"skills: tallies against {found.gold_source}; {asked} of {found.gold[1].size} worker-type pairs have any",
    )


def _size(instance: AssignmentInstance) -> dict[str, int]:
    return {"tasks": instance.n_tasks, "workers": instance.n_workers, "types": instance.n_types}


VERBS = (init, generate, import_)
