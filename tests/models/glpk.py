"""What GLPK reads in a file, and the optimum it finds: a script, since GLPK can abort the whole process.

python glpk.py mod MODEL DATA | mps FILE | lp FILE      prints one JSON object, behind what GLPK itself prints
python glpk.py report MODEL DATA FILE                   writes what ``glpsol -m MODEL -d DATA -o FILE`` writes
"""

from __future__ import annotations

import json
import sys
from typing import Any

import swiglpk as glpk

INFINITE = 1e300  # GLPK's own infinity is the largest double


def main(kind: str, *files: str) -> None:
    problem = read(kind, *files)
    found = optima(problem)
    if kind == "report":
        refuse(glpk.glp_print_mip(problem, files[-1]), files[-1])
    print()
    print(json.dumps({**described(problem), **found}))


def read(kind: str, path: str, data: str = "", *_: str) -> Any:
    problem = glpk.glp_create_prob()
    if kind == "mps":
        refuse(glpk.glp_read_mps(problem, glpk.GLP_MPS_FILE, None, path), path)
    elif kind == "lp":
        refuse(glpk.glp_read_lp(problem, None, path), path)
    else:
        translator = glpk.glp_mpl_alloc_wksp()
        refuse(glpk.glp_mpl_read_model(translator, path, 0), path)
        refuse(glpk.glp_mpl_read_data(translator, data), data)
        refuse(glpk.glp_mpl_generate(translator, None), path)
        glpk.glp_mpl_build_prob(translator, problem)
    return problem


def refuse(error: int, path: str) -> None:
    if error:
        raise SystemExit(f"GLPK refuses {path}")


def described(problem: Any) -> dict[str, Any]:
    columns = {
        glpk.glp_get_col_name(problem, k): {
            "cost": glpk.glp_get_obj_coef(problem, k),
            "lower": side(glpk.glp_get_col_lb(problem, k)),
            "upper": side(glpk.glp_get_col_ub(problem, k)),
            "integer": glpk.glp_get_col_kind(problem, k) != glpk.GLP_CV,
        }
        for k in range(1, glpk.glp_get_num_cols(problem) + 1)
    }
    rows = {
        glpk.glp_get_row_name(problem, i): {
            "lower": side(glpk.glp_get_row_lb(problem, i)),
            "upper": side(glpk.glp_get_row_ub(problem, i)),
            "entries": entries(problem, i, list(columns)),
        }
        for i in range(1, glpk.glp_get_num_rows(problem) + 1)
        if glpk.glp_get_row_type(problem, i) != glpk.GLP_FR  # the objective, which the translator keeps as a row
    }
    return {"maximum": glpk.glp_get_obj_dir(problem) == glpk.GLP_MAX, "columns": columns, "rows": rows}


def entries(problem: Any, row: int, names: list[str]) -> dict[str, float]:
    index, value = glpk.intArray(len(names) + 1), glpk.doubleArray(len(names) + 1)
    count = glpk.glp_get_mat_row(problem, row, index, value)
    return {names[index[k] - 1]: value[k] for k in range(1, count + 1)}


def side(bound: float) -> float | None:
    return None if abs(bound) > INFINITE else bound


def optima(problem: Any) -> dict[str, float | None]:
    """Optima of the relaxation and of the program itself; None where there is none."""
    simplex, search = glpk.glp_smcp(), glpk.glp_iocp()
    glpk.glp_init_smcp(simplex)
    glpk.glp_init_iocp(search)
    glpk.glp_simplex(problem, simplex)
    if glpk.glp_get_status(problem) != glpk.GLP_OPT:
        return {"lp": None, "ip": None}
    relaxed = glpk.glp_get_obj_val(problem)
    done = glpk.glp_intopt(problem, search) == 0 and glpk.glp_mip_status(problem) == glpk.GLP_OPT
    return {"lp": relaxed, "ip": glpk.glp_mip_obj_val(problem) if done else None}


if __name__ == "__main__":
    main(*sys.argv[1:])
