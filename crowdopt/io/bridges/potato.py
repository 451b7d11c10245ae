"""Potato: a project folder with a queue for each annotator, and what its server leaves in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from crowdopt.documents import COUNT, TEXT, Each, Keys, Value
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.pushed import Bridge, PushedRound, Wishes
from crowdopt.io.foreign_json import ID, parsed, read_json, read_lines, read_text, refuse, scalar, seconds

OUT, STATE, HISTORY, MACHINE = "annotation_output", "user_state.json", "annotation_history.jsonl", "llm_labels.jsonl"
GOLD = ("gold_standards.json", "gold_standards.jsonl", "gold.json", "gold.jsonl")
ROUNDS = "rounds.json"  # which plan was handed out in which round
TYPED = "text_box"  # the one option of a question that is answered in writing: the answer is its value
REMEDY = "give the project's folder, or its annotation_output, as Potato wrote it"
PAIR = Value("a pair of a question and a value", lambda value: isinstance(value, list) and len(value) == 2)
USER = Keys(
    required={"user_id": ID, "instance_id_to_label_to_value": Each(Each(PAIR), dict)},
    optional={"instance_id_to_behavioral_data": Each(Keys(open=True), dict)},
    open=True,
)
LINE = Keys(open=True)
HANDED = Keys(required={"rounds": Each(Keys(required={"plan": TEXT, "pairs": COUNT}))})


def read_output(path: Path, wishes: Wishes) -> Annotations:
    """The annotations below a folder, of every user and every round; or those of one file.

    A file is a user's ``user_state.json``, or ``llm_labels.jsonl`` with a model's labels.
    """
    if path.is_dir():
        files = sorted([*path.rglob(STATE), *path.rglob(MACHINE)])
        if not files:
            raise InputError(f"{path} has no {STATE} in or below it: no worker has labelled there yet; {REMEDY}")
        gold = [file for name in GOLD for file in sorted(path.rglob(name))]
    else:
        files, gold = [path], []
    rows = [row for file in files for row in _rows_of(file, path, wishes)]
    truth = {task: label for file in gold for task, label in _gold(file, wishes)}
    return with_gold(rows, path.name or str(path), truth)


def _rows_of(file: Path, top: Path, wishes: Wishes) -> Iterator[Annotation]:
    if file.suffix == ".jsonl":
        yield from _machine_rows(file, wishes)
    else:
        yield from _user_rows(file, file.relative_to(top).as_posix() if file != top else file.name, wishes)


def _user_rows(file: Path, name: str, wishes: Wishes) -> Iterator[Annotation]:
    state = read_json(file, USER, f"{REMEDY} ({name})")
    worker, times = scalar(state["user_id"]) or "", state.get("instance_id_to_behavioral_data", {})
    moments = _moments(file.with_name(HISTORY))
    labels = state["instance_id_to_label_to_value"]
    for task in dict.fromkeys([*labels, *times]):
        label, asked = _label(labels.get(task, []), wishes.field, name, f"instance_id_to_label_to_value.{task}")
        spent = seconds(times.get(task, {}).get("total_time_ms"))
        if task.strip():
            yield Annotation(
                task=task.strip(),
                worker=worker,
                label=label,
                seconds=spent / 1000 if spent else None,  # 0 where the page told nothing
                when=moments.get(task, ""),
                cancelled=not label,
                place=f"{name}: {task}",
                question=asked,
            )


def _label(pairs: list[list[Any]], question: str | None, source: str, place: str) -> tuple[str, str]:
    """The class that was chosen, empty where none was, and the question that it answers."""
    chosen: dict[str, list[str]] = {}
    for number, (key, value) in enumerate(pairs):
        schema = key.get("schema") if isinstance(key, dict) else None
        option = scalar(key.get("name")) if isinstance(key, dict) else None
        if not isinstance(schema, str) or option is None:
            raise refuse(source, f"{place}[{number}]", "must name a schema and an option", key, REMEDY)
        if question in (None, schema) and value not in (None, False, "", "false"):
            chosen.setdefault(schema, []).append((scalar(value) or option) if option == TYPED else option)
    if len(chosen) > 1:
        raise InputError(f"{source}, {place}: answers {', '.join(sorted(chosen))}; choose one of them with --field")
    options = next(iter(chosen.values()), [])
    if len(options) > 1:
        raise refuse(source, place, "must be one class", options, "ask with annotation_type radio")
    return (options[0], next(iter(chosen))) if options else ("", "")


def _moments(path: Path) -> dict[str, str]:
    """When each task was last labelled, from the history beside a user's state; a line cut short is left out."""
    moments: dict[str, str] = {}
    for line in read_text(path).split("\n") if path.is_file() else ():
        try:
            entry = parsed(line, path.name) if line.strip() else None
        except InputError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("timestamp"), str):
            moments[str(entry.get("instance_id"))] = entry["timestamp"]
    return moments


def _machine_rows(file: Path, wishes: Wishes) -> Iterator[Annotation]:
    """Labels by language models, one on a line, each model a worker."""
    for place, line in read_lines(file, LINE, "each line is an object with instance_id, label and model"):
        task = scalar(_first(line, "instance_id", "id"))
        worker = scalar(_first(line, "model", "model_name", "annotator", "user_id")) or "llm"
        if wishes.field not in (None, line.get("schema"), line.get("schema_name")):
            continue
        value = _first(line, "label", "predicted_label", "annotation")
        label = scalar(value) if value is not None else ""
        if not task or label is None:
            what = "must have an instance_id" if not task else "must have one label"
            raise refuse(file.name, place, what, line, "each line is an object with instance_id, label and model")
        spent = seconds(_first(line, "latency_ms", "total_time_ms"))
        yield Annotation(
            task=task,
            worker=worker,
            label=label,
            seconds=seconds(line.get("seconds")) if spent is None else spent / 1000,
            when=scalar(line.get("timestamp")) or "",
            cancelled=not label,
            place=place,
            question=scalar(_first(line, "schema", "schema_name")) or "",
        )


def _first(line: dict[str, Any], *keys: str) -> Any:
    return next((line[key] for key in keys if line.get(key) is not None), None)


def _gold(file: Path, wishes: Wishes) -> Iterator[tuple[str, str]]:
    """Task and true label of each gold standard: ``gold_label`` is the class, or question -> class."""
    remedy = "each gold standard is an object with id and gold_label"
    if file.suffix == ".jsonl":
        entries = [line for _, line in read_lines(file, LINE, remedy)]
    else:
        entries = read_json(file, Each(LINE), remedy)
    for number, entry in enumerate(entries):
        task, label = scalar(entry.get("id")), entry.get("gold_label")
        if isinstance(label, dict):
            if len(label) > 1 and not wishes.field:
                raise InputError(
                    f"{file.name}, [{number}]: answers {', '.join(sorted(label))}; choose one of them with --field"
                )
            label = label.get(wishes.field) if wishes.field else next(iter(label.values()), None)
        text = None if label is None else scalar(label)
        if not task or not text:
            raise refuse(file.name, f"[{number}]", "must have an id and a gold_label", entry, remedy)
        yield task, text


def write_project(handed: PushedRound, folder: Path) -> dict[str, str]:
    """The project: its settings, the round's items with their annotators, and the list of rounds.

    Each plan has a round of its own, with its own folder of annotations: what was labelled before stays as it is, and
    a plan that is pushed again is the same round again. A pair that an earlier round labelled is not asked again.
    """
    rounds = _rounds(folder)
    plan = fingerprint(handed)
    known = [entry["plan"] for entry in rounds]
    if plan not in known:
        rounds = [*rounds, {"plan": plan, "pairs": handed.pairs}]
    number = known.index(plan) + 1 if plan in known else len(rounds)
    before = {
        (row.task, row.worker)
        for earlier in range(1, number)
        for file in sorted((folder / OUT / f"round-{earlier}").glob(f"*/{STATE}"))
        for row in _user_rows(file, file.name, Wishes())
        if row.counts
    }
    items = []
    for task, workers in handed.queues.items():
        left = [worker for worker in workers if (task, worker) not in before]
        if left:
            items.append({"id": task, **handed.content[task], "workers": left})
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    return {
        ROUNDS: json.dumps({"rounds": rounds}, indent=1) + "\n",
        f"data/round-{number}.jsonl": lines,
        "config.yaml": settings(handed, number),
    }


def fingerprint(handed: PushedRound) -> str:
    """What tells one plan from another: its pairs."""
    return sha256(json.dumps(handed.queues, sort_keys=True).encode("utf-8")).hexdigest()[:16]


def _rounds(folder: Path) -> list[dict[str, Any]]:
    path = folder / ROUNDS
    if not path.exists():
        return []
    rounds: list[dict[str, Any]] = read_json(path, HANDED, "push into another folder")["rounds"]
    return rounds


def settings(handed: PushedRound, number: int) -> str:
    """config.yaml, each value as JSON, which YAML understands."""
    scheme = {
        "annotation_type": "radio",
        "name": "label",
        "description": "Which class is it?",
        "labels": list(handed.classes),
        "label_requirement": {"required": True},
    }
    values: dict[str, Any] = {
        "annotation_task_name": handed.title or "labels",
        "task_dir": ".",
        "data_files": [f"data/round-{number}.jsonl"],
        "output_annotation_dir": f"{OUT}/round-{number}",
        "output_annotation_format": "jsonl",
        "item_properties": {"id_key": "id", "text_key": handed.columns[0]},
        "assignment_strategy": "batch",
        "batch_assignment": {"annotator_key": "workers"},
        "num_annotators_per_item": max(map(len, handed.queues.values())),
        "max_annotations_per_user": -1,
        "require_password": False,
        "user_config": {"allow_all_users": False, "users": list(handed.busy)},
        "annotation_schemes": [scheme],
    }
    head = "# written by crowdopt push; a push writes it anew\n"
    return head + "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


BRIDGE = Bridge(
    name="potato",
    what="its project folder, a user_state.json, or llm_labels.jsonl",
    read=read_output,
    write=write_project,
    advice=("start it there, or start it again: potato start config.yaml -p 8000",),
)
