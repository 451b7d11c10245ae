"""The suites of `crowdopt bench`: of each a table, a picture, and its page without a charting library.

    python -m benchmarks.suites [--claims] FOLDER [FOLDER ...]

Each is the folder of a suite, finished or not: what has no row yet is said. Prints the tables, writes
pictures/suite_NAME.svg and suites/NAME.html. With --claims it prints one table of them all instead: what each method
claimed, and how much of it is true.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from crowdopt.api.report import report
from crowdopt.bench.figures.method_claims import claim_table
from crowdopt.bench.run import benchmarked
from crowdopt.documents import Keys, read_json
from crowdopt.files import write_text
from crowdopt.report.benchmark_page import CLAIMS, NAMES, profile_chart
from crowdopt.report.charts import save

HERE = Path(__file__).parent
PAGES, PICTURES = HERE / "suites", HERE / "pictures"
LINK = "../../benchmarks"  # from the guide of bench
MAIN = ("assignment", "ip")


def table(comparisons: list[dict[str, Any]]) -> list[str]:
    """A line a method: how many cases of each kind it settled, and its mean seconds."""
    kinds = [NAMES[f"{one['family']} {one['program']}"] for one in comparisons]
    cells: dict[str, list[str]] = {}
    for k, one in enumerate(comparisons):
        for row in one["methods"]:
            line = cells.setdefault(row["method"], [""] * len(kinds))
            line[k] = f"{row['settled']}/{row['cases']}, {row['seconds']:.2g} s"
    lines = [f"| method | {' | '.join(kinds)} |", "|---" * (1 + len(kinds)) + "|"]
    return [*lines, *(f"| {method} | {' | '.join(line)} |" for method, line in cells.items())]


def picture(name: str, comparison: dict[str, Any], limit: float) -> str:
    """The profile of plans in whole labels, small; returns the page's line for it."""
    cases = len({(row["problem"], row["seed"]) for row in comparison["results"]})
    title = {"text": f"Suite {name}: plans in whole labels", "subtitle": f"{cases} programs, {limit:g} s each"}
    path = PICTURES / f"suite_{name}.svg"
    save(profile_chart(comparison).properties(width=420, height=180, title=title), path)
    said = f"Share of the suite {name} that each method settled within a factor of the fastest one's seconds"
    return f"![{said}]({LINK}/{path.relative_to(HERE).as_posix()})"


def shown(folder: Path) -> list[str]:
    """What the guide shows of a suite; its page and picture are written."""
    text = report(folder).read_text(encoding="utf-8")
    summary = read_json(folder / "summary.json", Keys(open=True))
    name, limits, run = summary["title"].removeprefix("suite "), summary["limits"], summary["run"]
    PAGES.mkdir(exist_ok=True)
    write_text(PAGES / f"{name}.html", text, replace=True)
    missing = f", {summary['missing']} more were not run in the time there was" if summary["missing"] else ""
    whose = f"{limits['seconds']:g} s, {limits['megabytes']:g} MB and {limits['threads']} thread each"
    when = f"{run['started'][:10]}, {run['cores']} cores, load {run['load']:.1f} at the start"
    lines = [
        f"Suite `{name}`: {summary['rows']} runs{missing}; {whose}; {when} ([all rows]({LINK}/suites/{name}.html))."
    ]
    lines += ["", *table(summary["comparisons"]), ""]
    main = [one for one in summary["comparisons"] if (one["family"], one["program"]) == MAIN]
    return [*lines, *(picture(name, one, limits["seconds"]) for one in main), ""]


def claimed(folders: list[Path]) -> list[str]:
    """What methods claimed in all these suites, and how much of it is true; what no method claimed has no column."""
    several = [benchmarked(folder) for folder in folders]
    rows = claim_table([result for one in several for result in one.results])
    seen = [key for key in CLAIMS if key != "method" and any(row[key] for row in rows)]
    titles = ", ".join(f"{one.known['title'].removeprefix('suite ')} {len(one.results)}" for one in several)
    limits = several[0].known["limits"]
    missing = sum(len(one.known["subjects"]) - len(one.results) for one in several)
    left = f", {missing} more were not run in the time there was" if missing else ""
    lines = [f"Runs by suite: {titles}{left}; {limits['seconds']:g} s and {limits['threads']} thread each.", ""]
    lines += [f"| method | {' | '.join(CLAIMS[key] for key in seen)} |", "|---" + "|--:" * len(seen) + "|"]
    return [*lines, *(f"| {row['method']} | {' | '.join(str(row[key] or '') for key in seen)} |" for row in rows)]


def main() -> None:
    """Print what the guide shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--claims", action="store_true")
    given = parser.parse_args()
    pages = [claimed(given.folders)] if given.claims else map(shown, given.folders)
    for lines in pages:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
