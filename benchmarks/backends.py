"""The papers' crowds by every backend that works here: the table and the picture of solver backends.

python benchmarks/backends.py FOLDER

Measures what FOLDER does not have yet, at most half an hour; writes its section of benchmarks/README.md, between the
two marks, and pictures/backends.png.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from crowdopt.benching.methods import chosen
from crowdopt.benching.run import Benchmark
from crowdopt.benching.subject import Limits
from crowdopt.pages.benchmark_page import NAMES, OUTCOMES, means_chart
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
LIMITS = Limits(seconds=10.0, megabytes=4000.0)
MARKS = "<!-- backends -->\n", "<!-- end of backends -->\n"


def cell(value: float | None, digits: str = ".2g") -> str:
    return "" if value is None else format(value, digits)


def methods_table(rows: list[dict]) -> str:
    """One line a method: what it settled, how fast, what became of the rest."""
    seen = [outcome for outcome in OUTCOMES if any(outcome in row for row in rows)]
    head = ["method", "settled", "seconds", "95 % interval", "MB", *seen]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        spread = f"{cell(row['seconds_low'])} to {cell(row['seconds_high'])}"
        facts = [row["method"], f"{row['settled']}/{row['cases']}", cell(row["seconds"]), spread]
        lines.append([*facts, cell(row["megabytes"], ".0f"), *(str(row.get(outcome, "")) for outcome in seen)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(summary: dict) -> str:
    run, limits = summary["run"], summary["limits"]
    versions = ", ".join(f"{name} {version}" for name, version in run["libraries"].items())
    parts = [
        f"`python benchmarks/backends.py`, {run['started'][:10]}, crowdopt {summary['versions']['crowdopt']}, Python "
        f"{run['python']}, {run['system']}, {run['cores']} cores shared with other work; {limits['seconds']:g} s, "
        f"{limits['megabytes']:g} MB and {limits['threads']} thread for each subject. {versions}.",
        "\n".join(f"- {sentence}" for sentence in summary["verdict"]),
    ]
    for one in summary["comparisons"]:
        parts += [f"### {NAMES[one['family'] + ' ' + one['program']]}", methods_table(one["methods"])]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    cases = [case for name, programs, seeds in SUITE for case in product([name], programs, range(seeds))]
    summary = measure(Benchmark("the papers' suite", tuple(cases), tuple(chosen([])), LIMITS), folder)
    whole = next(one for one in summary["comparisons"] if (one["family"], one["program"]) == ("assignment", "ip"))
    count, limit = len({(row["problem"], row["seed"]) for row in whole["results"]}), summary["limits"]["seconds"]
    title = {
        "text": f"Who settles how many of {count} assignment problems in whole labels, and how fast",
        "subtitle": f"shifted geometric mean of seconds, 95 % interval over seeds; unsettled counts {limit:g} s",
    }
    (HERE / "pictures").mkdir(exist_ok=True)
    save(means_chart(whole).properties(width=520, title=title), HERE / "pictures" / "backends.png")
    page = HERE / "README.md"
    before, rest = page.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    page.write_text(before + MARKS[0] + section(summary) + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    main()
