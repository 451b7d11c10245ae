"""Backends that lie: each takes what HiGHS says and spoils one thing, or says something of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.solvers import Backend, highs

Lie = Callable[[Program, Solution], Any]
NOTHING = {"primal": None, "dual": None, "ray": None, "claimed_bound": None}


def other(program: Program, value: float = 0.0) -> Program:
    """A program of the same shape in which the point of 0 is the optimum."""
    empty = sparse.csc_array(program.matrix.shape)
    free = np.full(program.row_lower.size, np.inf)
    return replace(program, cost=np.full_like(program.cost, value), matrix=empty, row_lower=-free, row_upper=free)


def written_into(program: Program, truth: Solution) -> Solution:
    """Writes into the caller's arrays, read-only or not, before it answers."""
    for array in (program.matrix.data, program.cost, program.row_lower, program.upper):
        try:
            array.setflags(write=True)
            array[:] = 0.0
        except ValueError:
            pass
    return truth


def raising(error: BaseException) -> Lie:
    """Breaks down in place of answering."""

    def lie(program: Program, truth: Solution) -> Solution:
        raise error

    return lie


def said(**changes: Any) -> Lie:
    """The truth with some fields changed."""
    return lambda program, truth: replace(truth, **changes)


def claimed(status: Status, **fields: Any) -> Lie:
    """A bare claim."""
    return lambda program, truth: replace(truth, status=status, **{**NOTHING, **fields})


def everything(program: Program) -> np.ndarray:
    """All labels at once."""
    return program.upper.copy()


def scaled(factor: float) -> Lie:
    """Multipliers blown up."""
    return lambda p, t: replace(t, dual=None if t.dual is None else factor * t.dual, claimed_bound=None)


LIES: dict[str, Lie] = {
    # another program's solution
    "of another program": lambda p, t: replace(t, program=other(p)),
    "dearer program": lambda p, t: replace(t, program=replace(p, cost=p.cost + 1), claimed_bound=None),
    # points
    "no point, optimal": said(primal=None),
    "zeros, optimal": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.zeros_like(p.cost), claimed_bound=0.0),
    "ones, optimal": lambda p, t: replace(t, status=Status.OPTIMAL, primal=everything(p), claimed_bound=None),
    "ones, optimal, with their own cost as bound": lambda p, t: replace(
        t, status=Status.OPTIMAL, primal=everything(p), dual=None, claimed_bound=float(p.cost @ everything(p))
    ),
    "halves, optimal": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.full_like(p.cost, 0.5)),
    "negative point": lambda p, t: replace(t, status=Status.OPTIMAL, primal=-np.ones_like(p.cost)),
    "huge point": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.full_like(p.cost, 1e30)),
    "NaN point": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.full_like(p.cost, np.nan)),
    "infinite point": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.full_like(p.cost, np.inf)),
    "short point": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.zeros(3)),
    "square point": lambda p, t: replace(t, status=Status.OPTIMAL, primal=np.zeros((p.cost.size, 2))),
    "a point of words": lambda p, t: replace(t, status=Status.OPTIMAL, primal=["yes"] * p.cost.size),
    "one label dropped": lambda p, t: replace(t, primal=_dropped(t.primal)),
    # bounds
    "bound of 1e9, feasible": lambda p, t: replace(t, status=Status.FEASIBLE, dual=None, claimed_bound=1e9),
    "bound of 1e9, nothing else": claimed(Status.UNDECIDED, claimed_bound=1e9),
    "bound of -1e9": said(claimed_bound=-1e9, dual=None),
    "bound NaN": said(claimed_bound=float("nan")),
    "bound infinite": said(claimed_bound=float("inf")),
    "bound of words": said(claimed_bound="100"),
    "bound true": said(claimed_bound=True),
    "ones, feasible, bound 1e9": lambda p, t: replace(
        t, status=Status.FEASIBLE, primal=everything(p), dual=None, claimed_bound=1e9
    ),
    # multipliers
    "multipliers of 2^60": scaled(2.0**60),
    "multipliers of 1e300": scaled(1e300),
    "multipliers turned round": scaled(-1.0),
    "multipliers NaN": lambda p, t: replace(t, dual=np.full_like(p.row_lower, np.nan), claimed_bound=None),
    "too few multipliers": lambda p, t: replace(t, dual=np.zeros(1)),
    "random multipliers": lambda p, t: replace(
        t, dual=np.random.default_rng(0).normal(0, 1e6, p.row_lower.size), claimed_bound=None
    ),
    # statuses
    "infeasible": claimed(Status.INFEASIBLE),
    "infeasible with a ray of ones": lambda p, t: replace(
        t, **{**NOTHING, "status": Status.INFEASIBLE, "ray": np.ones_like(p.row_lower)}
    ),
    "infeasible with a huge ray": lambda p, t: replace(
        t, **{**NOTHING, "status": Status.INFEASIBLE, "ray": np.full_like(p.row_lower, 1e300)}
    ),
    "infeasible with the optimum beside it": said(status=Status.INFEASIBLE),
    "unbounded": claimed(Status.UNBOUNDED),
    "undecided": claimed(Status.UNDECIDED),
    "optimal and empty": claimed(Status.OPTIMAL),
    "status of words": said(status="optimal"),
    "status None": said(status=None),
    # no solution at all
    "None": lambda p, t: None,
    "a number": lambda p, t: 42,
    "something like a solution": lambda p, t: SimpleNamespace(**vars(t)),
    # what it does
    "raises ValueError": raising(ValueError("no\nsuch\nthing")),
    "raises ZeroDivisionError": raising(ZeroDivisionError()),
    "exits with 0": raising(SystemExit(0)),
    "raises GeneratorExit": raising(GeneratorExit()),
    "cannot import": raising(ModuleNotFoundError("No module named 'elsewhere'", name="elsewhere")),
}


def _dropped(point: np.ndarray | None) -> np.ndarray | None:
    if point is None or not (point > 0.5).any():
        return point
    less = point.copy()
    less[int(np.flatnonzero(point > 0.5)[0])] = 0.0
    return less


def liar(lie: Lie) -> Backend:
    """A backend that answers with the lie."""

    def run(program: Program, options: Options, listener: Any) -> Any:
        kept = replace(program, matrix=program.matrix.copy(), cost=program.cost.copy())
        return lie(program, highs.run("choose", kept, options, None))

    return Backend("liar", "numpy", "pip install numpy", integers=True, duals=True, run=run)
