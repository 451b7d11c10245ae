"""deepeval's test runs: each metric a judge, whose vote is whether the test case passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdopt.documents import TEXT, Each, Keys, Maybe
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.bridges.exchange.token_usage import usage_of
from crowdopt.io.bridges.exchange.verdicts import passed, verdict
from crowdopt.io.tables.foreign_json import check, parsed, read_text, refuse, scalar

REMEDY = "give a test run that deepeval saved: DEEPEVAL_RESULTS_FOLDER names their folder"
METRIC = Keys(required={"name": TEXT}, open=True)
CASE = Keys(optional={"metricsData": Maybe(Each(METRIC)), "metadata": Maybe(Keys(open=True))}, open=True)
CASES = ("testCases", "conversationalTestCases")
RUN = Keys(optional=dict.fromkeys(CASES, Maybe(Each(CASE))), open=True)


def read_runs(path: Path, wishes: Wishes) -> Annotations:
    """The votes of one test run, or of every one in a folder.

    A metric that ended in an error abstains. Without ``field`` each metric is a judge; with it the models that judged
    by the metric of that name are. ``key`` names a key of a test case's metadata.
    """
    runs = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    return with_gold((row for run in runs for row in _rows(run, wishes)), path.name or str(path))


def _rows(run: Path, wishes: Wishes) -> Iterator[Annotation]:
    found = parsed(read_text(run), run.name)
    found = found["testRunData"] if isinstance(found, dict) and "testRunData" in found else found
    check(found, RUN, run.name, REMEDY)
    if not any(isinstance(found.get(name), list) for name in CASES):
        raise refuse(run.name, "the whole", "must have testCases", found, REMEDY)
    for kind in CASES:
        for number, case in enumerate(found.get(kind) or ()):
            place = f"{kind}[{number}]"
            task = scalar((case.get("metadata") or {}).get(wishes.key) if wishes.key else case.get("name"))
            if not task:
                raise refuse(run.name, place, f"must have the {wishes.key or 'name'} of its task", task, REMEDY)
            for k, metric in enumerate(case.get("metricsData") or ()):
                yield from _votes(task, metric, f"{place}.metricsData[{k}]", wishes.field)


def _votes(task: str, metric: dict[str, Any], place: str, field: str | None) -> Iterator[Annotation]:
    name = metric["name"].strip()
    if field not in (None, name, name.partition(" [")[0]):
        return
    judge = (scalar(metric.get("evaluationModel")) or name) if field else name
    value = None if metric.get("error") else passed(metric.get("success"))
    spent = usage_of(metric.get("inputTokenCount"), metric.get("outputTokenCount"), cost=metric.get("evaluationCost"))
    yield verdict(task, judge, value, place, spent=spent)


BRIDGE = Bridge(name="deepeval", what="a test run (.json), or a folder of them", read=read_runs)
