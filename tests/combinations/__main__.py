"""Draw campaigns, plan them, hold every claim against the checker, and print what came out.

``python -m tests.combinations --size 300x25 --count 200 --seconds 15 -o table.jsonl``; ``--only SEED`` runs one alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path

from tests.combinations.measured import Row, measure
from tests.combinations.tables import brief, failed, report, sentence
from tests.draw import NotDealt, planned

SIZES = ["3x5", "40x15", "300x25", "3000x800"]
WARM = ("", "hoeffding", "probit", "exact-error", "classes exact-error", "difficulty", "least-labels most-share")
WARM += ("least-loads priors", "prices-by-type targets", "families own-row")  # their loops compile before time counts
WARM_SECONDS = 3.0


def main() -> None:
    """The command."""
    asked = _arguments()
    path = None if asked.output is None else Path(asked.output)
    known = [] if path is None else [row for row in _read(path) if row.limit == asked.seconds]
    rows = {(row.size, row.seed, row.method): row for row in known}
    seeds = range(asked.seed, asked.seed + asked.count) if asked.only is None else [asked.only]
    try:
        for row in _rows(asked.size or SIZES, seeds, asked, set(rows)):
            rows[row.size, row.seed, row.method] = row
            if path is not None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
            if not asked.brief and (failed(row) or asked.only is not None or asked.each):
                print(sentence(row), flush=True)
    except KeyboardInterrupt:
        print("stopped; the rows so far:")
    print((brief if asked.brief else report)(list(rows.values())))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.combinations", description=__doc__.splitlines()[0])
    parser.add_argument("--size", action="append", help="tasks x workers; may be given several times")
    parser.add_argument("--method", action="append", help="exact, highs, …; may be given several times")
    parser.add_argument("--count", type=int, default=20, help="campaigns of each size")
    parser.add_argument("--seconds", type=float, default=15.0, help="time limit of each")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--only", type=int, help="this seed alone")
    parser.add_argument("--each", action="store_true", help="print each row as it comes, not only what failed")
    parser.add_argument("--brief", action="store_true", help="one table, nothing else")
    parser.add_argument("--no-folders", action="store_true", help="do not write plans for verify")
    parser.add_argument("-o", "--output", help="JSON lines of rows; those that are there are not run again")
    return parser.parse_args()


def _rows(sizes: list[str], seeds: range | list[int], asked: argparse.Namespace, done: set) -> Iterator[Row]:
    todo = [one for one in product(sizes, seeds, asked.method or ["exact"]) if one not in done]
    for wishes in WARM if todo else ():
        measure(planned(0, 40, 15, wishes, skills="three"), WARM_SECONDS, folders=not asked.no_folders)
    for size, seed, method in todo:
        tasks, workers = map(int, size.split("x"))
        try:
            drawn = planned(seed, tasks, workers)
            yield measure(drawn, asked.seconds, seed=seed, folders=not asked.no_folders, method=method)
        except NotDealt as error:
            print(error, flush=True)


def _read(path: Path) -> list[Row]:
    """Rows of an earlier run; a last line that was cut off goes."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return [Row(**json.loads(line)) for line in whole.splitlines()]


if __name__ == "__main__":
    main()
