"""What every converter writes: labels.csv, truth.csv, types.csv where there are types; no worker's name."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path


def numbered(names: Iterable[Hashable]) -> dict[Hashable, int]:
    """A number for each name, by first appearance: sources carry ids of people, tables here do not."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def write(
    folder: Path,
    labels: Sequence[tuple[object, object, object]],
    truth: Mapping[object, object],
    types: Mapping[object, object] | None = None,
) -> None:
    """Write the tables: ``labels`` are (task, worker, label), of which a repeated (task, worker) counts once."""
    first: dict[tuple[object, object], object] = {}
    for task, worker, label in labels:
        first.setdefault((task, worker), label)
    folder.mkdir(parents=True, exist_ok=True)
    _table(folder / "labels.csv", ("task", "worker", "label"), [(*pair, label) for pair, label in first.items()])
    _table(folder / "truth.csv", ("task", "label"), truth.items())
    if types is not None:
        _table(folder / "types.csv", ("task", "type"), types.items())
    workers = {worker for _, worker in first}
    print(
        f"{folder}: {len(workers)} workers, {len(truth)} tasks, {len(first)} labels; "
        f"{len(labels) - len(first)} repeated labels left out"
    )


def _table(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def arguments(doc: str | None, *files: str) -> argparse.Namespace:
    """The source's files, and the folder to write."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in files:
        parser.add_argument(name, type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    return parser.parse_args()
