"""Rules as the tools know them: Zooniverse's Caesar, Inspect's cascade, Label Studio's overlap, Prolific's Taskflow."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from crowdopt.errors import InputError
from crowdopt.io.cells import csv_text
from crowdopt.ruling.rules import ANSWER, Rule

TASK = "{task}"  # in an address: the id of the task


def caesar(rule: Rule, classes: Sequence[str]) -> str:
    """Reducers and a rule of Caesar: a subject is retired where the condition holds.

    It looks at the number of classifications (reducer ``count``) and at how many said what (``stats``). A lead cannot
    be told by it but between two classes, where each number of classifications has a number of votes that leads.
    """
    total = ["lookup", "count.classifications", 0]
    votes = {name: ["lookup", f"stats.{name}", 0] for name in classes}
    conditions: list[list[Any]] = [["gte", total, ["const", rule.most]]]
    if rule.shape == "stage" or (rule.shape == "lead" and len(classes) != 2):
        raise InputError(
            f"Caesar counts votes, and cannot do {str(rule)!r}; write overlap, agree, or a lead of 2 classes"
        )
    for name in classes if rule.shape != "overlap" else ():
        need = rule.needs.get(name, rule.needs.get(""))
        if need is None:
            continue
        if rule.shape == "agree":
            enough: list[Any] = ["gte", votes[name], ["const", int(need)]]
            conditions.append(["and", enough, ["gte", votes[name], total]])
            continue
        for n in range(int(need), rule.most):
            enough = ["gte", votes[name], ["const", (n + int(need) + 1) // 2]]
            conditions.append(["and", ["eq", total, ["const", n]], enough])
    condition = conditions[0] if len(conditions) == 1 else ["or", *conditions]
    reducers = {"count": {"type": "count"}, "stats": {"type": "stats"}}
    effect = {"action": "retire_subject", "reason": "consensus"}
    return json.dumps({"reducers": reducers, "rules": [{"if": condition, "then": [effect]}]}, indent=2) + "\n"


def inspect(rule: Rule, classes: Sequence[str]) -> str:
    """A scorer of Inspect: stages run in order, and one settles where it scores the sample as correct.

    Where none settles, the last one's verdict counts.
    """
    settles = {tuple(needs) for _, needs in rule.stages[:-1]}
    fits = rule.shape == "stage" and rule.on_class and rule.last == ANSWER and len(settles) < 2
    if not fits or any(len(some) > 1 for some in settles) or "threshold" in (who for who, _ in rule.stages):
        raise InputError(
            f"Inspect's cascade settles where a stage scores a sample as correct, and cannot do {str(rule)!r}; write "
            f"stages that settle on the same class, else {ANSWER}, none of them called threshold"
        )
    names, said = [json.dumps(who) for who, _ in rule.stages], next(iter(settles), ("",))[0]
    lines = [
        f"# {rule}",
        *([f"# a grader scores CORRECT where it says {said}: that settles the sample"] if said else []),
        "from inspect_ai.scorer import Scorer, cascade",
        "",
        "",
        "def rule(graders: dict[str, Scorer]) -> Scorer:",
        f"    stages = [{', '.join(names)}]",
        "    return cascade(**{name: graders[name] for name in stages}, threshold=1.0)",
    ]
    return "\n".join(lines) + "\n"


def label_studio(rule: Rule, classes: Sequence[str]) -> str:
    """The settings of a project: how many annotations complete a task."""
    _fixed(rule, "Label Studio's overlap")
    return json.dumps({"maximum_annotations": rule.most, "overlap_cohort_percentage": 100}, indent=2) + "\n"


def taskflow(rule: Rule, tasks: Sequence[str], address: str) -> str:
    """A table for Taskflow without a header: the address of each task, and how many participants see it."""
    _fixed(rule, "Prolific's Taskflow")
    if not tasks:
        raise InputError("Taskflow's table is of the tasks of a campaign, and gold alone has none; give the campaign")
    if TASK not in address:
        raise InputError(f"Taskflow needs the address of each task: --url https://HOST/PATH?task={TASK}")
    rows = [address.replace(TASK, quote(task, safe="")) for task in tasks]
    return "".join(csv_text(row, []) for row in ([url, str(rule.most)] for url in rows))


def _fixed(rule: Rule, tool: str) -> None:
    if rule.shape != "overlap":
        raise InputError(f"{tool} is one number of labels, and cannot do {str(rule)!r}; write overlap N")


FILES: dict[str, str] = {
    "caesar": "caesar.json",
    "inspect": "cascade.py",
    "label-studio": "label-studio.json",
    "taskflow": "taskflow.csv",
}
WRITERS: dict[str, Callable[[Rule, Sequence[str]], str]] = {
    "caesar": caesar,
    "inspect": inspect,
    "label-studio": label_studio,
}


def written(tool: str, rule: Rule, classes: Sequence[str], tasks: Sequence[str], address: str) -> str:
    """The text of the tool's file."""
    return taskflow(rule, tasks, address) if tool == "taskflow" else WRITERS[tool](rule, classes)
