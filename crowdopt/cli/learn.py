"""The verb learn, and the list of policies of asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.learn import Learning, shared_notes
from crowdopt.api.learn import learn as call
from crowdopt.api.learn import policies as all_policies
from crowdopt.cli.common import NO, as_json, lists, policies, processes, say
from crowdopt.cli.manual import manual


@click.command(
    epilog=manual(
        "crowdopt learn --draw 10 --policies ls-ol,full-majority --trials 3 -o learned",
        reads="skills worker,accuracy[,type][,at][,price], or labels and truth, or nothing with --draw",
        writes="the folder: tables of trials, means and curves, charts, a page",
    )
)
@click.option(
    "--skills",
    type=click.Path(path_type=Path),
    help="Table of skills: worker,accuracy[,price] and, for contexts, type or at.",
)
@click.option("--labels", type=click.Path(path_type=Path), help="Replay these labels (task,worker,label).")
@click.option("--truth", type=click.Path(path_type=Path), help="Known answers to these tasks: task,label.")
@click.option("--types", type=click.Path(path_type=Path), help="Types of these tasks: task,type.")
@click.option(
    "--draw",
    metavar="M[:LOW:HIGH]",
    help="Draw M labelers for each trial, with uniform skills and a majority above 1/2.",
)
@policies
@click.option(
    "--horizon", default=2000, show_default=True, type=click.IntRange(min=1), help="Number of tasks of a run, T."
)
@click.option(
    "--trials", default=20, show_default=True, type=click.IntRange(min=1), help="Number of runs of every policy."
)
@click.option(
    "--classes",
    default=2,
    show_default=True,
    type=click.IntRange(2, 100),
    help="Number of classes of simulated labels.",
)
@click.option(
    "--cost", default=0.0, show_default=True, type=click.FloatRange(min=0), help="Cost of a label that has no price."
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help="Seed of everything that is drawn."
)
@processes
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace the study if it exists.")
@lists(all_policies)
@as_json
def learn(policies: str, output: Path, as_json: bool, **options: Any) -> None:
    """Learn whom to ask while tasks arrive and no truth is shown, and measure the regret against the best set.

    After an interruption the same command goes on where it stopped.
    """
    found = call(None, policies.split(","), output=output, **options)
    facts = {"learned": str(output), "policies": found.summary, "failed": found.failed}
    said = [found.in_words, *_table(found), *shared_notes(found.summary)]
    say(as_json, facts, *said, *found.failed, *found.undrawn, f"wrote {output}")
    if found.failed:
        raise click.exceptions.Exit(NO)


def _table(found: Learning) -> list[str]:
    width = max(6, *(len(str(line["policy"])) for line in found.summary)) if found.summary else 6
    columns = [(key, form, max(len(head), int(form.partition(".")[0]))) for head, key, form in found.columns]
    heads = (f"{head:>{wide}}" for (head, _, _), (_, _, wide) in zip(found.columns, columns, strict=True))
    lines = [f"{'policy':{width}}  {'  '.join(heads)}"]
    for line in found.summary:
        cells = (_cell(line.get(key), form, wide) for key, form, wide in columns)
        lines.append(f"{line['policy']:{width}}  {'  '.join(cells)}")
    return lines


def _cell(value: object, form: str, width: int) -> str:
    return f"{f'{value:{form}}':>{width}}" if isinstance(value, int | float) else f"{'-':>{width}}"


VERBS = (learn,)
