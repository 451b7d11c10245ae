"""RTE's two tables into ours: labels with their truth, and the setting of each pair of sentences as its type.

python -m benchmarks.papers.sources.rte rte.standardized.tsv rte1.tsv -o DATA/rte
"""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.papers.sources.tables import arguments, numbered, write


def convert(labels: Path, settings: Path, folder: Path) -> None:
    """1 is "follows", 0 is not; types are the settings of the RTE-1 challenge (CD, IE, IR, MT, PP, QA, RC)."""
    rows = _rows(labels)
    number = numbered(row["!amt_worker_ids"] for row in rows)
    truth = {row["orig_id"]: row["gold"] for row in rows}
    setting = {row["id"]: row["task"] for row in _rows(settings)}
    said = [(row["orig_id"], number[row["!amt_worker_ids"]], row["response"]) for row in rows]
    write(folder, said, truth, {task: setting[task] for task in truth})


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


if __name__ == "__main__":
    given = arguments(__doc__, "labels", "settings")
    convert(given.labels, given.settings, given.output)
