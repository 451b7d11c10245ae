"""What came back from a tool, as a folder: ``labels.csv`` for ``aggregate``, and everything else that was done."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import Annotation, Annotations, latest
from crowdopt.io.cells import write_csv
from crowdopt.io.folders import new_folder
from crowdopt.io.schema import LABELS
from crowdopt.io.tables import read_table
from crowdopt.notebooks import InNotebooks

PULLED = "pulled.json"  # the file that tells such a folder
FORMULA = re.compile(r"[=+@]|-(?!\d+(\.\d+)?$)")  # how a text begins that a spreadsheet computes; -1 stays what it is
COLUMNS = ("task", "worker", "label", "seconds", "when", "gold")
LOST = ("why", "place")  # of what does not count, beside these


@dataclass(frozen=True, eq=False)
class Pulled(InNotebooks):
    """Annotations sorted by what becomes of them.

    Parameters
    ----------
    labels : list of Annotation
        One of each pair of the campaign's tasks and workers.
    skipped : list of Annotation
        Cancelled ones, and those handed in without a label.
    others : list of (Annotation, str)
        Labels that do not count, and why.
    truth : dict
        Task -> true label, as the tool marks it.
    source : str
    new : int
        Labels that were not in the folder yet; all of them before there was one.
    repeated : int
        Rows that were read twice.
    """

    labels: list[Annotation]
    skipped: list[Annotation]
    others: list[tuple[Annotation, str]]
    truth: dict[str, str]
    source: str
    new: int = 0
    repeated: int = 0

    @property
    def formulas(self) -> int:
        """Rows with a text that a spreadsheet would compute; it is kept, for an id that is changed is another id."""
        rows = [*self.labels, *self.skipped, *(row for row, _ in self.others)]
        marks = sum(any(map(FORMULA.match, pair)) for pair in self.truth.items())
        return marks + sum(any(map(FORMULA.match, (row.task, row.worker, row.label))) for row in rows)

    @property
    def silent(self) -> dict[str, int]:
        """Worker -> labels that they were asked for and did not give, most first."""
        return dict(Counter(row.worker for row in self.skipped).most_common())

    @property
    def facts(self) -> dict[str, Any]:
        """How many of each."""
        return {
            "source": self.source,
            "read": len(self.labels) + len(self.skipped) + len(self.others) + self.repeated,
            "labels": len(self.labels),
            "skipped": len(self.skipped),
            "skipped_by": self.silent,
            "others": len(self.others),
            "truth": len(self.truth),
        }


def sort_out(annotations: Annotations, instance: AssignmentInstance) -> Pulled:
    """Which annotations are labels of a campaign."""
    tasks = set(instance.task_ids)
    workers = set(instance.worker_ids)
    every, replaced = latest(annotations.rows)
    others = [(row, "replaced by a later one") for row in replaced]
    labels: list[Annotation] = []
    skipped: list[Annotation] = []
    for row in every:
        if row.refused:
            others.append((row, row.refused))
        elif row.task not in tasks or row.worker not in workers:
            what = "task" if row.task not in tasks else "worker"
            others.append((row, f"no {what} of the campaign"))
        else:
            (labels if row.counts else skipped).append(row)
    repeated = len(annotations.rows) - len(every) - len(replaced)
    return Pulled(labels, skipped, others, dict(annotations.truth), annotations.source, repeated=repeated)


def cells(rows: Iterable[Annotation]) -> list[list[Any]]:
    """Columns of annotations."""
    given = [
        (
            row.task,
            row.worker,
            row.label,
            "" if row.seconds is None else row.seconds,
            row.when,
            "yes" if row.gold else "",
        )
        for row in rows
    ]
    return [list(column) for column in zip(*given, strict=True)] if given else [[] for _ in COLUMNS]


def labels_there(folder: Path) -> dict[tuple[str, str], str] | None:
    """Labels of a folder that was pulled before: pair -> label; None where there is none."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if not (folder / PULLED).is_file():
        raise InputError(f"{folder} holds something else; choose a new folder, or one that a pull wrote")
    table = read_table(folder / "labels.csv", LABELS)
    return dict(zip(zip(table["task"], table["worker"], strict=True), table["label"], strict=True))


def check_nothing_lost(pulled: Pulled, there: dict[tuple[str, str], str], folder: Path, force: bool) -> None:
    """Refuse what a label that was pulled before is gone from, or another one in.

    pulled: what the tool has now; there: what the folder has: pair -> label.
    """
    now = {(row.task, row.worker): row.label for row in pulled.labels}
    changed = [pair for pair, label in there.items() if now.get(pair) != label]
    if changed and not force:
        task, worker = changed[0]
        what = "is gone" if changed[0] not in now else f"is {now[changed[0]]!r} now"
        raise InputError(
            f"{len(changed)} label(s) in {folder} are not what the tool has now: that of {worker} for task {task}, "
            f"{there[changed[0]]!r}, {what}; pull into another folder, or pass --force to take the tool's word"
        )


def write_pulled(pulled: Pulled, folder: Path) -> None:
    """Write the folder, whole or not at all, in place of one that was pulled before."""
    others = [[*column] for column in cells(row for row, _ in pulled.others)]
    with new_folder(folder, PULLED, force=True) as new:
        write_csv(new / "labels.csv", COLUMNS, cells(pulled.labels))
        write_csv(new / "skipped.csv", COLUMNS, cells(pulled.skipped))
        why = [[reason for _, reason in pulled.others], [row.place for row, _ in pulled.others]]
        write_csv(new / "others.csv", (*COLUMNS, *LOST), [*others, *why])
        write_csv(new / "truth.csv", ("task", "label"), [list(pulled.truth), list(pulled.truth.values())])
        write_json(new / PULLED, pulled.facts)
