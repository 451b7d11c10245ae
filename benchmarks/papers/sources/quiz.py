"""A quiz of Li, Baba & Kashima into tables: one row per question, one column per worker, options as letters.

python -m benchmarks.papers.sources.quiz answer.csv truth.csv -o DATA/quiz_medicine
"""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.papers.sources.tables import arguments, numbered, write


def convert(answers: Path, truth: Path, folder: Path) -> None:
    """Every worker answers every question."""
    with answers.open(encoding="utf-8-sig", newline="") as file:
        questions = list(csv.DictReader(file))
    number = numbered(name for name in questions[0] if name != "question_id")
    rows = [(row["question_id"], number[who], row[str(who)]) for row in questions for who in number]
    with truth.open(encoding="utf-8-sig", newline="") as file:
        known = {row["question_id"]: row["truth"] for row in csv.DictReader(file)}
    write(folder, rows, known)


if __name__ == "__main__":
    given = arguments(__doc__, "answers", "truth")
    convert(given.answers, given.truth, given.output)
