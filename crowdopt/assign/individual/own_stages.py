"""The exact method where tasks are not alike: who they are, and what is tried in turn until their plan is proven."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.assign.individual import nested
from crowdopt.assign.individual.plan_stages import blend_sweeps, climb, congest, deal, first_bound, first_plan
from crowdopt.assign.individual.prices.own_tasks import OwnTasks, own_tasks
from crowdopt.assign.individual.set_stages import mix, nest
from crowdopt.assign.individual.work import MIXED_TASKS, Work, load
from crowdopt.assign.plan import Duals
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.instance import AssignmentInstance

KINDS, CELLS = 32, 15_000  # kinds of task, and kinds x workers, beyond which each task is taken by itself
BLOCKS = 40_000  # the same where kinds have several tasks: up to there the engine prices sets
DEALT = 3.0  # labels per task from which amounts are dealt to the tasks of a row
STEPS = (1e-4, 3e-4, 1e-3, 5e-3)  # of the bound: money beyond it that is dealt, until there is a plan
LAST_STEPS, DEALS = (5e-5, 1e-4, 2e-4), 3  # the same at the end, dealt so often with another seed
CLIMBS = (12, 24, 40)  # sweeps, and after each climb a plan from the sets met
MANY_CLIMBS = (3, 8, 24)  # the same where tasks are many, with a plan blended from the sweeps after each
FEW = 4.0  # labels per task up to which whole sets decide
SMALL, SEARCHED_SOON = 6_000, 0.5  # pairs up to which the full program is searched early, and the share of time for it
LARGEST, EACH = 4_000_000, 6e-5  # pairs up to which the full program is searched; least seconds for it, per pair


def is_individual(instance: AssignmentInstance) -> bool:
    """Whether tasks that need labels are of so many kinds that each is best taken by itself."""
    fewest, most = instance.new_label_limits
    open_ = (instance.floor > 0) | (fewest > 0)
    own = np.unique(np.concatenate([instance.barred[:, 0], instance.fixed[:, 0]]))
    special = np.zeros(instance.n_tasks, bool)
    special[own] = True
    alike = open_ & ~special
    columns = [instance.task_type[alike], instance.residual_need[alike], fewest[alike], most[alike].astype(float)]
    kinds = int((open_ & special).sum())
    if kinds <= KINDS or kinds * instance.n_workers <= CELLS:
        kinds += _distinct(columns) if alike.any() else 0
    cells = CELLS if 4 * kinds > open_.sum() else BLOCKS
    return kinds > KINDS and kinds * instance.n_workers > cells


def _distinct(columns: list[NDArray[Any]]) -> int:
    """How many different rows the columns make, told apart column by column: six times as fast as whole rows."""
    code = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        if values.size > 1:
            code = np.unique(code * values.size + place, return_inverse=True)[1]
    return int(code.max()) + 1


def solve_individually(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None
) -> Standing:
    """Bound and plan by prices for workers' time and a cheapest set for each task; what is known when time ends.

    What is compiled is loaded before the time limit begins to run.
    """
    clock = Clock(options.time_limit)
    tasks = own_tasks(instance)
    if tasks.size:
        before = clock.spent
        load()
        clock = Clock(options.time_limit, clock.started + clock.spent - before)
    standing = Standing(instance=instance, solvers=solvers, options=options, clock=clock, listener=listener)
    try:
        for stage in _stages(standing, tasks):
            if standing.done:
                break
            stage()
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing


def _stages(standing: Standing, tasks: OwnTasks) -> Iterator[Callable[[], None]]:
    """What is tried in turn until the plan is proven."""
    if tasks.size == 0:
        yield partial(_nothing_to_do, standing, tasks)
        return
    work = Work(standing, tasks)
    yield partial(first_bound, work)
    if work.is_many:
        yield from _of_many(work)
    deals = tasks.is_shared and work.labels_each >= DEALT
    if deals:
        yield partial(deal, work, STEPS[0])
    if nested.pays(tasks) and work.labels_each <= FEW:
        yield partial(nest, work)
    yield partial(first_plan, work)
    if deals:
        yield from (partial(deal, work, step) for step in STEPS[1:] if not work.has_plan)
    if tasks.size <= MIXED_TASKS:
        yield from _climbs(work, deals)
    if deals:
        yield from (partial(deal, work, step, seed) for seed in range(1, 1 + DEALS) for step in LAST_STEPS)
    yield partial(_in_full, standing)


def _of_many(work: Work) -> Iterator[Callable[[], None]]:
    """What is tried first where tasks are many: a plan blended from the sweeps so far, after each climb."""
    yield partial(congest, work)
    for sweeps in MANY_CLIMBS:
        yield partial(climb, work, sweeps, hurries=not work.has_plan)
        yield partial(blend_sweeps, work)


def _climbs(work: Work, deals: bool) -> Iterator[Callable[[], None]]:
    """Better prices, and a plan from the sets met after each climb; a small program is searched after the first."""
    for number, sweeps in enumerate(CLIMBS):
        yield partial(climb, work, sweeps, hurries=deals or (work.is_many and not work.has_plan))
        yield partial(mix, work)
        if number == 0 and work.standing.pairs <= SMALL:
            yield partial(work.standing.in_full, None, SEARCHED_SOON)


def _nothing_to_do(standing: Standing, tasks: OwnTasks) -> None:
    """Every task has what it needs, or gets it from fixed labels."""
    zeros = np.zeros(standing.instance.n_tasks)
    duals = Duals(zeros, np.zeros(standing.instance.n_workers), zeros.copy(), form="blocks")
    standing.raise_bound(tasks.constant, duals)
    standing.offer(tasks.pairs(np.zeros((0, 0), np.int64), np.zeros(0, np.int64)))


def _in_full(standing: Standing) -> None:
    """Search the full program with the time that is left, where it is small enough to be built."""
    if standing.pairs <= LARGEST and standing.clock.left > 1.0 + EACH * standing.pairs:
        standing.in_full(None)
