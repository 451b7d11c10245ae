"""The papers' crowds by every backend that works here: the table and the picture of solver backends.

python benchmarks/backends.py FOLDER

Measures what FOLDER does not have yet, at most half an hour; writes its section of benchmarks/README.md, between the
two marks, and pictures/backends.png.
"""

from __future__ import annotations

import argparse
from datetime import date
from itertools import product
from pathlib import Path

from crowdopt.benching.run import Benchmark, chosen
from crowdopt.pages.benchmark_page import METHODS, means_chart
from crowdopt.pages.charts import save
from crowdopt.verbs.bench import measure

HERE = Path(__file__).parent
SUITE = (  # problems, their programs, and how many seeds of each
    ("R1:50x20", ("ip",), 3),
    ("R10:50x20", ("ip",), 2),
    ("L3:50x20", ("ip",), 2),
    ("R10:50x20:priced", ("ip",), 1),
    ("SELECT:40x20", ("ip",), 3),
    ("SELECT:40x20", ("lp",), 1),
    ("SELECT:40x20:priced", ("ip",), 3),
    ("K3:1000x300", ("ip",), 1),
    ("HS:1000x300", ("ip", "lp"), 1),
    ("R10:1000x300", ("ip", "lp"), 1),
)
SECONDS = 10.0
MARKS = "<!-- backends -->\n", "<!-- end of backends -->\n"


def methods_table(rows: list[dict], outcomes: dict) -> str:
    """One line a method: what it settled, how fast, what became of the rest."""
    columns = {**METHODS, **{outcome: outcome for outcome in outcomes if any(outcome in row for row in rows)}}
    lines = [list(columns.values()), ["---"] * len(columns)]
    lines += [[_cell(row.get(key, "")) for key in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    return (
        f"{value:.2g}"
        if isinstance(value, float) and value < 100
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value or "")
    )


def section(summary: dict) -> str:
    limits, versions = (
        summary["limits"],
        ", ".join(f"{name} {version}" for name, version in summary["versions"].items()),
    )
    parts = [
        f"`python -m benchmarks.backends FOLDER`, {date.today()}; {summary['machine']}, shared with other work; "
        f"{limits['seconds']:g} s, {limits['megabytes']:g} MB and {limits['threads']} thread for each run. {versions}.",
        "\n".join(f"- {sentence}" for sentence in summary["verdict"]),
    ]
    for one in summary["comparisons"]:
        parts += [f"### {one['kind'][0].upper()}{one['kind'][1:]}", methods_table(one["methods"], summary["outcomes"])]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    cases = [case for name, programs, seeds in SUITE for case in product([name], programs, range(seeds))]
    summary = measure(Benchmark("the papers' suite", tuple(cases), tuple(chosen([])), SECONDS), folder)
    whole = next(one for one in summary["comparisons"] if one["program"] == "ip")
    count, limit = len({(row["problem"], row["seed"]) for row in whole["results"]}), summary["limits"]["seconds"]
    title = {
        "text": f"Who settles how many of {count} programs in whole numbers, and how fast",
        "subtitle": f"shifted geometric mean of seconds; unsettled counts {limit:g} s",
    }
    (HERE / "pictures").mkdir(exist_ok=True)
    save(means_chart(whole).properties(width=520, title=title), HERE / "pictures" / "backends.png")
    page = HERE / "README.md"
    before, rest = page.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    page.write_text(before + MARKS[0] + section(summary) + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    main()
