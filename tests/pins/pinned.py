"""Pins: transcripts of the command line and tables of figures, held against what the package does now.

A transcript (transcripts/NAME.txt) is what a user types, after ``$ ``, and what came back; lines after ``> `` are what
the command reads, ``[exit 1]`` is its status where that is not 0. `crowdopt` runs in this process, `write FILE` keeps
what it reads, `figures PATH` says what a file or folder holds, anything else goes to a shell. Words must be equal,
numbers within 1e-6 of their size, or within what a first line ``# within .01: why`` allows.

A table (tables/NAME.csv) has keys and figures. How near a figure must be stands behind its name: ``=`` exactly,
``~.01`` within a share, ``<.005`` and ``>.005`` at most that share higher or lower, and in the mean a fifth of that.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

HERE = Path(__file__).parent
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
FIGURE = re.compile(r"(\w+)([=~<>])([\d.e-]*)")
MASKS = (  # what differs between two equal runs
    (re.compile(r"^.*: \d+ row\(s\) in .* s\n|^\d+ s: .*\n", re.MULTILINE), ""),
    (re.compile(r"^(way out: .*|a plan for epsilon = .* exists: .*)\n", re.MULTILINE), ""),  # searched for a second
    (re.compile(r"^(tasks? )[^:\n]*?(?=( and \d+ more)?: \d+ label)", re.MULTILINE), r"\1…"),  # which of equals
    (re.compile(r"\b\d+(\.\d+)? s\b"), "T s"),
    (re.compile(r'"(started|seconds|versions)": ("[^"]*"|\{[^}]*\}|[\d.e-]+)'), r'"\1": "…"'),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"^[\w-]{32}$", re.MULTILINE), "TOKEN"),
)
OF_THE_BYTES = ("checked_sha256", "answers_sha256", "commitment", "version", "sentence")
STATED = ("status", "program", "proof", "objective", "bound", "rule", "epsilon", "times_targets", "parts")  # of a plan


SAME_SOLVER = version("highspy") == "1.15.1"  # another one may break ties between equally good plans in another way


class Difference(NamedTuple):
    """Where a pin and the package differ."""

    pin: str
    place: str
    was: str
    found: str


def names() -> list[str]:
    """Every pin: its file without the ending, in its folder."""
    return [
        f"{path.parent.name}/{path.stem}" for path in sorted(HERE.glob("t*/*.*")) if path.suffix in (".txt", ".csv")
    ]


def differences(name: str, only: str = "") -> list[Difference]:
    """What differs; of a table, in the rows that begin with a word if one is given."""
    return _of_table(name, only) if name.startswith("tables/") else _of_transcript(name)


def write(name: str, only: str = "") -> None:
    """Keep what the package does now."""
    if name.startswith("tables/"):
        path, (head, rows) = HERE / f"{name}.csv", _table(name)
        found = [row | _found(name, row) if row[head[0]].startswith(only) else row for row in rows]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([head, *([row[column] for column in head] for row in found)])
        return
    path = HERE / f"{name}.txt"
    title = "".join(re.findall(r"^#.*\n", path.read_text(encoding="utf-8"), re.MULTILINE))
    path.write_text(title + "".join(typed + found for typed, _, found in _typed(path)), encoding="utf-8")


def _of_transcript(name: str) -> list[Difference]:
    path = HERE / f"{name}.txt"
    within = re.search(r"^# within ([\d.e-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    share = float(within[1]) if within else 1e-6
    return [
        Difference(name, typed.splitlines()[0], was, found)
        for typed, was, found in _typed(path)
        if not near(was, found, share)
    ]


def near(was: str, found: str, share: float) -> bool:
    """Equal words, and numbers that are near each other; how columns are set apart does not count."""
    words, others = (re.sub(" +", " ", NUMBER.sub("#", text)) for text in (was, found))
    pairs = zip(NUMBER.findall(was), NUMBER.findall(found), strict=False) if SAME_SOLVER else ()
    return words == others and all(math.isclose(float(a), float(b), rel_tol=share, abs_tol=1e-9) for a, b in pairs)


def _typed(path: Path) -> Iterator[tuple[str, str, str]]:
    """Of each command: its lines, what came back when it was pinned, and what comes back now."""
    steps = re.split(r"^(?=\$ )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    with TemporaryDirectory() as folder, chdir(folder):
        Path("inputs").symlink_to(HERE / "inputs")
        for step in steps:
            command, given, was = re.fullmatch(r"\$ (.*)\n((?:>.*\n)*)((?:.*\n)*)", step).groups()
            found = run(command, re.sub(r"^> ?", "", given, flags=re.MULTILINE))
            for mask, instead in MASKS:
                found = mask.sub(instead, found)
            yield f"$ {command}\n{given}", was, found.replace(folder, "FOLDER")


def run(command: str, given: str) -> str:
    """What a command prints, and its status if that is not 0."""
    verb, *words = shlex.split(command)
    if verb == "write":
        Path(words[0]).parent.mkdir(parents=True, exist_ok=True)
        Path(words[0]).write_text(given, encoding="utf-8")
        return ""
    if verb == "figures":
        return "".join(f"{line}\n" for word in words for line in figures(Path(word)))
    if verb != "crowdopt" or "|" in words:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path}
        done = subprocess.run(command, shell=True, env=environment, input=given, capture_output=True, text=True)
        return done.stdout + done.stderr + (f"[exit {done.returncode}]\n" if done.returncode else "")
    from crowdopt.cli import main

    status: Any = 0
    with redirect_stdout(StringIO()) as out, redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda text, *_: print(f"crowdopt: note: {text}")  # as the command says it
        try:
            main(words, prog_name="crowdopt")
        except SystemExit as end:
            status = end.code or 0
    return out.getvalue() + (f"[exit {status}]\n" if status else "")


def figures(path: Path) -> Iterator[str]:
    """What was written: names of a folder and what its plan says; columns and number of rows; title of a page."""
    if path.is_dir():
        yield f"{path}: {' '.join(sorted(one.name for one in path.iterdir() if one.suffix != '.md'))}"
        path = path / "plan.json"
    if not path.exists():
        yield from () if path.name == "plan.json" else (f"{path}: not there",)
    elif path.suffix == ".json":
        told = json.loads(path.read_text(encoding="utf-8"))
        plain = [key for key in told if isinstance(told[key], int | float | str) and key not in OF_THE_BYTES]
        keys = STATED if path.name == "plan.json" else plain
        yield f"{path}: " + ", ".join(f"{key} {told[key]}" for key in keys if told.get(key) not in (None, ""))
    elif path.suffix == ".csv":
        head, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
        yield f"{path}: {','.join(head)}: {len(rows)} rows"
    elif path.suffix == ".html":
        yield f"{path}: {re.search('<title>(.*?)</title>', path.read_text(encoding='utf-8'))[1]}"


def _table(name: str) -> tuple[list[str], list[dict[str, str]]]:
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return list(reader.fieldnames or []), list(reader)


def _found(name: str, row: dict[str, str]) -> dict[str, str]:
    from tests.pins.rows import TABLES

    keys = {column: cell for column, cell in row.items() if not FIGURE.fullmatch(column)}
    found = TABLES[name.partition("/")[2].partition("-")[0]](**keys)
    known = {column: found.get(FIGURE.fullmatch(column)[1]) for column in row if column not in keys}
    return {column: "" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)
            for column, value in known.items()}  # fmt: skip


def _of_table(name: str, only: str) -> list[Difference]:
    head, rows = _table(name)
    rows = [row for row in rows if row[head[0]].startswith(only)]
    found, wrong = [_found(name, row) for row in rows], []
    for column in filter(FIGURE.fullmatch, head):
        sign, share = FIGURE.fullmatch(column).group(2, 3)
        beyond = [_beyond(row[column], other[column], sign) for row, other in zip(rows, found, strict=True)]
        for row, other, by in zip(rows, found, beyond, strict=True):
            if by > float(share or 0):
                keys = " ".join(row[key] for key in head if not FIGURE.fullmatch(key))
                wrong.append(Difference(name, f"{keys} {column}", row[column], other[column]))
        if sign in "<>" and rows and sum(beyond) / len(rows) > float(share) / 5:
            wrong.append(Difference(name, f"mean of {column}", "0", f"{sum(beyond) / len(rows):.2g}"))
    return wrong


def _beyond(was: str, found: str, sign: str) -> float:
    """The share by which a figure has changed in the direction that counts."""
    if sign == "=" or not (was and found):
        return 0.0 if was == found else math.inf
    change = (float(found) - float(was)) / max(abs(float(was)), 1e-6)
    return {"~": abs(change), "<": change, ">": -change}[sign]
