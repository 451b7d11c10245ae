"""Plans by aiming: the amounts with most slack that a sum of money buys, rounded, dealt to tasks and mended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.boxstep import applies, box_step
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.relaxation import has_whole_prices
from crowdopt.assign.exact.rounding import round_amounts
from crowdopt.assign.exact.search import Search
from crowdopt.assign.exact.split import TRADING, Split, are_compiled, deal_evenly
from crowdopt.core.solution import BY_SIZE
from crowdopt.programs import target

MODEST = 5_000  # pairs up to which searching the full program soon pays
STUCK, STUCK_WHEN_MODEST = 8, 2  # attempts without a better plan, after which something else is tried
SHARING = 2, 1_000  # work per task and at most, in pairs looked at
SQUEEZES = 60  # labels that are tried to be taken out of a plan again
SQUEEZED = 30_000  # tasks up to which that is tried
LARGE = 1_000_000  # pairs
LARGE_STEPS = (8e-5, 1e-5)  # of the bound: what is aimed at above it where an attempt takes seconds
STEP = 1e-4  # of the bound: the least that money is raised by where prices are no integers


def aim(search: Search, attempts: int, thorough: bool = True) -> None:
    """Aim at one sum of money after another until the plan is proven, or nothing gets better.

    Where blocks come next, tasks still short are only topped up: a plan to begin with, not a good one.
    """
    limit = attempts if search.options.nodes is None else min(attempts, search.options.nodes)
    idle, patience = 0, STUCK if search.pairs > MODEST else STUCK_WHEN_MODEST
    for number, money in enumerate(_sums(search)):
        if search.done or number >= limit or idle >= patience:
            return
        pairs = attempt(search, money, search.options.seed + number, thorough)
        idle = 0 if pairs is not None and search.offer(pairs) else idle + 1


def is_large(search: Search) -> bool:
    """Whether an attempt takes seconds, so that the first ones aim a little above the bound: they succeed."""
    return search.pairs >= LARGE or applies(search.classes)


def _sums(search: Search) -> Iterator[float]:
    """What to aim at: the bound, then more and more; after a plan is found, evenly between the bound and it."""
    if is_large(search):
        yield from (search.bound + np.ceil(part * search.bound) for part in LARGE_STEPS)
    if applies(search.classes):
        return
    step = 1.0 if has_whole_prices(search.classes) else STEP * max(1.0, search.bound)
    more = 0.0
    while search.best is None or search.bound + more * step < search.value - step / 2:
        yield search.bound + more * step
        more = 1.0 if more == 0 else 2 * more
    part = 2
    while True:
        for k in range(1, part):
            yield search.bound + np.floor((search.value - search.bound) * k / part / step) * step
        part += 1


def attempt(search: Search, money: float, seed: int, thorough: bool) -> Ints | None:
    """One plan that costs about so much: aim, round, deal evenly if that does, else split and mend.

    money: what the plan is to cost, in the unit of the prices; thorough: whether tasks still short are worked on, and
    not only topped up; -> (k, 2) int array or None: pairs (task, worker); None where some task stays short or there
    is no time.
    """
    aimed = _boxed(search, money) if applies(search.classes) else _targeted(search, money)
    if aimed is None or search.done:
        return None
    with alarm(search.clock) as rung:
        if not are_compiled():
            search.tell("compiling once")  # as soon as a loop is needed
        whole = round_amounts(search.classes, *aimed, money, rung)
        pairs = deal_evenly(search.classes, whole)
        return _mended(search, whole, money, seed, thorough, rung) if pairs is None else pairs


def _targeted(search: Search, money: float) -> tuple[Floats, float] | None:
    """Amounts with the most slack that the money buys, and that slack per task."""
    options = replace(search.options, time_limit=search.clock.left, start=None)
    program = target.of_classes(search.classes, money)
    aimed = search.solvers.solve(program, BY_SIZE, options)
    search.interrupted |= aimed.interrupted
    return None if aimed.primal is None else (aimed.program.column("u").view(aimed.primal), float(aimed.primal[-1]))


def _boxed(search: Search, money: float) -> tuple[Floats, float] | None:
    """Amounts and slack where the LP is large: the slack that the money buys at the LP's prices."""
    assert search.duals is not None
    slack = max(0.0, money - search.bound) / float(search.duals.task.sum())
    step = box_step(search.classes, slack, search.solvers.solve, search.options)
    return None if step is None else (step.amounts.T, slack)


def _mended(search: Search, whole: Ints, money: float, seed: int, thorough: bool, rung: Bools) -> Ints | None:
    get_ready()
    split = Split.of_amounts(search.classes, whole, money, seed).heeding(rung)
    sharing, trading = (min(each * search.instance.n_tasks, most) for each, most in (SHARING, TRADING))
    split.mend()
    if not split.covered and thorough:
        split.escalate(sharing)
    if not split.covered and split.top_up():
        return None
    split.thin()
    if thorough and split.cost > search.bound + 0.5 and split.everybody.size <= SQUEEZED:
        split.squeeze(SQUEEZES, sharing, trading)
    return split.pairs()
