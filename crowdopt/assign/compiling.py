"""Loops of the engine, compiled by two processes before a clock runs; kept, they only load.

A small campaign whose votes decide goes without: its loops run as plain Python, and are compiled only if that takes
long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Event
from typing import Any

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
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance

PARTS = f"{__name__}:sets", f"{__name__}:deals"  # one process compiles the first, another the second
BY_VOTES = f"{__name__}:votes", f"{__name__}:weighed"  # the same where votes decide
LONG = 600.0  # seconds
OPTIONS = Options()


@contextmanager
def as_needed(instance: AssignmentInstance, listener: Listener | None = None) -> Iterator[None]:
    """The loops ready for an instance: compiled, or, where they are not and it is small, as plain Python."""
    from crowdopt.plain_kernels import for_small

    by_votes = instance.the_rule.checked and not instance.the_rule.average

    def compiled() -> None:
        get_ready(by_votes, listener)

    with for_small(instance.n_tasks, instance.n_workers, compiled):
        if by_votes:
            compiled()  # nothing where loops run as plain Python
        yield


def get_ready(by_votes: bool, listener: Listener | None = None) -> None:
    """Compile the loops unless they are there; whoever waits is told."""
    if are_compiled(by_votes):
        return
    if listener is not None:
        listener(Progress(0.0, None, None, "compiling once"))
    load(by_votes)


def are_compiled(by_votes: bool) -> bool:
    """Whether the compiled loops are kept from earlier, or in memory."""
    from crowdopt.assign.choice_kernels import served
    from crowdopt.assign.jury_kernels import fill
    from crowdopt.assign.state_kernels import thin
    from crowdopt.assign.vote_kernels import sweep_votes
    from crowdopt.compiled_kernels import is_compiled

    last = (served, thin, sweep_votes, fill) if by_votes else (served, thin)
    return all(is_compiled(kernel) for kernel in last)


@cache
def load(by_votes: bool = False) -> None:
    """Run each loop once, on next to nothing: compiled where they are not kept from earlier."""
    from crowdopt.compiled_kernels import call, run_together

    parts = (*PARTS, *BY_VOTES) if by_votes else PARTS
    if are_compiled(by_votes):
        for part in parts:
            call(part)
        return
    run_together(PARTS)
    if by_votes:
        run_together(BY_VOTES)


def _problem(limited: bool, rule: str = "bhattacharyya", **more: Any) -> Problem:
    """Four tasks of two types, of which each needs several labels; with a limit of a group where that is asked for."""
    accuracy = [[0.9, 0.8, 0.7, 0.9, 0.8, 0.7], [0.8, 0.7, 0.9, 0.8, 0.7, 0.9]]
    groups = (Group("few", [0, 1], max_per_task=1),) if limited else ()
    more |= {"rule": rule, "min_load": [1] * 6, "groups": groups}
    return problem_of(AssignmentInstance(accuracy, [0, 0, 1, 1], [4] * 6, 0.2, **more))


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


def votes() -> None:
    """Kinds priced where votes decide."""
    for limited in (False, True):
        problem, clock = _problem(limited, rule="exact-error"), Clock(LONG, stop=Event())
        through = EffortParams(through=1_000)
        Oracle(problem, 1).sweep(np.zeros(problem.coupling.lower.size), through, clock)


def weighed() -> None:
    """Errors of sets, of two classes and of more; labels bought, dropped, filled up where votes decide."""
    for classes in (2, 3):
        problem = _problem(False, rule="exact-error", classes=classes)
        problem.power(np.zeros(1, np.int64), np.zeros(2, np.int64), np.arange(2))
        held = Holding.empty(problem, 9, 0).judged(problem)
        held.fill()
        held.complete(problem.rows.cost)
        held.thin(problem.rows.cost)


def _unsolved(
    program: Program, backend: str = "", options: Options = OPTIONS, listener: Listener | None = None
) -> Solution:
    """No answer: loops are run without a solver."""
    return Solution(program, backend, Status.UNDECIDED, None, None, None, None, 0.0, "")
