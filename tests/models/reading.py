"""Programs in one form, whichever reader: columns, rows and entries by name."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.core.program import Program
from crowdopt.io.programs import Dialect, Ids, names_of

HERE = Path(__file__).parent
MODELS = HERE.parents[1] / "models"
PRECISION = 1e-12  # relative; two implementations of one logarithm may differ in the last digit
PLAIN = {"share_at_most": "most_share", "share_at_least": "least_share"}  # what a model calls otherwise
SINGLE = {f"{name}[0]": name for name in ("budget", "one")}


def read_by(reader: str, *arguments: str | Path) -> dict[str, Any]:
    """What ``glpk`` or ``highs`` reads, and finds, in a process of its own."""
    command = [sys.executable, str(HERE / f"{reader}.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def translated(model: str, data: str, folder: Path) -> dict[str, Any]:
    """A model of models/ with a data section, as GLPK translates it."""
    path = folder / "data.dat"
    path.write_text(data, encoding="utf-8")
    found = read_by("glpk", "mod", MODELS / f"{model}.mod", path)
    found |= renamed(found, PLAIN)
    found["rows"] = {SINGLE.get(name, name): row for name, row in found["rows"].items()}
    return found


def described(program: Program, ids: Ids, dialect: Dialect) -> dict[str, Any]:
    """A program in the form of ``read_by``."""
    names, rows = (names_of(blocks, ids, dialect) for blocks in (program.columns, program.rows))
    table = program.matrix.toarray()
    columns = zip(program.cost.tolist(), program.lower, program.upper, program.integer.tolist(), strict=True)
    sides = zip(program.row_lower, program.row_upper, table, strict=True)
    return {
        "maximum": False,
        "columns": {
            name: {"cost": cost, "lower": _side(lower), "upper": _side(upper), "integer": whole}
            for name, (cost, lower, upper, whole) in zip(names, columns, strict=True)
        },
        "rows": {
            name: {
                "lower": _side(lower),
                "upper": _side(upper),
                "entries": {names[k]: float(row[k]) for k in np.flatnonzero(row)},
            }
            for name, (lower, upper, row) in zip(rows, sides, strict=True)
        },
    }


def _side(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def turned(found: dict[str, Any]) -> dict[str, Any]:
    """A maximum as a minimum, and each of its rows the other way round."""
    assert found["maximum"]

    def minus(bound: float | None) -> float | None:
        return None if bound is None else -bound

    columns = {name: {**column, "cost": -column["cost"]} for name, column in found["columns"].items()}
    rows = {
        name: {
            "lower": minus(row["upper"]),
            "upper": minus(row["lower"]),
            "entries": {column: -value for column, value in row["entries"].items()},
        }
        for name, row in found["rows"].items()
    }
    return {"maximum": False, "columns": columns, "rows": rows}


def renamed(found: dict[str, Any], blocks: dict[str, str]) -> dict[str, Any]:
    """The same with its blocks called otherwise."""

    def new(table: dict[str, Any]) -> dict[str, Any]:
        heads = {name: name.partition("[")[0] for name in table}
        return {blocks.get(heads[name], heads[name]) + name[len(heads[name]) :]: one for name, one in table.items()}

    rows = {name: {**row, "entries": new(row["entries"])} for name, row in new(found["rows"]).items()}
    return {"maximum": found["maximum"], "columns": new(found["columns"]), "rows": rows}


def assert_same(found: Any, expected: Any, place: str = "") -> None:
    """Entry for entry, by names; of ``expected`` only what stands in it."""
    if isinstance(expected, dict):
        assert place == "" or found.keys() == expected.keys(), place
        for name in expected:
            assert_same(found[name], expected[name], f"{place} {name}")
    elif found is None or expected is None:
        assert found is expected, place
    else:
        assert math.isclose(found, expected, rel_tol=PRECISION, abs_tol=PRECISION), f"{place}: {found}, not {expected}"
