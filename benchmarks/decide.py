"""Which method for which instance: out of finished benchmarks, the decision that `solve --method auto` follows.

    python -m benchmarks.decide FOLDER [FOLDER ...]

A program counts once all methods of its folder have tried it, and of two folders the first counts; all must have given
each solve the same seconds. Writes assets/decision.json in crowdopt/bench, and the table in its README.md, between its
two marks.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.decision_tree import decided
from benchmarks.losses import finished, losses_of
from crowdopt.bench.figures.advice import FILE, VERSION
from crowdopt.bench.figures.history import Benchmarked
from crowdopt.bench.harness.results import Result
from crowdopt.bench.run import benchmarked
from crowdopt.files import write_text

BENCH = Path(__file__).parent.parent / "crowdopt" / "bench"
MARKS = "<!-- decision -->\n", "<!-- end of decision -->\n"
FACTS = ("processor", "cores", "load", "python")


def together(several: list[Benchmarked]) -> list[Result]:
    """The results of all runs that are finished; of a run that is in two folders, those of the first."""
    results: list[Result] = []
    for one in several:
        known = {result.subject.run for result in results}
        own = finished(one.results, one.known["subjects"])
        results += [result for result in own if result.subject.run not in known]
    return results


def decision(several: list[Benchmarked]) -> dict[str, Any]:
    """The decision, and what it was made from."""
    limits = [one.known["limits"] for one in several]
    if len({limit["seconds"] for limit in limits}) > 1:
        raise SystemExit("the folders gave their solves different seconds; measure them at one limit")
    losses = losses_of(together(several), limits[0]["seconds"])
    chosen = decided(losses)
    if chosen is None:
        raise SystemExit("too few problems, or no method that took part in all of them")
    made = {
        "by": "python -m benchmarks.decide",
        "from": [one.known["title"] for one in several],
        "date": max(one.run["started"] for one in several)[:10],
        "instances": len(losses.instances),
        "problems": len({problem for problem, _ in losses.instances}),
        **{key: limits[0][key] for key in ("seconds", "megabytes", "threads")},
        "machine": {key: several[0].run[key] for key in FACTS},
        "versions": {key: version for one in several for key, version in one.known["versions"].items()},
    }
    return {"version": VERSION, "made": made, **chosen.table()}


def as_markdown(content: dict[str, Any]) -> str:
    """The table with its conditions, for the guide."""
    made = content["made"]
    measured = (
        f"Measured {made['date']} on {made['instances']} programs of {made['problems']} problems "
        f"({'; '.join(made['from'])}): {made['seconds']:g} s, {made['megabytes']:g} MB and {made['threads']} thread "
        f"each, on {made['machine']['cores']} cores shared with other work ({made['machine']['processor']}); "
        f"crowdopt {made['versions']['crowdopt']}."
    )
    lines = ["| row | instances with | use | seconds / virtual best | programs | then |", "|---|---|---|---|---|---|"]
    for number, row in enumerate(content["rows"], 1):
        cells = [f"`{row['use'][0]}`", f"{row['factor']:.2f}", str(row["instances"]), ", ".join(row["use"][1:])]
        lines.append(f"| {number} | {row['when'] or 'all'} | {' | '.join(cells)} |")
    return "\n\n".join([measured, "\n".join(lines), sentence(content)]) + "\n"


def sentence(content: dict[str, Any]) -> str:
    """What following the table costs."""
    said = (
        f"Following the table is expected to take {content['expected']:.3g} times the seconds of the virtual best, "
        f"who always picks the fastest; the single best solver, {content['single']}, takes "
        f"{content['single_expected']:.3g} times. Each problem was left out once, and the table that the others make "
        "chose for it. A program that was not settled counts the limit, and up to twice as much the further its plan "
        "is from the best one known."
    )
    if len(content["rows"]) == 1:
        return f"{said} A table of more rows does no better on problems that it does not know."
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    content = decision([benchmarked(folder) for folder in parser.parse_args().folders])
    write_text(BENCH / "assets" / FILE, json.dumps(content, indent=1) + "\n", replace=True)
    page = BENCH / "README.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    page.write_text(before + MARKS[0] + as_markdown(content) + MARKS[1] + after, encoding="utf-8")
    print(as_markdown(content))


if __name__ == "__main__":
    main()
