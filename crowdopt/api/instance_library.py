"""Our instance library, made anew from seeds, and what others find for it: every value and bound is checked first."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from importlib.resources import files
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt import jobs
from crowdopt.api.binding import AnyPath
from crowdopt.api.proof_files import linear
from crowdopt.arrays import Floats
from crowdopt.assign.plan import Duals
from crowdopt.bench.harness.known import BestKnown, best_known
from crowdopt.bench.harness.library import row_of, stem_of
from crowdopt.bench.harness.library_index import (
    beats,
    checksum,
    counts,
    read_index,
    shipped,
    status_of,
    with_better,
    write_index,
)
from crowdopt.bench.harness.suites import SUITES, cases_of
from crowdopt.bench.sources import Problem, open_problem
from crowdopt.core.certificate import FEASIBILITY, INTEGRALITY, certify, fraction, round_up
from crowdopt.core.program import Program
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.programs.naming import MPS, Ids, names_of
from crowdopt.io.programs.program_files import write_program
from crowdopt.io.programs.sol import read_sol, write_sol
from crowdopt.proofs.assignment_proof import Multipliers
from crowdopt.proofs.exact_program import ExactProgram
from crowdopt.proofs.proof import Claim, ProofFile, write_proof
from crowdopt.proofs.unproven import Unproven
from crowdopt.proofs.vipr_reading import foreign_part, read_head
from crowdopt.report.library_page import library_page

INDEX = "index.csv"
CHECKER = "check_vipr.py"
SUITE = "library"
FEW = 3_000  # columns up to which a bound is worth a search of cases


def library(
    output: AnyPath,
    *,
    problems: list[str] | None = None,
    time_limit: float | None = None,
    jobs_at_once: int = 1,
) -> dict[str, Any]:
    """Write every program of the library, and with a time limit its best point (.sol) and a proof of its bound (.vipr).

    Stopped and called again it goes on where it was.

    output: a folder, with ``index.csv`` and ``index.html`` in the end; problems: names as ``groups:30x12``, default
    all; time_limit: seconds for HiGHS and for our own method on each program; without it only programs are written, and
    the index says what is known already; jobs_at_once: programs at once; -> ``rows`` as in the index, ``counts`` by
    status, and ``other``: files whose checksum is not the index's.
    """
    folder = Path(output).resolve()
    if folder.exists() and not (folder.is_dir() and ((folder / "rows").exists() or not any(folder.iterdir()))):
        raise InputError(f"{folder} exists and is not a library; choose another name")
    cases = [case for case in cases_of(SUITES[SUITE].entries) if not problems or case[0] in problems]
    if not cases:
        raise InputError(f"the library has no problem {', '.join(problems or [])}; its index.csv names them")
    folder.mkdir(parents=True, exist_ok=True)
    asked = [
        jobs.Job.of(make, folder=str(folder), problem=problem, program=program, seed=seed, seconds=time_limit)
        for problem, program, seed in cases
    ]
    made = jobs.run(asked, folder / "rows", jobs_at_once if jobs_at_once > 1 else 0, retry=True, title="programs")
    broken = next((row for row in made if row.error is not None), None)
    if broken is not None:
        raise InputError(f"{broken.arguments['problem']}: {broken.error}")
    known = shipped()
    rows = [_joined(row.result, known.get(row.result["file"])) for row in made]
    other = [row["file"] for row in rows if row["file"] in known and known[row["file"]]["sha256"] != row["sha256"]]
    write_index(rows, folder / INDEX)
    library_page(rows, folder)
    write_text(folder / CHECKER, (files("crowdopt.bench") / "assets" / CHECKER).read_text(encoding="utf-8"))
    return {"rows": rows, "counts": counts(rows), "other": other}


def _joined(row: dict[str, Any], known: dict[str, Any] | None) -> dict[str, Any]:
    return row if known is None or known["sha256"] != row["sha256"] else with_better(row, known)


def make(folder: str, problem: str, program: str, seed: int, seconds: float | None) -> dict[str, Any]:
    """One program's files, and its row of the index."""
    place, opened, built, ids = _drawn((problem, program, seed))
    path = Path(folder) / f"{place}.mps"
    write_program(built, path, ids, force=True)
    names = names_of(built.columns, ids, MPS), names_of(built.rows, ids, MPS)
    known = BestKnown() if seconds is None else best_known(opened, program, Options(seconds))
    if known.point is not None:
        point = np.where(built.integer, np.rint(known.point), known.point) + 0.0
        value = fsum((built.cost * point).tolist())
        known = replace(known, point=point, value=value)
        write_sol(path.with_suffix(".sol"), names[0], point, value)
    shown = None if seconds is None else _proof(built, names, known, path.with_suffix(".vipr"))
    row = row_of(path.name, (problem, program, seed), opened, built, known)
    row |= {"bound": None, "proof": ""} if shown is None else {"bound": float(shown.low), "proof": shown.how}
    if row["bound"] is not None and not beats(row["vouched"], row["bound"], 1):
        row |= {"vouched": None, "by": ""}
    row |= {"settled": " ".join(sorted(known.settled)), "date": str(date.today()), "sha256": checksum(path)}
    return row | {"status": status_of(row)}


def _drawn(case: tuple[str, str, int]) -> tuple[str, Problem, Program, Ids]:
    problem, program, seed = case
    opened = open_problem(problem, seed)
    built = opened.build(program)
    return stem_of(case), opened, built, opened.ids(built)


def _proof(built: Program, names: tuple[list[str], list[str]], known: BestKnown, path: Path) -> ProofFile | None:
    """The highest bound that a derivation shows: the best value, what the exact method's prices prove, the LP's."""
    few = linear if known.plan is None and built.cost.size <= FEW else None  # sets of labels are cases enough
    for bound, multipliers in _claims(built, known):
        claim = Claim(built, bound, multipliers, known.point)
        try:
            return write_proof(claim, names, path, few, force=True)
        except Unproven:
            continue
    return None


def _claims(built: Program, known: BestKnown) -> Iterator[tuple[float, Multipliers]]:
    """Bounds, dearest first, with the multipliers that may prove them."""
    rows = np.zeros(built.row_lower.size) if known.multipliers is None else known.multipliers
    of_lp, plan = Multipliers(rows, np.zeros(0)), known.plan
    priced = None if plan is None or plan.duals is None else _prices(built, plan.duals)
    if known.settled and known.value is not None:
        yield from ((known.value, one) for one in (priced, of_lp) if one is not None)
    elif plan is not None and priced is not None and np.isfinite(plan.certified_bound):
        yield plan.certified_bound, priced
    if known.bound is not None:
        yield round_up(built, known.bound), of_lp


def _prices(built: Program, duals: Duals) -> Multipliers:
    """The exact method's multipliers by the program's rows; those of most labels are rows, of fewest are not."""
    rows = np.zeros(built.row_lower.size)
    parts = {"cover": np.maximum(duals.task, 0.0), "capacity": duals.worker, "budget": np.array([duals.budget])}
    parts |= {"labels": np.minimum(duals.labels, 0.0), **duals.joint}
    for block in built.rows:
        if block.name in parts:
            block.view(rows)[...] = parts[block.name].reshape(block.shape)
    return Multipliers(rows, duals.labels)


def submit(result: AnyPath, index: AnyPath | None = None) -> dict[str, Any]:
    """Check a result for one program of the library, and say what of it is better than what is known.

    result: ``NAME.sol``, a point by column names, or ``NAME.vipr``, a proof of a bound, NAME being the program's;
    index: a copy of the index into which what is better is written; -> ``file``, ``value`` or ``bound`` as recomputed,
    ``better``, and the ``row`` of the index as it is to be. Raises InputError if the name is none of the library's, the
    point breaks a row, or the proof does not hold or is of another program.
    """
    path = Path(result)
    known = shipped() if index is None else read_index(Path(index))
    row = known.get(f"{path.stem}.mps")
    if row is None:
        raise InputError(f"{path.name}: the library has no {path.stem}.mps; a result is named as its program")
    _, _, built, ids = _drawn((row["problem"], row["program"], row["seed"]))
    names = names_of(built.columns, ids, MPS)
    if path.suffix == ".sol":
        found = {"value": _value(built, ids, path)}
    elif path.suffix == ".vipr":
        found = {"bound": _bound(built, names, path)}
    else:
        raise InputError(f"{path.name} must end in .sol or .vipr: the ending says what it is")
    new = with_better(row, row | {"settled": "", "date": str(date.today()), "proof": "vipr"} | found)
    better = any(beats(found.get(key), row[key], sign) for key, sign in (("value", -1), ("bound", 1)))
    if better and index is not None:
        write_index([new if one is row else one for one in known.values()], Path(index))
    return {"file": row["file"], **found, "better": better, "row": new}


def _value(built: Program, ids: Ids, path: Path) -> float:
    point = read_sol(path, names_of(built.columns, ids, MPS))
    off = fraction(built, point)
    if off > INTEGRALITY:
        raise InputError(f"{path.name} is no point of the program: a whole column is {off:.3g} from whole")
    point = np.where(built.integer, np.rint(point), point)
    held = certify(Solution(built, "", Status.FEASIBLE, point, None, None, None, seconds=0.0, raw=""))
    assert held.value is not None and held.violation is not None
    if held.violation > FEASIBILITY:
        raise InputError(f"{path.name} is no point of the program: {_missed(built, ids, point)}")
    return held.value


def _missed(built: Program, ids: Ids, point: Floats) -> str:
    """The row that is missed by most, or the column where no row is."""
    activity = built.matrix @ point
    over, blocks = np.maximum(built.row_lower - activity, activity - built.row_upper), built.rows
    if over.max(initial=0.0) <= FEASIBILITY:
        over, blocks = np.maximum(built.lower - point, point - built.upper), built.columns
    name = names_of(blocks, ids, MPS)[over.argmax()]
    return f"{name} is missed by {over.max():.3g}, and {FEASIBILITY:g} is allowed"


def _bound(built: Program, names: list[str], path: Path) -> float:
    head = read_head(path)
    other = foreign_part(head, ExactProgram(built), names)
    if other:
        raise InputError(f"{path.name} is a proof of another program: {other}")
    checker = str(files("crowdopt.bench") / "assets" / CHECKER)
    done = subprocess.run([sys.executable, "-I", checker, str(path)], capture_output=True, text=True)
    if done.returncode or head.low is None:
        said = (done.stdout + done.stderr).strip().rpartition("WRONG: ")[2][-300:]
        raise InputError(f"{path.name} proves no bound: {said if done.returncode else 'it claims none'}")
    return float(head.low)
