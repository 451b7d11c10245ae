"""The cheapest adaptive plan of many workers who differ in skill: orders of asking, dealt to tasks, and a bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, dealt
from crowdopt.assign.cascade.blank_plan import blank_plan
from crowdopt.assign.cascade.first_round import first_asked
from crowdopt.assign.cascade.order_generation import STEP, OrderGeneration
from crowdopt.assign.cascade.panels import SkillPanel
from crowdopt.assign.standing import Solvers
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.asking_orders import OrderShare

NOISE = 1e-9  # of the tasks of a start, relative: what a solver leaves where it means 0


def cheapest_orders(
    panel: SkillPanel, expert: float | None, solvers: Solvers, options: Options, *, strict: bool = False
) -> AdaptivePlan:
    """``min expected cost`` over mixtures of orders, against a bound on every adaptive plan.

    expert: price of an answer that is right; strict: whether there is a plan for these targets or none; else, where
    none is found, one whose errors are a multiple of all targets.
    """
    none = blank_plan(panel, Status.UNDECIDED, options.seed, expert=expert)
    search = OrderGeneration(panel, expert, solvers.make_master, options.seed)
    found = search.run(Clock(options.time_limit))
    if found is None or (strict and search.times > 1):
        return none
    every, starts = search.master.columns, panel.starts
    tasks = _without_noise(panel, found, np.array([one.start for one in every]))
    kept = np.flatnonzero(tasks)
    columns, tasks = [every[k] for k in kept.tolist()], tasks[kept]
    kind, start = np.array([starts[one.start].kind for one in columns]), np.array([one.start for one in columns])
    loads, orders = np.zeros(panel.instance.n_workers), []
    for one, count in zip(columns, tasks.tolist(), strict=True):
        here = starts[one.start]
        loads[list(one.order.workers)] += count * one.asked
        orders.append(OrderShare(here.kind, here.votes, one.order, count / here.tasks.size, count))
    rng, order_of = np.random.default_rng(options.seed), np.empty(panel.instance.n_tasks, np.int64)
    for number, begin in enumerate(starts):
        mine = np.flatnonzero(start == number)
        for task, k in dealt(tasks[mine].tolist(), begin.tasks, rng):
            order_of[task] = mine[k]
    wrong, by_expert = ([getattr(one, what) for one in columns] for what in ("wrong", "expert"))
    plan = replace(
        none,
        status=Status.FEASIBLE if search.times == 1 else Status.UNDECIDED,
        objective=sum(count * one.cost for one, count in zip(columns, tasks.tolist(), strict=True)),
        bound=search.bound,
        proof_of=search.best,
        loads=loads,
        errors=np.bincount(kind, weights=tasks * wrong, minlength=panel.first.size) / panel.tasks_in,
        to_expert=np.bincount(kind, weights=tasks * by_expert, minlength=panel.first.size) / panel.tasks_in,
        times=search.times,
        orders=tuple(orders),
        order_of=order_of,
        pairs=first_asked(orders, order_of, panel.instance.capacity),
        step=STEP,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _without_noise(panel: SkillPanel, amounts: Floats, start: Floats) -> Floats:
    """How many tasks follow each order: all of each start's, without a solver's noise."""
    count = np.array([float(one.tasks.size) for one in panel.starts])
    real = np.where(amounts > NOISE * count[start], amounts, 0.0)
    return np.asarray(real * (count / np.bincount(start, weights=real, minlength=count.size))[start])
