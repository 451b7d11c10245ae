"""Loops of the engine for linear rules, compiled by two processes before a clock runs; kept, they only load."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Event

import numpy as np

from crowdopt.assign.alarm import NEVER
from crowdopt.assign.choose import ChooseParams, Chooser
from crowdopt.assign.deal import Asked, rounded
from crowdopt.assign.master import NONE, Master, Pool
from crowdopt.assign.oracle import EffortParams, Oracle, Sets
from crowdopt.assign.prices import Climb
from crowdopt.assign.problem import Problem, problem_of
from crowdopt.assign.state import Holding
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Solution, Status
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance

PARTS = f"{__name__}:sets", f"{__name__}:deals"  # one process compiles the first, another the second
LONG = 600.0  # seconds
OPTIONS = Options()


def get_ready(tell: Callable[[str], None] | None = None) -> None:
    """Compile the loops unless they are there; whoever waits is told."""
    if not are_compiled():
        if tell is not None:
            tell("compiling once")
        load()


def are_compiled() -> bool:
    """Whether the compiled loops are kept from earlier, or in memory."""
    from crowdopt.assign.choice_kernels import served
    from crowdopt.assign.state_kernels import thin
    from crowdopt.compiled_kernels import is_compiled

    return is_compiled(served) and is_compiled(thin)


@cache
def load() -> None:
    """Run each loop once, on next to nothing: compiled where they are not kept from earlier."""
    from crowdopt.compiled_kernels import call, run_together

    if are_compiled():
        for part in PARTS:
            call(part)
    else:
        run_together(PARTS)


def _problem(limited: bool) -> Problem:
    """Four tasks of two types, of which each needs several labels; with a limit of a group where that is asked for."""
    accuracy = [[0.9, 0.8, 0.7, 0.9, 0.8, 0.7], [0.8, 0.7, 0.9, 0.8, 0.7, 0.9]]
    groups = (Group("few", [0, 1], max_per_task=1),) if limited else ()
    return problem_of(AssignmentInstance(accuracy, [0, 0, 1, 1], [4] * 6, 0.2, min_load=[1] * 6, groups=groups))


def sets() -> None:
    """Kinds priced, the master climbed; its loops the other process has compiled by then."""
    for limited in (False, True):
        problem, clock, rng = _problem(limited), Clock(LONG, stop=Event()), np.random.default_rng(0)
        oracle, pool = Oracle(problem, 1), Pool(problem)
        duals = np.zeros(problem.coupling.lower.size)
        swept = oracle.sweep(duals, EffortParams(through=1_000), clock)
        assert swept is not None
        pool.add(swept.sets)
        short = 9 * swept.cost
        climb = Climb(problem, oracle, clock, lambda _: False, pool, short, best=swept)
        climb.seed(duals, rng)
        climb.run(1)


def deals() -> None:
    """Sets chosen; amounts rounded; labels dealt, shared out, bought, dropped."""
    problem, clock, rng = _problem(False), Clock(LONG, stop=Event()), np.random.default_rng(0)
    every, price, (rows, groups) = np.arange(problem.tasks), problem.rows.cost, problem.rows.worth.shape
    pool = Pool(problem)
    pool.add(Sets(np.arange(rows), groups * np.arange(rows + 1), np.tile(np.arange(groups), rows)))
    master = Master(pool, np.full(problem.count.size, 9.0))
    chooser = Chooser(master, Oracle(problem, 1), clock, rng, _unsolved, OPTIONS, params=ChooseParams(rows=0))
    chooser.dive(every, NONE, every[:0], np.zeros(problem.coupling.lower.size))
    nothing = np.zeros((problem.tasks_in.size, problem.room.size))
    rounded(problem, Asked.of(problem, every, problem.room), nothing, 0.0, 99.0, NEVER)
    held = Holding.empty(problem, 9, 0)
    held.deal(nothing.astype(np.int64), every)
    held.share(1, 1)
    held.escalate(price, 1, 1, 1)
    held.complete(price)
    held.fill()
    held.thin(price)


def _unsolved(
    program: Program, backend: str = "", options: Options = OPTIONS, listener: Listener | None = None
) -> Solution:
    """No answer: loops are run without a solver."""
    return Solution(program, backend, Status.UNDECIDED, None, None, None, None, 0.0, "")
