"""deepeval's test runs: each metric a judge, whose vote is whether the test case passes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdopt.documents import TEXT, Each, Keys, Maybe
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import Annotation, Annotations, passed, told_apart, usage_of, verdict, with_gold
from crowdopt.io.bridges.pushed import Bridge, Wishes
from crowdopt.io.foreign_json import check, parsed, read_text, refuse, scalar

REMEDY = "give a test run that deepeval saved: DEEPEVAL_RESULTS_FOLDER names their folder"
METRIC = Keys(required={"name": TEXT}, open=True)
CASE = Keys(optional={"metricsData": Maybe(Each(METRIC)), "metadata": Maybe(Keys(open=True))}, open=True)
CASES = ("testCases", "conversationalTestCases")
SHOWN = ("input", "actualOutput", "expectedOutput", "context", "retrievalContext", "scenario", "turns")
RUN = Keys(optional=dict.fromkeys(CASES, Maybe(Each(CASE))), open=True)


def read_runs(path: Path, wishes: Wishes) -> Annotations:
    """The votes of one test run, or of every one in a folder.

    A metric that ended in an error abstains. Without ``field`` each metric is a judge, named with its model where
    several judge by it; with it the models that judged by the metric of that name are. ``key`` names a key of a test
    case's metadata. Cases of one name are told apart by their inputs.
    """
    runs = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    cases = [(f"{run.name}, " * path.is_dir() + place, case) for run in runs for place, case in _cases(run, wishes.key)]
    tasks = told_apart((_task(case, wishes.key), _input(case)) for _, case in cases if not wishes.key)
    rows = []
    for place, case in cases:
        named = _task(case, wishes.key), _input(case)
        task, shown = tasks.get(named, named[0]), json.dumps([case.get(name) for name in SHOWN])
        seen: set[tuple[str, str]] = set()
        for k, metric in enumerate(case.get("metricsData") or ()):
            if wishes.field not in (None, metric["name"].strip(), metric["name"].strip().partition(" [")[0]):
                continue
            judge, where = _judge(metric, wishes.field), f"{place}.metricsData[{k}]"
            if judge in seen:
                raise InputError(
                    f"{path.name}, {where}: {judge[0]} judges this case twice; name its metrics differently"
                )
            seen.add(judge)
            rows.append(replace(_vote(task, judge[0], metric, where), shown=shown, model=judge[1]))
    return with_gold(rows, path.name or str(path))


def _cases(run: Path, key: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    found = parsed(read_text(run), run.name, REMEDY)
    found = found["testRunData"] if isinstance(found, dict) and "testRunData" in found else found
    check(found, RUN, run.name, REMEDY)
    if not any(isinstance(found.get(name), list) for name in CASES):
        raise refuse(run.name, "the whole", "must have testCases", found, REMEDY)
    for kind in CASES:
        for number, case in enumerate(found.get(kind) or ()):
            if not _task(case, key):
                raise refuse(run.name, f"{kind}[{number}]", f"must have the {key or 'name'} of its task", None, REMEDY)
            yield f"{kind}[{number}]", case


def _task(case: dict[str, Any], key: str | None) -> str:
    return scalar((case.get("metadata") or {}).get(key) if key else case.get("name")) or ""


def _input(case: dict[str, Any]) -> str:
    """What tells cases of one name apart: the function that runs them names them all alike."""
    texts = (scalar(case.get(name)) for name in ("input", "scenario", "order"))
    return next((text for text in texts if text), "")


def _judge(metric: dict[str, Any], field: str | None) -> tuple[str, str]:
    """A metric's name and its model; the model alone where one metric is chosen."""
    name, model = metric["name"].strip(), scalar(metric.get("evaluationModel")) or ""
    return (model or name, "") if field else (name, model)


def _vote(task: str, judge: str, metric: dict[str, Any], place: str) -> Annotation:
    value = None if metric.get("error") else passed(metric.get("success"))
    spent = usage_of(metric.get("inputTokenCount"), metric.get("outputTokenCount"), cost=metric.get("evaluationCost"))
    return verdict(task, judge, value, place, spent=spent)


BRIDGE = Bridge(name="deepeval", what="a test run (.json), or a folder of them", read=read_runs)
