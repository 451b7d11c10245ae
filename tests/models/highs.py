"""What HiGHS reads in an MPS or LP file, and the optimum it finds: a script, like glpk.py.

python highs.py FILE      prints one JSON object
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any


def main(path: str) -> None:
    import highspy

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
    columns = {
        name: {"cost": cost, "lower": side(lower), "upper": side(upper), "integer": integer}
        for name, cost, lower, upper, integer in zip(
            lp.col_names_, lp.col_cost_, lp.col_lower_, lp.col_upper_, whole, strict=True
        )
    }
    rows: dict[str, Any] = {
        name: {"lower": side(lower), "upper": side(upper), "entries": {}}
        for name, lower, upper in zip(lp.row_names_, lp.row_lower_, lp.row_upper_, strict=True)
    }
    for (column, start), end in zip(enumerate(lp.a_matrix_.start_[:-1]), lp.a_matrix_.start_[1:], strict=True):
        for k in range(start, end):
            entries = rows[lp.row_names_[lp.a_matrix_.index_[k]]]["entries"]
            entries[lp.col_names_[column]] = lp.a_matrix_.value_[k]
    return {"maximum": str(lp.sense_).endswith("kMaximize"), "columns": columns, "rows": rows}


def side(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


if __name__ == "__main__":
    main(sys.argv[1])
