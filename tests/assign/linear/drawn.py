"""Drawn campaigns with linear rules, as the engine sees them, and what a task may have, by the checkers' arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from crowdopt import AssignmentInstance
from crowdopt.assign.oracle import EffortParams, Oracle
from crowdopt.assign.problem import Problem, ProblemParams, problem_of
from crowdopt.core.clock import Clock
from crowdopt.crowd.alike import bounds_know_overlaps
from tests.checkers.plans import _of_tasks, table
from tests.draw import WISHES, NotDealt, campaign, clash

SEEDS = st.integers(0, 2**31)
TIES = ["fixed", "least-loads", "budget", "own-row", "prices"]
TIES += ["most-share", "least-share", "least-per-task", "collected"]
LIMITS = [*TIES[-2:], "fixed", "most-per-task", "overlapping", "families", "forbidden", "most-labels", "least-labels"]
KNOWN = [*(name for name in WISHES if name != "difficulty"), ""]


@st.composite
def drawn(draw: Any, tasks: int, workers: int, wishes: Any = KNOWN, least: int = 0) -> AssignmentInstance:
    """A campaign of so many tasks and workers at most, made around a plan."""
    rules = st.sampled_from(["hoeffding", "bhattacharyya"])
    rule, some = draw(st.tuples(rules, st.sets(st.sampled_from(wishes), min_size=least, max_size=5)))
    assume(not clash((rule, *some)))
    try:
        one = campaign(draw(SEEDS), draw(st.integers(1, tasks)), draw(st.integers(2, workers)), (rule, *sorted(some)))
    except NotDealt:
        reject()
    assume(bounds_know_overlaps(one))  # of other groups the oracle knows nothing
    return one


def in_lots(one: AssignmentInstance, seed: int) -> Problem:
    """What the engine sees; amounts are of rows, or of types as where rows are many."""
    return problem_of(one, ProblemParams(rows=seed % 2 * 60_000))


def every_set(problem: Problem, task: int) -> np.ndarray:
    """Every set of labels that a task may have beside the fixed ones, its evidence apart, (sets, workers) bool."""
    one, m = problem.instance, problem.instance.n_workers
    fixed, able = table(one, one.fixed)[task], (problem.room > 0)[problem.worker_class]
    new = (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(bool)
    new = new[(new <= able | fixed).all(axis=1) & (new >= fixed).all(axis=1)]
    wrong = np.any(list(_of_tasks(one, np.full(len(new), task), new).values()), axis=0)
    return np.asarray(new[~wrong] & ~fixed)


def multipliers(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Valid ones of any sign, some 0; some are large for labels that a share or an own row is owed."""
    size = problem.coupling.lower.size
    duals = rng.normal(size=size) * rng.choice([0.0, 0.3, 2.0], size)
    if rng.random() < 0.5:
        duals[problem.room.size :] = rng.uniform(-1, 6)
    return problem.coupling.valid(problem.unit * duals)


def swept(problem: Problem, duals: Any, known: Any = None, room: Any = None, some: Any = None, **effort: Any) -> Any:
    """All kinds priced, or some: with much effort if nothing else is said of it."""
    much = EffortParams(**({"nodes": 10**6, "close": 0.0} | effort))
    return Oracle(problem, 1).sweep(duals, much, Clock(60.0), known, room, some)


def labels_of(sets: Any) -> list[np.ndarray]:
    """The classes of the workers of each set."""
    return np.split(sets.label, sets.at[1:-1]) if sets.row.size else []
