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
    labels = {
        task: [[{"schema": "label", "name": GIVEN[task, worker]}, GIVEN[task, worker]]]
        for task in TASKS
        if GIVEN[task, worker]
    }
    times = {task: {"total_time_ms": round(1000 * seconds_of(task, worker))} for task in TASKS}
    return {
        "user_id": worker,
        "instance_id_to_label_to_value": labels,
        "instance_id_to_behavioral_data": times,
    }


def lay_exports(folder: Path) -> None:
    """Write them all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "studio.json").write_text(json.dumps(label_studio()), encoding="utf-8")
    for worker in WORKERS:
        place = folder / "potato" / "annotation_output" / "round-1" / worker
        place.mkdir(parents=True)
        (place / "user_state.json").write_text(json.dumps(potato_state(worker)), encoding="utf-8")
        history = [{"instance_id": task, "timestamp": "2026-01-02T03:04:05"} for task in TASKS]
        (place / "annotation_history.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in history), encoding="utf-8"
        )
    gold = [{"id": task, "gold_label": {"label": label}} for task, label in TRUTH.items()]
    (folder / "potato" / "gold_standards.json").write_text(json.dumps(gold), encoding="utf-8")
    rows = [(task, worker, label) for (task, worker), label in GIVEN.items()]
    _write_lines(
        folder / "llm_labels.jsonl",
        [
            {"instance_id": task, "label": label, "model": worker, "latency_ms": 1000 * seconds_of(task, worker)}
            for task, worker, label in rows
            if label
        ],
    )
    _write_lines(
        folder / "prodigy.jsonl",
        [
            {
                "task_id": task,
                "accept": [label] if label else [],
                "answer": "accept" if label else "ignore",
                "_session_id": f"data-{worker}",
                "_dataset": "data",
                "_timestamp": 1700000000,
            }
            for task, worker, label in rows
        ],
    )
    samples = [
        {
            "id": task,
            "epoch": 1,
            "scores": {worker: {"value": GIVEN[task, worker] or None} for worker in WORKERS[:2]}
            | {"panel": {"value": "yes", "metadata": {"crowdopt_panel": _panel(task)}}},
        }
        for task in TASKS
    ]
    (folder / "inspect.json").write_text(json.dumps({"version": 2, "samples": samples}), encoding="utf-8")
    table = "".join(
        f"{task},{worker},{label},{seconds_of(task, worker)},{'' if label else 'yes'}\n" for task, worker, label in rows
    )
    (folder / "crowd_kit.csv").write_text(f"task,worker,label,seconds,cancelled\n{table}", encoding="utf-8")
    wide = "".join(f"{task},{','.join(GIVEN[task, worker] for worker in WORKERS)}\n" for task in TASKS)
    (folder / "wide.csv").write_text(f"task,{','.join(WORKERS)}\n{wide}", encoding="utf-8")
    (folder / "ti").mkdir()
    answers = "".join(f"{task},{worker},{label}\n" for task, worker, label in rows if label)
    (folder / "ti" / "answer.csv").write_text(f"question,worker,answer\n{answers}", encoding="utf-8")
    truth = "".join(f"{task},{label}\n" for task, label in TRUTH.items())
    (folder / "ti" / "truth.csv").write_text(f"question,truth\n{truth}", encoding="utf-8")
    votes = {task: {worker: GIVEN[task, worker] for worker in WORKERS if GIVEN[task, worker]} for task in TASKS}
    (folder / "peerannot.json").write_text(json.dumps(votes), encoding="utf-8")
    (folder / "promptfoo.json").write_text(
        json.dumps({"results": {"version": 3, "results": _results()}}), encoding="utf-8"
    )
    (folder / "deepeval.json").write_text(json.dumps({"testCases": _test_cases()}), encoding="utf-8")
    _write_lines(folder / "mlflow.jsonl", _traces())
    (folder / "langfuse.json").write_text(json.dumps({"data": _scores(rows), "meta": {"page": 1}}), encoding="utf-8")


def _results() -> list[dict[str, Any]]:
    """promptfoo: an assertion for each judge; a grader that failed says so beside a score of 0."""
    return [
        {
            "testIdx": k,
            "promptIdx": 0,
            "provider": {"id": "model", "label": "model"},
            "testCase": {"description": task},
            "gradingResult": {
                "componentResults": [
                    {
                        "pass": GIVEN[task, worker] == "yes",
                        "assertion": {"type": "llm-rubric", "metric": worker},
                        "metadata": {} if GIVEN[task, worker] else {"graderError": True},
                    }
                    for worker in WORKERS
                ]
            },
        }
        for k, task in enumerate(TASKS)
    ]


def _test_cases() -> list[dict[str, Any]]:
    """deepeval: a metric for each judge, with its tokens; one ended in an error."""
    return [
        {
            "name": task,
            "metricsData": [
                {
                    "name": worker,
                    "success": GIVEN[task, worker] == "yes",
                    "inputTokenCount": 100,
                    "outputTokenCount": 20,
                    **({} if GIVEN[task, worker] else {"error": "no answer"}),
                }
                for worker in WORKERS
            ],
        }
        for task in TASKS
    ]


def _traces() -> list[dict[str, Any]]:
    """MLflow: an assessment for each judge, one with an error, and expectations."""
    traces = []
    for task in TASKS:
        given = [
            {"name": worker, "feedback": {"value": GIVEN[task, worker]} if GIVEN[task, worker] else {"error": {}}}
            for worker in WORKERS
        ]
        given += [{"name": "ada", "expectation": {"value": TRUTH[task]}}] if task in TRUTH else []
        source = {"source_type": "LLM_JUDGE", "source_id": "model"}
        assessments = [{"assessment_name": one.pop("name"), "source": source, **one} for one in given]
        traces.append({"info": {"trace_id": task, "assessments": assessments}, "data": {"spans": []}})
    return traces


def _scores(rows: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Langfuse: scores that are categories."""
    return [
        {"traceId": task, "name": worker, "source": "EVAL", "dataType": "CATEGORICAL", "value": 0, "stringValue": label}
        for task, worker, label in rows
        if label
    ]


def _panel(task: str) -> dict[str, Any]:
    label = GIVEN[task, "chen"]
    return {"chen": {"value": label, "seconds": seconds_of(task, "chen")}} if label else {}


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
