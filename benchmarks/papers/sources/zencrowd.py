"""ZenCrowd_all.csv into tables: rows ``worker,entity-address,label,truth,seconds`` without a header.

python -m benchmarks.papers.sources.zencrowd ZenCrowd_all.csv -o DATA/zencrowd_all
python -m benchmarks.papers.sources.zencrowd ZenCrowd_all.csv -o DATA/zencrowd_core5 --core 5

Tasks named ``*_undisclosedLink*`` are left out: every label and every truth of theirs is 0, and they flatter whatever
is measured on this file. ``--core k`` keeps the k workers with the most tasks in common, and those tasks.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from benchmarks.papers.sources.tables import numbered, write

EMPTY = "undisclosedLink"
BASES = {"dbpedia.org": "dbpedia", "freebase.com": "freebase", "geonames.org": "geonames", "nytimes.com": "nytimes"}
BEAM = 200  # sets of workers kept at each size


def convert(source: Path, folder: Path, core: int | None = None) -> None:
    """A task asks whether an address names an entity; its type is the knowledge base of the address."""
    with source.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if EMPTY not in row[1]]
    worker, task = numbered(row[0] for row in rows), numbered(row[1] for row in rows)
    labels = [(task[row[1]], worker[row[0]], int(row[2])) for row in rows]
    truth = {task[row[1]]: int(row[3]) for row in rows}
    types = {number: _base(str(name)) for name, number in task.items()}
    if core is not None:
        workers, tasks = most_in_common(labels, core)
        labels = [row for row in labels if row[1] in workers and row[0] in tasks]
        truth, types = ({key: value for key, value in table.items() if key in tasks} for table in (truth, types))
    write(folder, labels, truth, types)


def most_in_common(labels: list[tuple[int, int, int]], size: int) -> tuple[set[int], set[int]]:
    """The workers with the most tasks in common, by a beam search over sets; truth plays no part."""
    task, worker = np.array([row[0] for row in labels]), np.array([row[1] for row in labels])
    did = np.zeros((worker.max() + 1, task.max() + 1), bool)
    did[worker, task] = True
    beam = {frozenset([k]): did[k] for k in range(len(did))}
    for _ in range(size - 1):
        grown = {one | {k}: common & did[k] for one, common in beam.items() for k in range(len(did)) if k not in one}
        best = sorted(grown, key=lambda one: (-int(grown[one].sum()), sorted(one)))[:BEAM]
        beam = {one: grown[one] for one in best}
    chosen = next(iter(beam))
    return set(chosen), set(np.flatnonzero(beam[chosen]).tolist())


def _base(name: str) -> str:
    return next((base for address, base in BASES.items() if address in name), "other")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--core", type=int, help="keep so many workers, and the tasks that all of them labelled")
    given = parser.parse_args()
    convert(given.source, given.output, given.core)


if __name__ == "__main__":
    main()
