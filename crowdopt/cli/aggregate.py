"""The verb aggregate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt.answers.answers import Answers
from crowdopt.api.aggregate import AGGREGATIONS, AUTO, UNSURE, Aggregated, aggregate_tables
from crowdopt.api.answers import answers
from crowdopt.api.audit import TARGET, certifying, looks_to_certify
from crowdopt.cli.adaptive_lines import onward_said
from crowdopt.cli.common import ANSWERED, PATH, PLANNED, REHEARSED, as_json, manual, say, trust_gold
from crowdopt.errors import InputError
from crowdopt.io.answers import Answered, Continuation, facts


@click.command(
    epilog=manual(
        PLANNED,
        REHEARSED,
        ANSWERED,
        reads="labels task,worker,label; with --plan the plan and its campaign",
        writes="a table of answers; with --plan a folder: answers.csv, missing.csv, and campaign/ with the labels in",
    )
)
@click.argument("labels", type=PATH)
@click.option("--method", type=click.Choice(AGGREGATIONS), default=AUTO)
@click.option(
    "--gold",
    type=PATH,
    help="worker,correct,asked or worker,task,label,truth for weighted votes; worker,true,answered for wmv-confusion.",
)
@click.option("--truth", type=PATH, help="Known answers (task,label) to compare the answers with.")
@click.option("--plan", type=PATH, help="The plan whose weights the votes have, in place of a method.")
@click.option(
    "--skipped",
    type=PATH,
    help="With --plan: pairs task,worker that were asked and gave no label, as pull writes them.",
)
@click.option(
    "--accept", is_flag=True, help="With --plan: leave out of the next campaign the tasks that no labels can settle."
)
@click.option("--campaign", type=PATH, help="The campaign that the plan was made for.")
@click.option("-o", "--output", type=PATH, help="Table of answers to write; with --plan, a folder.")
@click.option("--workers", type=PATH, help="Table of the workers' accuracies to write.")
@trust_gold
@click.option("--force", is_flag=True, help="Replace files that exist.")
@as_json
def aggregate(
    labels: Path,
    method: str,
    plan: Path | None,
    skipped: Path | None,
    accept: bool,
    campaign: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Turn labels (columns task, worker, label) into answers, each with a confidence; ties go to the first class.

    With --plan the votes have the plan's weights. It then says which tasks are not yet sure and which labels are
    missing from whom, and writes the campaign that goes on.
    """
    if plan is not None:
        if options["gold"] or options["truth"] or options["workers"]:
            raise InputError("--gold, --truth and --workers belong to a method; with --plan its weights decide")
        if campaign is None or output is None:
            raise InputError("with --plan, give the campaign it was made for (--campaign) and a folder to write (-o)")
        force = options["force"]
        answered = answers(labels, plan, campaign=campaign, skipped=skipped, accept=accept, output=output, force=force)
        looks = looks_to_certify(answered.instance.n_tasks, float(answered.instance.epsilon.mean()))
        known = {"answers": str(output), **facts(answered), "looks_to_certify": asdict(looks)}
        say(as_json, known, *_of_plan(answered, output))
        return
    if skipped is not None:
        raise InputError(
            "--skipped belongs to a plan (--plan); without one a label that is not there counts for nothing"
        )
    done = aggregate_tables(labels, method, output=output, **options)
    written = [f"wrote {path}" for path in (output, options["workers"]) if path is not None]
    known = {**_facts(done), "looks_to_certify": asdict(looks_to_certify(len(done.labels.tasks)))}
    audited = certifying(len(done.labels.tasks), TARGET, output or "ANSWERS")
    say(as_json, known, *_sentences(done), audited, *written)


def _facts(done: Aggregated) -> dict[str, Any]:
    answers, labels = done.answers, done.labels
    return {
        "method": answers.method,
        "chosen_by": None if done.choice is None else asdict(done.choice),
        "tasks": len(labels.tasks),
        "workers": len(labels.workers),
        "labels": int(labels.task.size),
        "classes": list(labels.classes),
        "iterations": answers.iterations,
        "converged": answers.converged,
        "mean_confidence": done.claimed if answers.law is not None else float(answers.confidence.mean()),
        "unsure": done.unsure,
        "accuracy": done.right,
        "difficulty": None if answers.difficulty is None else asdict(answers.difficulty),
    }


def _sentences(done: Aggregated) -> list[str]:
    answers, labels = done.answers, done.labels
    kind, mean = "chance of being right, if errors are independent", done.claimed
    if answers.tally is not None:
        kind = "chance of being right, half by the method and half by the labels' shares"
    elif answers.difficulty is not None:
        kind = "chance of being right"
    elif answers.law is None:
        kind, mean = "share of the labels", float(answers.confidence.mean())
    said = [
        f"{len(labels.tasks)} answers from {labels.task.size} labels by {len(labels.workers)} workers, "
        f"{len(labels.classes)} classes, by {answers.method}{_rounds(answers)}",
        f"mean {kind}: {mean:.3f}; below {UNSURE:g}: {done.unsure} answer(s)",
    ]
    if done.choice is not None:
        said.append(str(done.choice))
    if answers.difficulty is not None:
        said.append(f"{answers.difficulty}; the chances heed it")
    return said if done.right is None else [*said, f"right on {100 * done.right:.1f} % of the tasks with known answers"]


def _of_plan(answered: Answered, output: Path) -> list[str]:
    known = facts(answered)
    if answered.onward is not None:
        return onward_said(answered, answered.onward, output)
    going_on = Continuation(answered)
    said = [
        f"{known['tasks']} answers from {known['labels']} labels ({known['new_labels']} of them new): "
        f"{known['sure']} sure, {known['unsure']} not yet; {known['expected_wrong']:.3g} expected to be wrong",
        certifying(answered.instance.n_tasks, float(answered.instance.epsilon.mean()), output),
        *_of_the_mean(answered),
    ]
    if answered.left_out:
        said.append(f"{answered.left_out} label(s) were in already")
    if known["asked_once_more"]:
        said.append(
            f"{known['asked_once_more']} of those not sure have all that rule {answered.instance.rule} asks before "
            f"labels are seen; {output}/campaign asks one label more of each"
        )
    said += [*_unsure(answered, going_on, output), *_withheld(answered, known), *_late(answered, known, output)]
    if known["next_rule"] != answered.instance.rule:
        said.append(
            f"rule {answered.instance.rule} {going_on.why}, so {output}/campaign goes on by rule {known['next_rule']}"
        )
    if going_on.sure_by_its_votes.size:
        said.append(f"{going_on.sure_by_its_votes.size} of those not sure are, by the votes of that rule")
    return [*said, f"wrote {output}; to go on: crowdopt solve {output}/campaign -o NEXT-PLAN"]


def _of_the_mean(answered: Answered) -> list[str]:
    if not answered.instance.the_rule.average:
        return []
    mean, target = float(answered.answers.error.mean()), float(answered.instance.epsilon.mean())
    word = "keeps it: more labels only make single tasks sure" if mean <= target else "misses it"
    return [f"the target {target:.4g} is for all answers on average; their mean error {mean:.3g} {word}"]


def _unsure(answered: Answered, going_on: Continuation, output: Path) -> list[str]:
    explained, said = f"crowdopt explain {output}/campaign", []
    for tasks, why, advice in (
        (
            going_on.exhausted,
            "can have no more labels within the limits",
            f"have an expert look, or let {explained} say what would help",
        ),
        (
            going_on.out_of_reach,
            "need more than all labels that they can still have",
            f"the next plan has those that help, and {explained} says what else would",
        ),
    ):
        left = np.setdiff1d(tasks, going_on.accepted)
        if left.size:
            names = _first([answered.instance.task_id(i) for i in left.tolist()])
            said.append(f"{left.size} of those not sure {why}: {names}; {advice}")
    if going_on.accepted.size:
        worst = going_on.epsilon[going_on.accepted].max()
        said.append(
            f"{going_on.accepted.size} of those not sure are taken as they are, since no labels left can settle them: "
            f"{output}/campaign/tasks.csv has targets of up to {worst:.4g} for them"
        )
    if going_on.within_exact_reach.size:
        said.append(f"{going_on.within_exact_reach.size} of these can be served by solve --rule exact-error")
    return said


def _withheld(answered: Answered, known: dict[str, Any]) -> list[str]:
    if not known["skipped"]:
        return []
    silent = np.bincount(answered.skipped[:, 0], minlength=answered.instance.n_tasks) > 0
    share = 100 * known["skipped"] / (known["skipped"] + known["new_labels"])
    return [
        f"{known['skipped']} label(s) were withheld ({share:.3g} % of those asked), on tasks of which "
        f"{int((silent & ~answered.answers.sure).sum())} are not sure without; no worker is asked the same again"
    ]


def _late(answered: Answered, known: dict[str, Any], output: Path) -> list[str]:
    if not known["missing"]:
        return []
    late = Counter(answered.instance.worker_id(j) for j in answered.answers.missing[:, 1].tolist()).most_common()
    names = _first([f"{name} ({count})" for name, count in late])
    return [f"{known['missing']} planned label(s) have not come: from {names}; see {output}/missing.csv"]


def _first(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _rounds(answers: Answers) -> str:
    if answers.iterations == 0:
        return ""
    return f" ({answers.iterations} rounds{'' if answers.converged else ', not converged'})"


VERBS = (aggregate,)
