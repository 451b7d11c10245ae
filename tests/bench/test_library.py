"""What a library says of its programs follows from the files beside them, by a script that knows no crowdopt."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import crowdopt

WORDS = {"backends": (), "time_limit": 5.0, "export": "mps"}


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("library") / "whole"
    crowdopt.bench(["R1:8x20", "HS:4x60", "SELECT:20x8"], output=folder, **WORDS)
    return folder


def checked(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(folder / "check.py"), *names]
    return subprocess.run(command, capture_output=True, text=True)


def test_every_value_and_bound_is_recomputed_in_fractions(library):
    """Each program has a point, multipliers, and on linear programs they meet."""
    with (library / "index.csv").open() as file:
        rows = list(csv.DictReader(file))
    done = checked(library)
    assert done.returncode == 0, done.stdout
    assert len(rows) == len(done.stdout.splitlines()) == 6
    for row in rows:
        assert float(row["bound"]) <= float(row["value"]) + 1e-9
        if row["program"] == "lp":
            assert float(row["bound"]) == pytest.approx(float(row["value"]))
    assert {row["kind"] for row in rows} == {"assignment", "selection"}
    assert "MIT" in rows[0]["licence"] and "seed 0" in rows[0]["origin"]
    assert "R1-8x20-ip-0.mps" in (library / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["value", "bound", "point", "multipliers"])
def test_what_is_made_up_is_noticed(library, tmp_path, what):
    """A better value or bound in the index, a label less in the point, multipliers twice as large."""
    name = "R1-8x20-ip-0.mps"
    for file in library.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    if what in ("value", "bound"):
        with (library / "index.csv").open() as file:
            rows = list(csv.DictReader(file))
        rows[0][what] = str(float(rows[0][what]) + {"value": -1, "bound": 1}[what])
        with (tmp_path / "index.csv").open("w") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path = tmp_path / f"{name}.{what}.csv"
        lines = path.read_text(encoding="utf-8").splitlines()
        if what == "point":
            lines.pop()
        else:
            lines = [lines[0], *(f"{line.split(',')[0]},{2 * float(line.split(',')[1])}" for line in lines[1:])]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = checked(tmp_path, name)
    assert done.returncode == 1 and "WRONG" in done.stdout
