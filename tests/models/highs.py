"""What HiGHS reads in an MPS or LP file, and the optimum it finds: a script, like glpk.py.

python highs.py FILE      prints one JSON object
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import highspy


def main(path: str) -> None:
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", 10.0)
    if model.readModel(path) != highspy.HighsStatus.kOk:
        raise SystemExit(f"HiGHS refuses {path}")
    found = described(model.getLp())
    model.run()
    optimal = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    found["optimum"] = model.getInfo().objective_function_value if optimal else None
    print(json.dumps(found))


def described(lp: Any) -> dict[str, Any]:
    whole = [str(kind).endswith("kInteger") for kind in lp.integrality_] or [False] * lp.num_col_
    numbers = zip(lp.col_names_, lp.col_cost_, lp.col_lower_, lp.col_upper_, whole, strict=True)
    columns = {
        name: {"cost": cost, "lower": side(lower), "upper": side(upper), "integer": integer}
        for name, cost, lower, upper, integer in numbers
    }
    rows: dict[str, Any] = {
        name: {"lower": side(lower), "upper": side(upper), "entries": {}}
        for name, lower, upper in zip(lp.row_names_, lp.row_lower_, lp.row_upper_, strict=True)
    }
    matrix = lp.a_matrix_
    for column, name in enumerate(lp.col_names_):
        for k in range(matrix.start_[column], matrix.start_[column + 1]):
            rows[lp.row_names_[matrix.index_[k]]]["entries"][name] = matrix.value_[k]
    return {"maximum": str(lp.sense_).endswith("kMaximize"), "columns": columns, "rows": rows}


def side(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


if __name__ == "__main__":
    main(sys.argv[1])
