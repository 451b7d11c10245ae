"""Bluebird's two YAML files into tables: a worker's answers are ``worker: {image: true, ...}``, the truth alike.

python -m benchmarks.papers.sources.bluebird labels.yaml gt.yaml -o DATA/bluebird
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.papers.sources.tables import arguments, numbered, write

WORKER = re.compile(r"(\d+): \{([^}]*)\}")
ANSWER = re.compile(r"(\d+): (true|false)")


def convert(labels: Path, truth: Path, folder: Path) -> None:
    """1 is "an Indigo Bunting", 0 is not."""
    said = WORKER.findall(labels.read_text(encoding="utf-8"))
    number = numbered(worker for worker, _ in said)
    rows = [(int(image), number[who], int(yes == "true")) for who, all_ in said for image, yes in ANSWER.findall(all_)]
    known = {int(image): int(yes == "true") for image, yes in ANSWER.findall(truth.read_text(encoding="utf-8"))}
    write(folder, rows, known)


if __name__ == "__main__":
    given = arguments(__doc__, "labels", "truth")
    convert(given.labels, given.truth, given.output)
