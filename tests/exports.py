"""One small export of every tool and format: five tasks, three workers, all saying the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TASKS = ("t0", "t1", "t2", "t3", "t4")
WORKERS = ("ada", "bo", "chen")
GIVEN = {  # (task, worker) -> label; what chen skipped is empty
    (task, worker): "" if (task, worker) == ("t4", "chen") else ("no", "yes")[(k + len(worker)) % 2]
    for k, task in enumerate(TASKS)
    for worker in WORKERS
}
TRUTH = {"t0": "yes", "t1": "no"}
EXPORTS = {  # tool -> what it wrote
    "label-studio": "studio.json",
    "potato": "potato",
    "prodigy": "prodigy.jsonl",
    "inspect": "inspect.json",
    "crowd-kit": "crowd_kit.csv",
    "cleanlab": "wide.csv",
    "truth-inference": "ti",
    "peerannot": "peerannot.json",
    "promptfoo": "promptfoo.json",
    "deepeval": "deepeval.json",
    "mlflow": "mlflow.jsonl",
    "langfuse": "langfuse.json",
}


def seconds_of(task: str, worker: str) -> float:
    """How long a label took."""
    return TASKS.index(task) + 0.25 * len(worker)


def label_studio() -> list[dict[str, Any]]:
    """A JSON export: numbers of accounts as tables with their e-mail, an expert's gold, a skipped task."""
    tasks = []
    for number, task in enumerate(TASKS):
        annotations = [
            {
                "id": 10 * number + k,
                "completed_by": {"id": k, "email": f"{worker}@example.org"},
                "result": [_choice(GIVEN[task, worker])] if GIVEN[task, worker] else [],
                "was_cancelled": not GIVEN[task, worker],
                "ground_truth": False,
                "updated_at": "2026-01-02T03:04:05Z",
                "lead_time": seconds_of(task, worker),
            }
            for k, worker in enumerate(WORKERS)
        ]
        if task in TRUTH:
            gold = {"completed_by": {"id": 9, "email": "boss@example.org"}, "result": [_choice(TRUTH[task])]}
            annotations.append({**annotations[0], "id": 99 + number, **gold, "ground_truth": True})
        tasks.append({"id": number + 1, "data": {"task": task, "text": f"photo {task}"}, "annotations": annotations})
    return tasks


def _choice(label: str) -> dict[str, Any]:
    return {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [label]}}


def potato_state(worker: str) -> dict[str, Any]:
    """What Potato's server leaves of an annotator."""
    told = {task: GIVEN[task, worker] for task in TASKS if GIVEN[task, worker]}
    return {
        "user_id": worker,
        "instance_id_to_label_to_value": {t: [[{"schema": "label", "name": said}, said]] for t, said in told.items()},
        "instance_id_to_behavioral_data": {t: {"total_time_ms": round(1000 * seconds_of(t, worker))} for t in TASKS},
    }


def lay_exports(folder: Path) -> None:
    """Write them all."""
    for name, content in _files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(line) + "\n" for line in content) if name.endswith(".jsonl") else json.dumps(content)
        (folder / name).write_text(content if isinstance(content, str) else lines, encoding="utf-8")


def _files() -> dict[str, Any]:
    """Name -> what stands there: text, or what JSON says of it, a line for each entry in .jsonl."""
    rows = [(task, worker, label) for (task, worker), label in GIVEN.items()]
    told = [row for row in rows if row[2]]
    history = [{"instance_id": task, "timestamp": "2026-01-02T03:04:05"} for task in TASKS]
    place = "potato/annotation_output/round-1"
    return {
        "studio.json": label_studio(),
        **{f"{place}/{worker}/user_state.json": potato_state(worker) for worker in WORKERS},
        **{f"{place}/{worker}/annotation_history.jsonl": history for worker in WORKERS},
        "potato/gold_standards.json": [{"id": task, "gold_label": {"label": label}} for task, label in TRUTH.items()],
        "llm_labels.jsonl": [
            {"instance_id": task, "label": label, "model": worker, "latency_ms": 1000 * seconds_of(task, worker)}
            for task, worker, label in told
        ],
        "prodigy.jsonl": [
            {"task_id": task, "accept": [label] if label else [], "answer": "accept" if label else "ignore"}
            | {"_session_id": f"data-{worker}", "_dataset": "data", "_timestamp": 1700000000}
            for task, worker, label in rows
        ],
        "inspect.json": {"version": 2, "samples": [_sample(task) for task in TASKS]},
        "crowd_kit.csv": _table(
            "task,worker,label,seconds,cancelled",
            [(*row, seconds_of(*row[:2]), "" if row[2] else "yes") for row in rows],
        ),
        "wide.csv": _table(f"task,{','.join(WORKERS)}", [(t, *(GIVEN[t, w] for w in WORKERS)) for t in TASKS]),
        "ti/answer.csv": _table("question,worker,answer", told),
        "ti/truth.csv": _table("question,truth", TRUTH.items()),
        "peerannot.json": {t: {w: GIVEN[t, w] for w in WORKERS if GIVEN[t, w]} for t in TASKS},
        "promptfoo.json": {"results": {"version": 3, "results": [_result(k, task) for k, task in enumerate(TASKS)]}},
        "deepeval.json": {"testCases": [_test_case(task) for task in TASKS]},
        "mlflow.jsonl": [_trace(task) for task in TASKS],
        "langfuse.json": {"data": [_score(*row) for row in told], "meta": {"page": 1}},
    }


def _table(head: str, rows: Any) -> str:
    return "".join(f"{line}\n" for line in [head, *(",".join(map(str, row)) for row in rows)])


def _sample(task: str) -> dict[str, Any]:
    """Inspect: two scorers and a panel."""
    label, scores = GIVEN[task, "chen"], {worker: {"value": GIVEN[task, worker] or None} for worker in WORKERS[:2]}
    panel = {"chen": {"value": label, "seconds": seconds_of(task, "chen")}} if label else {}
    return {
        "id": task,
        "epoch": 1,
        "scores": scores | {"panel": {"value": "yes", "metadata": {"crowdopt_panel": panel}}},
    }


def _result(number: int, task: str) -> dict[str, Any]:
    """promptfoo: an assertion for each judge; a grader that failed says so beside a score of 0."""
    judged = [
        {
            "pass": GIVEN[task, worker] == "yes",
            "assertion": {"type": "llm-rubric", "metric": worker},
            "metadata": {} if GIVEN[task, worker] else {"graderError": True},
        }
        for worker in WORKERS
    ]
    row = {"testIdx": number, "promptIdx": 0, "provider": {"id": "model", "label": "model"}}
    return row | {"testCase": {"description": task}, "gradingResult": {"componentResults": judged}}


def _test_case(task: str) -> dict[str, Any]:
    """deepeval: a metric for each judge, with its tokens; one ended in an error."""
    tokens = {"inputTokenCount": 100, "outputTokenCount": 20}
    data = [
        {"name": worker, "success": GIVEN[task, worker] == "yes", **tokens}
        | ({} if GIVEN[task, worker] else {"error": "no answer"})
        for worker in WORKERS
    ]
    return {"name": task, "metricsData": data}


def _trace(task: str) -> dict[str, Any]:
    """MLflow: an assessment for each judge, one with an error, and expectations."""
    given = [(w, {"feedback": {"value": GIVEN[task, w]} if GIVEN[task, w] else {"error": {}}}) for w in WORKERS]
    given += [("ada", {"expectation": {"value": TRUTH[task]}})] if task in TRUTH else []
    source = {"source_type": "LLM_JUDGE", "source_id": "model"}
    assessments = [{"assessment_name": name, "source": source, **one} for name, one in given]
    return {"info": {"trace_id": task, "assessments": assessments}, "data": {"spans": []}}


def _score(task: str, worker: str, label: str) -> dict[str, Any]:
    """Langfuse: scores that are categories."""
    kind = {"source": "EVAL", "dataType": "CATEGORICAL", "value": 0}
    return {"traceId": task, "name": worker, "stringValue": label, **kind}
