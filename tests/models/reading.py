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
    found |= renamed(found, {"share_at_most": "most_share", "share_at_least": "least_share"})
    single = {f"{name}[0]": name for name in ("budget", "one")}
    found["rows"] = {single.get(name, name): row for name, row in found["rows"].items()}
    return found


def described(program: Program, ids: Ids, dialect: Dialect) -> dict[str, Any]:
    """A program in the form of ``read_by``."""
    columns, rows = (names_of(blocks, ids, dialect) for blocks in (program.columns, program.rows))
    table = program.matrix.toarray()
    return {
        "maximum": False,
        "columns": {
            name: {
                "cost": float(program.cost[k]),
                "lower": _side(program.lower[k]),
                "upper": _side(program.upper[k]),
                "integer": bool(program.integer[k]),
            }
            for k, name in enumerate(columns)
        },
        "rows": {
            name: {
                "lower": _side(program.row_lower[i]),
                "upper": _side(program.row_upper[i]),
                "entries": {columns[k]: float(table[i, k]) for k in np.flatnonzero(table[i])},
            }
            for i, name in enumerate(rows)
        },
    }


def _side(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def turned(found: dict[str, Any]) -> dict[str, Any]:
    """A maximum as a minimum, and each of its rows the other way round."""
    assert found["maximum"]
    columns = {name: {**column, "cost": -column["cost"]} for name, column in found["columns"].items()}
    rows = {
        name: {
            "lower": _minus(row["upper"]),
            "upper": _minus(row["lower"]),
            "entries": {column: -value for column, value in row["entries"].items()},
        }
        for name, row in found["rows"].items()
    }
    return {"maximum": False, "columns": columns, "rows": rows}


def _minus(bound: float | None) -> float | None:
    return None if bound is None else -bound


def renamed(found: dict[str, Any], blocks: dict[str, str]) -> dict[str, Any]:
    """The same with its blocks called otherwise."""

    def new(name: str) -> str:
        head, bracket, rest = name.partition("[")
        return blocks.get(head, head) + bracket + rest

    rows = {
        new(name): {**row, "entries": {new(column): value for column, value in row["entries"].items()}}
        for name, row in found["rows"].items()
    }
    columns = {new(name): column for name, column in found["columns"].items()}
    return {"maximum": found["maximum"], "columns": columns, "rows": rows}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Entry for entry, by names."""
    assert found["maximum"] == expected["maximum"]
    for part in ("columns", "rows"):
        assert found[part].keys() == expected[part].keys()
        for name, numbers in found[part].items():
            for key, value in numbers.items():
                wanted = expected[part][name][key]
                assert _same(value, wanted), f"{name}: {key} is {value}, not {wanted}"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=PRECISION, abs_tol=PRECISION)
