"""The reader of label tables (task, worker, label), and of what is known of their tasks: truth, types."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from crowdopt.arrays import Ints, coded, places
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError, tell
from crowdopt.io.tables.frames import TableLike, name_of
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import LABELS, TRUTH, TYPES_OF_TASKS, TableKind
from crowdopt.io.tables.tidying import tell_alike


def read_label_table(path: TableLike) -> Table:
    """Columns task, worker, label, filled in every row; other columns are ignored, and so are rows without a label."""
    table = read_table(path, LABELS).labelled()
    for name in ("task", "worker", "label"):
        table.ids(name)
    for name in ("task", "worker"):
        tell_alike(table.path.name, dict.fromkeys(table[name]), name)
    _tell_passed_over(table)
    return table


def _tell_passed_over(table: Table) -> None:
    """Say what a tool's export has beside its labels that bears on them: rejected rows, known answers."""
    for name, cells in table.extras.items():
        word = "rejected" if "status" in name.casefold() else "true" if name.casefold() == "_tainted" else None
        rejected = 0 if word is None else sum(cell.casefold() == word for cell in cells)
        if rejected:
            tell(
                f"{table.path.name}: {rejected} row(s) have {word!r} in column {name} and count like the others; take "
                "them out if they are not to count"
            )
        if re.match(r"golden\W|\W*gold(en)?$|.+_gold$", name.casefold()) and any(cells):
            tell(f"{table.path.name}: column {name} is not read; known answers go into a table task,label (--truth)")


def read_labels(path: TableLike, classes: Sequence[str] = ()) -> Labels:
    """A label table in indices of its own.

    classes: labels that count as classes even where nobody gave them, such as those of the truth.
    """
    table = read_label_table(path)
    try:
        labels = Labels.from_columns(table["task"], table["worker"], table["label"], classes)
    except InputError as error:
        raise InputError(f"{table.path.name}: {error}") from None
    if len(labels.classes) < 2:
        raise InputError(f"{table.path.name} has the one label {labels.classes[0]!r} only; there is nothing to decide")
    if not set(classes) <= set(table["label"]):
        tell_alike(table.path.name, labels.classes)
    refuse_numbers(labels, table.path.name, classes)
    return labels


def refuse_numbers(labels: Labels, source: str, known: Sequence[str] = ()) -> None:
    """InputError where labels are amounts and no classes, or one below 0 probably says that no label was given.

    source: of the labels; known: labels that are known to be true.
    """
    count = np.bincount(labels.label, minlength=len(labels.classes))
    given = [name for name, times in zip(labels.classes, count.tolist(), strict=True) if times]
    numbers, size = np.array([_number(name) for name in given]), labels.label.size
    is_number, is_whole = np.isfinite(numbers), numbers == np.rint(numbers)
    few = min(10, size / 2) if is_number.all() and not is_whole.all() else max(20, size / 2)
    said = f"{source}: {len(given)} different labels among {size}"
    if len(given) > max(4, few) and is_number.all():
        remedy = "let a threshold or a few steps make classes of them first"
        raise InputError(f"{said} are numbers such as {given[len(given) // 2]}, not classes; {remedy}")
    if len(given) > max(20, size / (10 if is_number.all() else 2)):
        tell(f"{said} count as a class each; if they are amounts or texts, make a few classes of them first")
    below = np.flatnonzero(numbers < 0)
    if below.size != 1 or (is_number & ~is_whole).any() or (is_number.all() and len(given) == 2):
        return
    name = given[int(below[0])]
    share = count[labels.classes.index(name)] / size
    said = f"{source}: the label {name} ({100 * share:.3g} % of the labels"
    remedy = "leave these rows out, or their cells empty, if it says that no label was given"
    if name not in known and (len(set(known)) > 1 or share > 0.5):
        said += ", of no known answer)" if known else ")"
        raise InputError(f"{said} may be a class or none; {remedy}, and name it by a word if it is a class")
    if name not in known:
        tell(f"{said}) counts as a class; {remedy}")


def _number(name: str) -> float:
    try:
        return float(name.rstrip("% ").replace(",", ".")) / (100 if name.endswith("%") else 1)
    except ValueError:
        return float("nan")


def read_true_labels(path: TableLike) -> dict[str, str]:
    """Known labels of tasks, from columns task, label."""
    return _of_tasks(path, TRUTH, "label")


def true_classes(known: dict[str, str], labels: Labels, source: str) -> Ints:
    """Class of each task of the labels.

    known: task -> its truth; labels: of the tasks and classes; source: the file they are from, for the complaint when
    it knows none of the tasks; -> (tasks,): -1 where it is not known, one beyond the last for a label that nobody gave.
    Raises InputError if no task of the labels is known.
    """
    place = places(labels.classes)
    truth = np.array([place.get(known[task], len(place)) if task in known else -1 for task in labels.tasks])
    if (truth < 0).all():
        raise InputError(f"{source} knows none of the tasks in the label table; check the ids")
    return truth


def read_truth(path: TableLike, labels: Labels) -> Ints:
    """Class of each task of the labels, (tasks,), from a table task,label of known ones (:func:`true_classes`)."""
    return true_classes(read_true_labels(path), labels, name_of(path))


def read_types(path: TableLike | None, tasks: Sequence[str]) -> tuple[Ints, list[str]]:
    """Type of each labelled task, and the types' names, sorted; without a table every task is of type ``all``.

    path: columns task and type; -> type (tasks,): place of each task's type among the names.
    """
    if path is None:
        return np.zeros(len(tasks), np.int64), ["all"]
    given = _of_tasks(path, TYPES_OF_TASKS, "type")
    missing = next((task for task in tasks if task not in given), None)
    if missing is not None:
        raise InputError(f"{name_of(path)} has no type for task {missing!r}; every labelled task needs one")
    names = sorted({given[task] for task in tasks})
    return coded((given[task] for task in tasks), names), names


def campaign_pairs(table: Table, instance: AssignmentInstance) -> Ints:
    """Task and worker of each row, (rows, 2), in the campaign's indices; InputError for others' ids."""
    tasks = instance.task_places
    workers = instance.worker_places
    remedy = "it is not in the campaign"
    return np.column_stack([table.places("task", tasks, remedy), table.places("worker", workers, remedy)])


def pair_ids(instance: AssignmentInstance, pairs: Ints) -> list[list[str]]:
    """Ids of the tasks and of the workers of pairs (k, 2)."""
    return [[instance.task_id(i) for i in pairs[:, 0].tolist()], [instance.worker_id(j) for j in pairs[:, 1].tolist()]]


def _of_tasks(path: TableLike, kind: TableKind, column: str) -> dict[str, str]:
    table = read_table(path, kind)
    return dict(zip(table.unique_ids("task"), table.ids(column), strict=True))
