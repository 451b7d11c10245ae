"""What Label Studio is given of a round: a task's data, a prediction, the filter of a worker's tab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.pushed_round import PushedRound
from crowdopt.io.plan.plan_folder import queue_files

NOBODY = "|"  # the queue of a task that no worker is to see
HIDDEN = (  # columns that a worker's tab does without; who else is asked is not shown
    *("inner_id", "annotations_results", "annotations_ids", "predictions_score", "predictions_model_versions"),
    *("predictions_results", "file_upload", "storage_filename", "created_at", "updated_at", "updated_by"),
    *("avg_lead_time", "draft_exists", "annotators", "completed_at", "data.queue"),
    *("total_annotations", "cancelled_annotations", "total_predictions"),
)
MODEL = "crowdopt"  # the name under which our answers stand among the predictions


@dataclass(frozen=True)
class Control:
    """The question of a labelling interface that asks for a class: its name, and what it asks about."""

    name: str
    about: str


def tokens(workers: tuple[str, ...]) -> dict[str, str]:
    """Worker -> how a queue names them: between bars, and no two alike for a filter that ignores case."""
    names = queue_files(workers)
    return {worker: f"|{name.removesuffix('.csv')}|" for worker, name in zip(workers, names, strict=True)}


def task_data(handed: PushedRound, task: str, names: dict[str, str]) -> dict[str, str]:
    """A task's data: its id, what is shown, and who is to see it, by their :func:`tokens`."""
    queue = "".join(names[worker].rstrip("|") for worker in handed.queues.get(task, ()))
    return {"task": task, **handed.content[task], "queue": f"{queue}|"}


def prediction(control: Control, answer: str, chance: float) -> dict[str, Any]:
    """Our answer and its chance to be right, as a prediction."""
    chosen = {"from_name": control.name, "to_name": control.about, "type": "choices", "value": {"choices": [answer]}}
    return {"model_version": MODEL, "score": round(chance, 6), "result": [chosen]}


def tab(worker: str, token: str) -> dict[str, Any]:
    """A worker's tab: the tasks whose queue names them, in the order of the campaign."""
    asked = {"filter": "filter:tasks:data.queue", "operator": "contains", "type": "String", "value": token}
    return {
        "title": worker,
        "type": "list",
        "target": "tasks",
        "hiddenColumns": {"explore": [f"tasks:{name}" for name in HIDDEN], "labeling": []},
        "filters": {"conjunction": "and", "items": [asked]},
        "ordering": ["tasks:id"],
    }


def own_control(handed: PushedRound) -> Control:
    """The question of our own interface."""
    return Control("label", handed.columns[0])


def control_of(parsed_config: Any, classes: tuple[str, ...], project: str) -> Control:
    """The question of a project that asks for our classes."""
    asked = []
    for name, control in parsed_config.items() if isinstance(parsed_config, dict) else ():
        if isinstance(control, dict) and control.get("type") == "Choices":
            labels, about = control.get("labels"), control.get("to_name")
            if isinstance(labels, list) and set(classes) <= set(map(str, labels)) and isinstance(about, list) and about:
                asked.append(Control(str(name), str(about[0])))
    if len(asked) != 1:
        how = "no question with" if not asked else f"{len(asked)} questions with"
        raise InputError(
            f"{project} asks {how} the choices {', '.join(classes)}; change its labelling interface, or name another "
            "project with --project (a new one gets an interface that fits)"
        )
    return asked[0]
