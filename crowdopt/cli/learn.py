"""The verb learn, and the list of policies of asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api import learn as calls
from crowdopt.cli.common import NO, as_json, lists, say
from crowdopt.errors import InputError
from crowdopt.labelers.policy import policies as all_policies
from crowdopt.studies.intervals import shared_notes
from crowdopt.studies.labeler_trials import Learning

COLUMNS = {  # key -> heading and form
    "reward": ("reward", "7.4f"),
    "reward_exploiting": ("exploiting", "10.4f"),
    "right": ("right", "7.4f"),
    "regret": ("regret", "8.1f"),
    "cost_regret": ("cost regret", "11.1f"),
    "labels": ("labels", "8.0f"),
    "repeats": ("repeats", "7.0f"),
}


@click.command(epilog="Example: crowdopt learn --draw 10 --policies ls-ol,em-then-exploit,full-majority -o learned")
@click.option(
    "--skills", type=click.Path(path_type=Path), help="worker,accuracy[,price], and type, or at for contexts."
)
@click.option("--labels", type=click.Path(path_type=Path), help="Replay these labels (task,worker,label).")
@click.option("--truth", type=click.Path(path_type=Path), help="Known answers to them: task,label.")
@click.option("--types", type=click.Path(path_type=Path), help="Types of their tasks: task,type.")
@click.option("--draw", metavar="M[:LOW:HIGH]", help="M labelers a trial, skills uniform, their majority above 1/2.")
@click.option("--policies", required=True, help="Separated by commas, options by colons: name:option=value:flag.")
@click.option("--horizon", default=2000, show_default=True, type=click.IntRange(min=1), help="Tasks of a run, T.")
@click.option("--trials", default=20, show_default=True, type=click.IntRange(min=1), help="Runs of every policy.")
@click.option("--classes", default=2, show_default=True, type=click.IntRange(2, 100), help="Of simulated labels.")
@click.option(
    "--cost", default=0.0, show_default=True, type=click.FloatRange(min=0), help="Of a label without a price."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help="Of all that is drawn.")
@click.option("--processes", default=0, show_default=True, type=click.IntRange(0, 256), help="0: in this one.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace a study that is there.")
@lists(all_policies)
@as_json
def learn(
    skills: Path | None,
    labels: Path | None,
    truth: Path | None,
    types: Path | None,
    draw: str | None,
    policies: str,
    horizon: int,
    trials: int,
    classes: int,
    cost: float,
    seed: int,
    processes: int,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Learn whom to ask while tasks arrive and no truth is shown; regret against the best set of labelers.

    Interrupted, it goes on where it stopped when called again.
    """
    calls.check(output, force)
    setting = _setting(skills, labels, truth, types, draw, classes, cost)
    found = calls.learn(setting, policies.split(","), horizon, trials, seed, processes, output / calls.WORK)
    undrawn = calls.write(found, setting, output, trials, seed)
    facts = {"learned": str(output), "policies": found.summary, "failed": found.failed}
    head = f"{calls.source(setting)}; T = {found.horizon}"
    say(as_json, facts, head, *_table(found), *shared_notes(found.summary), *found.failed, *undrawn, f"wrote {output}")
    if found.failed:
        raise click.exceptions.Exit(NO)


def _setting(
    skills: Path | None,
    labels: Path | None,
    truth: Path | None,
    types: Path | None,
    draw: str | None,
    classes: int,
    cost: float,
) -> Any:
    if sum(one is not None for one in (skills, labels, draw)) != 1:
        raise InputError("labelers come from one of --skills, --labels with --truth, or --draw; give exactly one")
    if labels is not None:
        if truth is None:
            raise InputError("--labels needs --truth: without any known answer nothing can be judged")
        return calls.read_labels(labels, truth, types, cost)
    if truth is not None or types is not None:
        raise InputError("--truth and --types belong to recorded labels; give them with --labels")
    if skills is not None:
        return calls.read_skills(skills, cost, classes)
    if classes != 2:
        raise InputError("--draw draws labelers of two classes; for more, write their skills and give --skills")
    return calls.DrawnLabelers.of(*_drawn(str(draw)), cost)


def _drawn(text: str) -> tuple[int, float, float]:
    try:
        count, *between = text.split(":")
        low, high = map(float, between) if between else (0.0, 1.0)
        return int(count), low, high
    except ValueError:
        raise InputError(f"--draw is a number of labelers, or M:LOW:HIGH as in 5:.6:1, not {text!r}") from None


def _table(found: Learning) -> list[str]:
    """A line a policy."""
    width = max(6, *(len(str(line["policy"])) for line in found.summary)) if found.summary else 6
    widths = {key: max(len(head), int(form.partition(".")[0])) for key, (head, form) in COLUMNS.items()}
    heads = (f"{head:>{widths[key]}}" for key, (head, _) in COLUMNS.items())
    lines = [f"{'policy':{width}}  {'  '.join(heads)}"]
    for line in found.summary:
        cells = (_cell(line.get(key), form, widths[key]) for key, (_, form) in COLUMNS.items())
        lines.append(f"{line['policy']:{width}}  {'  '.join(cells)}")
    return lines


def _cell(value: object, form: str, width: int) -> str:
    return f"{f'{value:{form}}':>{width}}" if isinstance(value, int | float) else f"{'-':>{width}}"


VERBS = (learn,)
