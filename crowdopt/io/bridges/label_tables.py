"""Tables of labels as other packages write them: crowd-kit's, those of truth inference, cleanlab's and peerannot's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from crowdopt.documents import Each, Value
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.pushed import Bridge, Wishes
from crowdopt.io.cells import cells_of
from crowdopt.io.foreign_json import read_json, refuse, scalar, seconds
from crowdopt.io.schema import QUESTIONS
from crowdopt.io.tables import Table, read_table

TRUE, FALSE = {"true", "yes", "1"}, {"", "false", "no", "0"}


def read_crowd_kit(path: Path, wishes: Wishes) -> Annotations:
    """The rows of a table; columns seconds, when, cancelled and gold are kept where they are there."""
    return with_gold(rows_of(path, ("task",), ("worker", "performer"), ("label",)), path.name)


def rows_of(path: Path, tasks: Sequence[str], workers: Sequence[str], labels: Sequence[str]) -> list[Annotation]:
    """Rows of a table of labels; tasks, workers, labels: names that the column may have."""
    header, columns, size = cells_of(path)
    table = Table(path, dict(zip(header, columns, strict=True)), size)
    if len(set(header)) < len(header):
        raise InputError(f"{path.name}, line 1: a column appears twice; keep one of them")
    task, worker = (table.ids(_column(path, header, names)) for names in (tasks, workers))
    label = table[_column(path, header, labels)]
    empty = [""] * size
    time, when, cancelled, gold = (table.columns.get(name, empty) for name in ("seconds", "when", "cancelled", "gold"))
    for name, cells in (("cancelled", cancelled), ("gold", gold)):
        odd = next((row for row, cell in enumerate(cells) if cell.lower() not in TRUE | FALSE), None)
        if odd is not None:
            raise table.error(odd, name, f"{cells[odd]!r} is neither yes nor no; true labels are given with --truth")
    return [
        Annotation(
            task[row],
            worker[row],
            label[row],
            _number(time[row]),
            when[row],
            cancelled=cancelled[row].lower() in TRUE or not label[row],
            gold=gold[row].lower() in TRUE,
            place=f"row {row + 1}",
        )
        for row in range(size)
    ]


def _column(path: Path, header: Sequence[str], names: Sequence[str]) -> str:
    found = next((name for name in names if name in header), None)
    if found is None:
        raise InputError(f"{path.name}, line 1: there is no column {' or '.join(map(repr, names))}; name it so")
    return found


def _number(cell: str) -> float | None:
    try:
        return seconds(float(cell))
    except ValueError:
        return None


CROWD_KIT = Bridge(name="crowd-kit", what="a table task,worker,label", read=read_crowd_kit)


def read_truth_inference(path: Path, wishes: Wishes) -> Annotations:
    """``answer.csv`` (question,worker,answer), or a folder with it; ``truth.csv`` (question,truth) is its gold."""
    place = path / "answer.csv" if path.is_dir() else path
    rows = rows_of(place, ("question",), ("worker",), ("answer",))
    truth = place.with_name("truth.csv")
    known = {}
    if truth.is_file() and truth != place:
        table = read_table(truth, QUESTIONS)
        known = dict(zip(table.unique_ids("question"), table.ids("truth"), strict=True))
    return with_gold(rows, place.name, known)


TRUTH_INFERENCE = Bridge(name="truth-inference", what="answer.csv with truth.csv beside it", read=read_truth_inference)


NONE = {"", "nan", "none", "<na>", "null"}  # how pandas writes that there is no label
IDS = ("", "task", "index", "unnamed: 0")  # how a column of ids is called


def read_wide(path: Path, wishes: Wishes) -> Annotations:
    """A wide table: the first column is the task's id if it is called so, else tasks are numbered from 0."""
    header, columns, rows = cells_of(path)
    named = wishes.key or next((name for name in header[:1] if name.lower() in IDS), None)
    workers = [name for name in header if name != named]
    if (named is not None and named not in header) or len(set(header)) < len(header) or not all(workers):
        raise InputError(f"{path.name}, line 1: each column needs a name of its own, a worker's or the tasks'")
    if not workers:
        raise InputError(f"{path.name}, line 1: there is a column for the tasks but none for a worker")
    table = Table(path, dict(zip(header, columns, strict=True)), rows)
    tasks = [str(row) for row in range(rows)] if named is None else table.unique_ids(named)
    given = [
        Annotation(task, worker, _class(table[worker][row]), place=f"row {row + 1}, column {worker}")
        for row, task in enumerate(tasks)
        for worker in workers
        if table[worker][row].lower() not in NONE
    ]
    _refuse_text(path.name, given)
    return with_gold(given, path.name)


def _refuse_text(name: str, given: list[Annotation]) -> None:
    """InputError for a column of texts, ids or notes: what no other column says, where others say the same."""
    said: dict[str, set[str]] = {}
    cells = Counter(row.worker for row in given)
    for row in given:
        said.setdefault(row.worker, set()).add(row.label)
    others = Counter(label for labels in said.values() for label in labels)
    alone = {worker for worker, labels in said.items() if all(others[label] == 1 for label in labels)}
    for worker in said:
        is_text = len(said[worker]) > max(2, cells[worker] / 2)
        if worker in alone and len(said) > 1 and (is_text or len(alone) + 1 < len(said)):
            raise InputError(
                f"{name}, line 1: column {worker!r} is no worker's: no other column has its labels; take it out, or if "
                f"it holds the tasks' ids, name it (--key {worker})"
            )


def _class(cell: str) -> str:
    """A class as it was before pandas made floats of a column with gaps."""
    return cell[:-2] if cell.endswith(".0") and cell[:-2].lstrip("-").isdecimal() else cell


CLEANLAB = Bridge(name="cleanlab", what="a wide table: a row for each task, a column for each worker", read=read_wide)


REMEDY = "peerannot writes task -> worker -> label"
VOTES = Each(Each(Value("a label", lambda value: isinstance(value, str | int | float)), dict), dict)


def read_votes(path: Path, wishes: Wishes) -> Annotations:
    """``answers.json``, or a folder with it."""
    place = path / "answers.json" if path.is_dir() else path
    rows = []
    for task, votes in read_json(place, VOTES, REMEDY).items():
        for worker, value in votes.items():
            label = scalar(value)
            if not label or not task.strip() or not worker.strip():
                raise refuse(
                    place.name, f"{task!r}.{worker!r}", "must be a label with a task and a worker", value, REMEDY
                )
            rows.append(Annotation(task.strip(), worker.strip(), label, place=f"{task}.{worker}"))
    return with_gold(rows, place.name)


PEERANNOT = Bridge(name="peerannot", what="answers.json: task -> worker -> label", read=read_votes)

BRIDGE = (CROWD_KIT, TRUTH_INFERENCE, CLEANLAB, PEERANNOT)
