"""Sets of the other pages into tables: a file with a row for each label, and one with the truth where that is apart.

python -m benchmarks.papers.sources.more toolkit CF.csv -o DATA/cf
python -m benchmarks.papers.sources.more survey answer.csv truth.csv -o DATA/dog
python -m benchmarks.papers.sources.more snow temp.standardized.tsv -o DATA/temp

``toolkit``: rows worker, task, label, truth, ... without a header; ``survey``: question, worker, answer, and question,
truth; ``snow``: columns orig_id, !amt_worker_ids, response, gold, parted by tabs.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path

from benchmarks.papers.sources.tables import numbered, write


def toolkit(folder: Path, source: Path) -> None:
    """The truth stands beside each label."""
    rows = [row for row in _cells(source) if len(row) > 3]
    _write(folder, ((task, who, label) for who, task, label, *_ in rows), {row[1]: row[3] for row in rows})


def survey(folder: Path, answers: Path, truth: Path) -> None:
    """Both tables have a header, which is left out."""
    known = {row[0].strip(): row[1].strip() for row in _cells(truth)[1:] if len(row) > 1}
    _write(folder, (tuple(cell.strip() for cell in row[:3]) for row in _cells(answers)[1:] if len(row) > 2), known)


def snow(folder: Path, source: Path) -> None:
    """The truth stands beside each label, columns have names."""
    head, *rows = _cells(source, "\t")
    place = [head.index(name) for name in ("orig_id", "!amt_worker_ids", "response", "gold")]
    cells = [[row[k] for k in place] for row in rows]
    _write(folder, ((task, who, label) for task, who, label, _ in cells), {row[0]: row[3] for row in cells})


def _cells(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline=None) as file:
        return list(csv.reader(file, delimiter=delimiter))


def _write(folder: Path, rows: Iterable[tuple[str, ...]], truth: dict[str, str]) -> None:
    labels = list(rows)
    number = numbered(who for _, who, _ in labels)
    write(folder, [(task, number[who], label) for task, who, label in labels], dict(sorted(truth.items())))


FORMATS = {"toolkit": toolkit, "survey": survey, "snow": snow}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    given = parser.parse_args()
    FORMATS[given.format](given.output, *given.sources)


if __name__ == "__main__":
    main()
