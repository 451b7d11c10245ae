"""A benchmark's folder that was damaged: `report` says in one sentence what is wrong, whatever it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crowdopt.bench.harness.subject import Limits, Subject
from crowdopt.bench.run import _job
from tests.typed import run

LIMITS = {"seconds": 9.0, "megabytes": 4000.0, "threads": 1, "grace": 20.0}
VERSIONS = {"crowdopt": "1", "exact": "1"}
RESULT = {
    **dict.fromkeys(("value", "bound"), 3.0),
    **dict.fromkeys(("violation", "fraction", "gap"), 0.0),
    "outcome": "proven",
    "why": "",
    "proof": "certificate",
    "claimed": "optimal",
    "family": "assignment",
    "timings": {"load": 1.0, "total": 0.5},
    "megabytes": 90.0,
    "reference": 0.1,
}
RUN = {
    "libraries": {"numpy": "2"},
    "cores": 2,
    "memory_gb": 8.0,
    **dict.fromkeys(("started", "system", "python", "processor"), "x"),
}
PLAN = {
    "kind": "bench",
    "title": "one",
    "subjects": [["HS:6x4", "ip", 0, "exact"]],
    "limits": LIMITS,
    "versions": VERSIONS,
}


def write(folder: Path, plan: Any = PLAN, run: Any = None, row: Any = None) -> Path:
    """A benchmark of one row."""
    (folder / "rows").mkdir(parents=True)
    (folder / "bench.json").write_text(json.dumps(plan), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(RUN if run is None else run), encoding="utf-8")
    job = _job(Subject("HS:6x4", "ip", "exact", 0, Limits(**LIMITS)), VERSIONS, 0)
    row = {"result": RESULT} if row is None else row
    (folder / "rows" / f"{job.key}.json").write_text(
        json.dumps({"function": job.function, "arguments": job.arguments, **row}), encoding="utf-8"
    )
    return folder


def reported(folder: Path, **damage: Any) -> Any:
    return run("report", str(write(folder / "bench", **damage)))


def without(document: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


DAMAGE: dict[str, dict[str, Any]] = {
    **{f"no {key}": {"plan": without(PLAN, key)} for key in ("subjects", "limits", "versions")},
    **{f"no limit of {key}": {"plan": {**PLAN, "limits": without(LIMITS, key)}} for key in LIMITS},
    "a limit in words": {"plan": {**PLAN, "limits": {**LIMITS, "seconds": "nine"}}},
    "subjects in a word": {"plan": {**PLAN, "subjects": "HS"}},
    "a subject cut short": {"plan": {**PLAN, "subjects": [["HS:6x4", "ip", 0]]}},
    "a method of no version": {"plan": {**PLAN, "subjects": [["HS:6x4", "ip", 0, "highs"]]}},
    "a version that is a number": {"plan": {**PLAN, "versions": {**VERSIONS, "exact": 3}}},
    "a list for a plan": {"plan": []},
    "libraries in a list": {"run": {"libraries": ["numpy"]}},
    "a row of nothing": {"row": {"result": None}},
    "a row of a word": {"row": {"result": "x"}},
    "an error that is a number": {"row": {"error": 3}},
    **{
        f"a row without {key}": {"row": {"result": without(RESULT, key)}}
        for key in RESULT
        if key not in ("family", "reference")
    },
    **{f"a row whose {key} is a list": {"row": {"result": {**RESULT, key: [1]}}} for key in RESULT},
    "negative seconds": {"row": {"result": {**RESULT, "timings": {"total": -5.0}}}},
    "a value without its violation": {"row": {"result": {**RESULT, "violation": None}}},
}


def test_without_damage_it_answers(tmp_path: Path) -> None:
    """Otherwise what follows would try nothing."""
    assert reported(tmp_path).exit_code == 0


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_benchmark_is_one_sentence(tmp_path: Path, damage: str) -> None:
    """Exit 2, no traceback, and what is wrong with it."""
    done = reported(tmp_path, **DAMAGE[damage])
    assert done.exit_code == 2, done.exception
    assert done.stderr.startswith("crowdopt: ") and done.stderr.count("\n") == 1
