"""Draw campaigns, plan them, hold every claim against the checker, and print what came out.

``python -m tests.combinations --size 300x25 --count 200 --seconds 15``; ``--only SEED`` runs one alone.
"""

from __future__ import annotations

import argparse
from itertools import product

from tests.combinations.measured import Row, measure
from tests.combinations.tables import brief, failed, report, sentence
from tests.draw import NotDealt, planned

SIZES = ["3x5", "40x15", "300x25", "3000x800"]
WARM = ("", "hoeffding", "probit", "exact-error", "classes exact-error", "difficulty", "least-labels most-share")
WARM += ("least-loads priors", "prices-by-type targets", "families own-row")  # their loops compile before time counts
WARM_SECONDS = 3.0


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.combinations", description=__doc__.splitlines()[0])
    parser.add_argument("--size", action="append", help="tasks x workers; may be given several times")
    parser.add_argument("--method", action="append", help="exact, highs, …; may be given several times")
    parser.add_argument("--count", type=int, default=20, help="campaigns of each size")
    parser.add_argument("--seconds", type=float, default=15.0, help="time limit of each")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--only", type=int, help="this seed alone")
    parser.add_argument("--brief", action="store_true", help="one table, nothing else")
    parser.add_argument("--no-folders", action="store_true", help="do not write plans for verify")
    asked, rows = parser.parse_args(), list[Row]()
    for wishes in WARM:
        measure(planned(0, 40, 15, wishes, skills="three"), WARM_SECONDS, folders=not asked.no_folders)
    seeds = range(asked.seed, asked.seed + asked.count) if asked.only is None else [asked.only]
    try:
        for size, seed, method in product(asked.size or SIZES, seeds, asked.method or ["exact"]):
            try:
                drawn = planned(seed, *map(int, size.split("x")))
                rows.append(measure(drawn, asked.seconds, seed=seed, folders=not asked.no_folders, method=method))
            except NotDealt as error:
                print(error, flush=True)
                continue
            if not asked.brief and (failed(rows[-1]) or asked.only is not None):
                print(sentence(rows[-1]), flush=True)
    except KeyboardInterrupt:
        print("stopped; the rows so far:")
    print((brief if asked.brief else report)(rows))


if __name__ == "__main__":
    main()
