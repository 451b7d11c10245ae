"""Every published figure: the list, which are stale, and made anew.

    python -m benchmarks                    # the list: what makes each figure, and where it stands
    python -m benchmarks status             # which are stale: the code under them means something else than then; and
                                            # sentences with figures that are stale, or that no table has (prose.py)
    python -m benchmarks run [NAME ...]     # makes figures anew (default: the stale ones), and the pages that show them

What a command prints goes to build/figures/NAME.txt and between the marks of the pages where it stands (printed.py);
pictures are written where pages show them. `states.json` keeps, for each figure, when, from which commit, by which
versions, at which load and from which code it was made. Code is compared by its meaning (meaning.py): a comment, a
docstring, what an error says or a line broken in another place makes nothing stale. A run that is stopped goes on with
the figures that are left, and most commands with the trials that are.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any

import crowdopt
from benchmarks.figures import FRESH, ROOT, STATES, Figure, figures, state_of, states, text_of
from benchmarks.printed import blocks, paste
from benchmarks.prose import faults, pages, paragraphs
from crowdopt.files import write_text

PRINTED = ROOT / "build" / "figures"
LIBRARIES = ("numpy", "scipy", "numba", "highspy", "pulp", "cvxpy")


def make(figure: Figure) -> bool:
    """Run a figure's commands one after another, show and keep what they print; False where one fails."""
    began, code, commit, loads = monotonic(), figure.digest(), _commit(figure), [_load()]
    outputs = []
    for command in (command.replace("{code}", code) for command in figure.commands):
        printed, status = _run(command)
        outputs.append(printed)
        loads.append(_load())
        if status:
            print(f"{figure.name}: python {command} ended with {status}; the figure keeps its old state")
            return False
    PRINTED.mkdir(parents=True, exist_ok=True)
    listed = zip(figure.commands, outputs, strict=True)
    write_text(PRINTED / f"{figure.name}.txt", "".join(f"+ python {one}\n{said}" for one, said in listed), replace=True)
    for source, place in figure.pictures.items():
        shutil.copyfile(ROOT / source.replace("{code}", code), ROOT / place)
    made = {"commit": commit, "code": code, **_made(monotonic() - began, loads)}
    for page in figure.pages:
        paste(page, figure.name, outputs, sentence(made))
    made["shown"] = sorted(one.hash() for page in figure.pages for one in blocks(page) if one.figure == figure.name)
    write_text(STATES, text_of({**states(), figure.name: made}), replace=True)
    return True


def _run(command: str) -> tuple[str, int]:
    """What a command prints, shown on the way, and its exit status."""
    lines = []
    with subprocess.Popen([sys.executable, *command.split()], cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines), child.returncode


def _load() -> float:
    """Processes that want to run, mean over the last minute."""
    return round(os.getloadavg()[0], 1)


def _commit(figure: Figure) -> str:
    """What is checked out, and whether the figure's code has changes beyond it."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    asked = ["git", "status", "--porcelain", "--", *map(str, figure.files)]
    changes = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    return (head.stdout.strip()[:12] or "unknown") + (" and changes" if changes.stdout.strip() else "")


def _made(seconds: float, loads: list[float]) -> dict[str, Any]:
    """When, how long, on what and by which versions a figure was made."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(seconds),
        "load": [min(loads), max(loads)],
        "cores": os.cpu_count(),
        "versions": {"crowdopt": crowdopt.__version__, "python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def sentence(made: dict[str, Any]) -> str:
    """When and from what it was made, for the page; cores and versions stand in states.json."""
    low, high = made["load"]
    load = f"load {low:g}" if low == high else f"load {low:g} to {high:g}"
    return f"Printed on {made['date']}, commit {made['commit']}, {load}."


def show(wanted: list[Figure], known: dict[str, dict[str, Any]]) -> int:
    """A line a figure; the number of those that are not fresh."""
    for figure in wanted:
        made = known.get(figure.name)
        when = "" if made is None else f"  {made['date']}, commit {made['commit']}, {made['seconds']} s"
        print(f"{figure.name:14} {state_of(figure, known):10}{when}")
    return sum(state_of(figure, known) != FRESH for figure in wanted)


def show_prose(every: dict[str, Figure], known: dict[str, dict[str, Any]]) -> int:
    """A line for each marked paragraph of a page that is not in order; their number."""
    marked = [one for page in pages() for one in paragraphs(page)]
    wrong = [(one, found) for one in marked if (found := faults(one, every, known))]
    for one, found in wrong:
        print(f"prose {one.page.relative_to(ROOT).as_posix()}:{one.line}: {'; '.join(found)}")
    print(f"prose: {len(marked) - len(wrong)} of {len(marked)} marked paragraphs have fresh figures of their tables")
    return len(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["list", "status", "run"], default="list")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    every, known = figures(), states()
    if strange := sorted(set(given.names) - set(every)):
        parser.error(f"there is no figure {strange[0]!r}; there are {', '.join(every)}")
    wanted = [every[name] for name in given.names or every]
    if given.what == "list":
        for figure in wanted:
            print(f"{figure.name}: {', '.join(figure.stands)}")
            print("\n".join(f"    python {command}" for command in figure.commands))
        return 0
    if given.what == "status":
        stale = show(wanted, known)
        return min(1, stale if given.names else stale + show_prose(every, known))
    todo = wanted if given.names else [figure for figure in wanted if state_of(figure, known) != FRESH]
    return min(1, sum(not make(figure) for figure in todo))


if __name__ == "__main__":
    sys.exit(main())
