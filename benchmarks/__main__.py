"""Every published figure: the list, which are stale, and made anew.

    python -m benchmarks                    # the list: what makes each figure, and where it stands
    python -m benchmarks status             # which are stale: the code under them has changed since they were made
    python -m benchmarks run [NAME ...]     # makes figures anew (default: the stale ones) and keeps what was printed

What a command prints goes to build/figures/NAME.txt as well; pictures are written where pages show them, tables are
copied into the pages by hand. `states.json` keeps, for each figure, when, from which commit, by which versions and from
which code it was made. A run that is stopped goes on with the figures that are left. `{code}` in a command is the
hash of the code, so that what an older state left in build/ is not taken for new.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import Any

import crowdopt
from crowdopt.files import write_text

ROOT = Path(__file__).parent.parent
LIST, STATES = ROOT / "benchmarks" / "figures.toml", ROOT / "benchmarks" / "states.json"
PRINTED = ROOT / "build" / "figures"
LIBRARIES = ("numpy", "scipy", "numba", "highspy", "pulp", "cvxpy")
FRESH, STALE, UNKNOWN = "fresh", "stale", "no record"


@dataclass(frozen=True)
class Figure:
    """A table or picture: the commands that make it, where it stands, the rooms that its figures rest on."""

    name: str
    commands: tuple[str, ...]
    stands: tuple[str, ...]
    rooms: tuple[str, ...]

    @property
    def scripts(self) -> list[Path]:
        """The files in benchmarks/ that its commands run."""
        words = [word for command in self.commands for word in command.split()]
        files = [ROOT / word for word in words if word.endswith(".py")]
        modules = [ROOT / f"{word.replace('.', '/')}.py" for word in words if word.startswith("benchmarks.")]
        return list(dict.fromkeys([*files, *modules]))

    def digest(self) -> str:
        """A hash of the code that its figures rest on: its scripts and every module of its rooms."""
        found = [path for room in self.rooms for path in sorted((ROOT / "crowdopt" / room).rglob("*.py"))]
        hashed = sha256()
        for path in [*self.scripts, *found]:
            hashed.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
        return hashed.hexdigest()[:16]


def figures() -> dict[str, Figure]:
    """All of them, by name."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return {
        name: Figure(name, *(tuple(entry[key]) for key in ("commands", "stands", "rooms")))
        for name, entry in listed.items()
    }


def states() -> dict[str, dict[str, Any]]:
    """What is known of when each was made."""
    known: dict[str, dict[str, Any]] = json.loads(STATES.read_text(encoding="utf-8")) if STATES.exists() else {}
    return known


def state_of(figure: Figure, known: dict[str, dict[str, Any]]) -> str:
    """Fresh, stale or no record."""
    if figure.name not in known:
        return UNKNOWN
    return FRESH if known[figure.name]["code"] == figure.digest() else STALE


def make(figure: Figure) -> bool:
    """Run a figure's commands one after another, show and keep what they print; False where one fails."""
    began, code = monotonic(), figure.digest()
    PRINTED.mkdir(parents=True, exist_ok=True)
    with (PRINTED / f"{figure.name}.txt").open("w", encoding="utf-8") as kept:
        for command in (command.replace("{code}", code) for command in figure.commands):
            print(f"+ python {command}", file=kept, flush=True)
            with subprocess.Popen(
                [sys.executable, *command.split()], cwd=ROOT, stdout=subprocess.PIPE, text=True
            ) as child:
                assert child.stdout is not None
                for line in child.stdout:
                    print(line, end="", flush=True)
                    kept.write(line)
            if child.returncode:
                print(f"{figure.name}: python {command} ended with {child.returncode}; the figure keeps its old state")
                return False
    write_text(STATES, _text({**states(), figure.name: _made(code, monotonic() - began)}), replace=True)
    return True


def _made(code: str, seconds: float) -> dict[str, Any]:
    """The state of a figure that was just made."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    dirty = subprocess.run(["git", "status", "--porcelain", "crowdopt"], cwd=ROOT, capture_output=True, text=True)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": (commit.stdout.strip()[:12] or "unknown") + (" and changes" if dirty.stdout.strip() else ""),
        "code": code,
        "seconds": round(seconds),
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


def _text(content: Any) -> str:
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def show(wanted: list[Figure], known: dict[str, dict[str, Any]]) -> int:
    """A line a figure; the number of those that are not fresh."""
    for figure in wanted:
        made = known.get(figure.name)
        when = "" if made is None else f"  {made['date']}, commit {made['commit']}, {made['seconds']} s"
        print(f"{figure.name:14} {state_of(figure, known):10}{when}")
    return sum(state_of(figure, known) != FRESH for figure in wanted)


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
        return min(1, show(wanted, known))
    todo = wanted if given.names else [figure for figure in wanted if state_of(figure, known) != FRESH]
    return min(1, sum(not make(figure) for figure in todo))


if __name__ == "__main__":
    sys.exit(main())
