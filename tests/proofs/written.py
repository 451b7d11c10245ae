"""Small files of proof of every kind, and whoever checks them."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np

from crowdopt import AssignmentInstance, Group, assign, export, solve
from crowdopt.api.proof_files import ProofFile, write_plan_proof
from crowdopt.core.program import relax
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.io.programs.naming import MPS, names_of
from crowdopt.programs import assignment
from crowdopt.proofs.assignment_proof import Multipliers, bound_by_sets
from crowdopt.proofs.exact_program import ExactProgram
from crowdopt.proofs.proof import Claim, write_proof
from crowdopt.proofs.whole_values import raised

CHECKER = Path(str(files("crowdopt.bench") / "assets" / "check_vipr.py"))
RULE = "bhattacharyya"


def instance(seed: int, tasks: int = 8, workers: int = 9, **more: object) -> AssignmentInstance:
    """Two types, own skills, loads that bind."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.55, 0.95, (2, workers))
    load = np.full(workers, max(2, tasks * 2 // 3))
    return AssignmentInstance(skill, np.arange(tasks) % 2, load, 0.2, rule=RULE, **more)  # type: ignore[arg-type]


def with_prices(seed: int) -> AssignmentInstance:
    """Prices in tenths."""
    rng = np.random.default_rng(100 + seed)
    return instance(seed, cost=np.broadcast_to(rng.integers(5, 20, 9) / 10, (2, 9)))


def with_pairs(seed: int) -> AssignmentInstance:
    """A forbidden and a fixed pair."""
    return instance(seed, forbidden=np.array([[0, 1], [3, 2]]), fixed=np.array([[1, 4]]))


def with_limits(seed: int) -> AssignmentInstance:
    """Fewest labels, least loads, a group."""
    return instance(
        seed, min_labels=np.full(8, 2), min_load=np.full(9, 1), groups=(Group("site", (0, 1, 2), max_per_task=1),)
    )


def candidates(seed: int) -> SelectionInstance:
    """Whom to hire, for money."""
    rng = np.random.default_rng(seed)
    return SelectionInstance(rng.integers(5, 10, 8), 10, price=rng.integers(1, 6, 8).astype(float), money=9.0)


def plan_file(made: AssignmentInstance, place: Path, program: str = "ip") -> ProofFile:
    """A plan's file of proof."""
    return write_plan_proof(made, assign(made, program=program, time_limit=20), place)


def by_sets(seed: int, place: Path) -> ProofFile:
    """The file of the best bound of least sets at the linear program's prices: cases within tasks."""
    return sets_file(instance(seed, 6, 12, cost=np.random.default_rng(seed).integers(20, 40, (2, 12)) / 1.0), place)


def with_every_row(seed: int) -> AssignmentInstance:
    """Prices, fewest and most labels, least loads, money, a group's labels of a task and its shares of all."""
    rng = np.random.default_rng(seed)
    cost = np.broadcast_to(rng.integers(20, 40, 12) / 1.0, (2, 12))
    few = Group("few", (0, 1, 2, 3), max_per_task=1)
    shares = Group("shares", (4, 5, 6, 7, 8), min_share=0.15, max_share=0.7)
    limits = {"min_labels": np.full(6, 2), "max_labels": np.full(6, 7), "min_load": np.full(12, 1)}
    return instance(seed, 6, 12, cost=cost, budget=900.0, groups=(few, shares), **limits)


def sets_file(made: AssignmentInstance, place: Path) -> ProofFile:
    """The file of the best bound of least sets at the prices of an instance's linear program."""
    program = assignment.build(made)
    relaxed, whole = solve(relax(program)), solve(program)
    assert relaxed.dual is not None and whole.primal is not None
    prices = Multipliers(relaxed.dual, np.zeros(made.n_tasks))
    bounds = bound_by_sets(ExactProgram(program), prices, Fraction(10**6))
    assert bounds is not None
    bound = float(raised(bounds.total, Fraction(1)))
    names = names_of(program.columns, {}, MPS), names_of(program.rows, {}, MPS)
    return write_proof(Claim(program, bound, prices, whole.primal), names, place, None, True)


def selection_file(made: SelectionInstance, place: Path) -> ProofFile:
    """A selection's file of proof."""
    written = export(made, place, program="selection", proof="vipr")
    assert isinstance(written, ProofFile)
    return written


def accepted(path: Path, checker: tuple[str, ...] = (sys.executable, str(CHECKER))) -> bool:
    """Whether a checker accepts a file."""
    return subprocess.run([*checker, str(path)], capture_output=True, text=True).returncode == 0
