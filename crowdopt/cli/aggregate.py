"""The verb aggregate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt import api
from crowdopt.answers import Answers
from crowdopt.cli.answers import answer_with_plan
from crowdopt.cli.common import as_json, say
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError
from crowdopt.io.answers_table import read_accuracy, write_accuracies, write_answers
from crowdopt.io.folder import check_target
from crowdopt.io.label_table import read_labels, read_truth

UNSURE = 0.9  # answers less sure than this are counted apart


EXAMPLE = "Example: crowdopt aggregate labels.csv --method one-coin -o answers.csv"


@click.command(epilog=EXAMPLE)
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--method", type=click.Choice(api.AGGREGATIONS), default="one-coin", show_default=True)
@click.option("--gold", type=click.Path(path_type=Path), help="Tallies worker,correct,asked, for the weighted votes.")
@click.option("--truth", type=click.Path(path_type=Path), help="Known answers task,label, to be held against.")
@click.option(
    "--plan", type=click.Path(path_type=Path), help="Plan whose weights the votes have, in place of a method."
)
@click.option("--campaign", type=click.Path(path_type=Path), help="Campaign that the plan was made for.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Table of answers to write; with --plan, a folder."
)
@click.option("--workers", type=click.Path(path_type=Path), help="Table of the workers' accuracies to write.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@as_json
def aggregate(
    labels: Path,
    method: str,
    gold: Path | None,
    truth: Path | None,
    plan: Path | None,
    campaign: Path | None,
    output: Path | None,
    workers: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Answers from labels (columns task, worker, label), with a confidence for each; ties go to the first class.

    With a plan: weighted votes with posteriors, tasks not yet sure, labels missing and from whom, the next campaign.
    """
    if plan is not None:
        if gold or truth or workers:
            raise InputError("--gold, --truth and --workers belong to a method; with --plan its weights decide")
        answer_with_plan(labels, plan, campaign, output, force, as_json)
        return
    for path in (output, workers):
        if path is not None:
            check_target(path, None, force)
    table = read_labels(labels)
    accuracy = None if gold is None else read_accuracy(gold, table)
    answers = api.aggregate(table, method, accuracy)
    right = None if truth is None else _share_right(answers, read_truth(truth, table))
    if output is not None:
        write_answers(answers, table, output, force)
    if workers is not None:
        write_accuracies(answers, table, workers, force)
    written = [f"wrote {path}" for path in (output, workers) if path is not None]
    say(as_json, _facts(answers, table, right), *_sentences(answers, table, right), *written)


def _share_right(answers: Answers, truth: np.ndarray[Any, Any]) -> float:
    """Share of right answers among the tasks whose truth is known."""
    known = truth >= 0
    return float((answers.answer[known] == truth[known]).mean())


def _facts(answers: Answers, labels: Labels, right: float | None) -> dict[str, Any]:
    return {
        "method": answers.method,
        "tasks": len(labels.tasks),
        "workers": len(labels.workers),
        "labels": int(labels.task.size),
        "classes": list(labels.classes),
        "iterations": answers.iterations,
        "converged": answers.converged,
        "mean_confidence": float(answers.confidence.mean()),
        "unsure": int((answers.confidence < UNSURE).sum()),
        "accuracy": right,
    }


def _sentences(answers: Answers, labels: Labels, right: float | None) -> list[str]:
    unsure = int((answers.confidence < UNSURE).sum())
    kind = "share of the labels" if answers.evidence is None else "chance of being right"
    said = [
        f"{len(labels.tasks)} answers from {labels.task.size} labels by {len(labels.workers)} workers, "
        f"{len(labels.classes)} classes, by {answers.method}{_rounds(answers)}",
        f"mean {kind}: {answers.confidence.mean():.3f}; below {UNSURE:g}: {unsure} answer(s)",
    ]
    return said if right is None else [*said, f"right on {100 * right:.1f} % of the tasks with known answers"]


def _rounds(answers: Answers) -> str:
    if answers.iterations == 0:
        return ""
    return f" ({answers.iterations} rounds{'' if answers.converged else ', not converged'})"


VERBS = (aggregate,)
