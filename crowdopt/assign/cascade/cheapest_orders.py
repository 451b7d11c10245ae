"""The cheapest adaptive plan of many workers who differ in skill: orders of asking, dealt to tasks, and a bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.cascade.blank_plan import blank_plan
from crowdopt.assign.cascade.order_generation import STEP, FoundOrders, OrderGeneration
from crowdopt.assign.cascade.order_master import OrderColumn
from crowdopt.assign.standing import Solvers
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.states.asking_orders import ASK, OrderShare
from crowdopt.crowd.states.own_skills import OwnSkills

NOISE = 1e-9  # of the tasks of a start, relative: what a solver leaves where it means 0


def cheapest_orders(
    problem: OwnSkills,
    expert: float | None,
    solvers: Solvers,
    options: Options,
    *,
    strict: bool = False,
) -> AdaptivePlan:
    """``min expected cost`` over mixtures of orders, against a bound on every adaptive plan.

    expert: price of an answer that is right; strict: whether there is a plan for these targets or none; else, where
    none is found, one whose errors are a multiple of all targets.
    """
    none = replace(blank_plan(problem, Status.UNDECIDED, options.seed), expert=expert)
    generation = OrderGeneration(problem, expert, solvers.make_master, options.seed)
    found = generation.run(Clock(options.time_limit))
    if found is None or (strict and found.times > 1):
        return none
    columns, tasks = _kept(problem, found)
    plan = _with_figures(replace(none, step=STEP), problem, found, list(zip(columns, tasks.tolist(), strict=True)))
    order_of = _dealt(problem, columns, tasks, options.seed)
    plan = replace(plan, order_of=order_of, pairs=first_asked(plan.orders, order_of, problem.instance.capacity))
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _kept(problem: OwnSkills, found: FoundOrders) -> tuple[list[OrderColumn], Floats]:
    """The orders that tasks follow, and how many: all of each start's, without a solver's noise."""
    every, start = found.master.columns, np.array([one.start for one in found.master.columns])
    count = np.array([float(one.tasks.size) for one in problem.starts])
    amounts = np.where(found.amounts > NOISE * count[start], found.amounts, 0.0)
    amounts = amounts * (count / np.bincount(start, weights=amounts, minlength=count.size))[start]
    kept = np.flatnonzero(amounts)
    return [every[k] for k in kept.tolist()], amounts[kept]


def _with_figures(
    plan: AdaptivePlan, problem: OwnSkills, found: FoundOrders, dealt: list[tuple[OrderColumn, float]]
) -> AdaptivePlan:
    """The plan with its orders, and what they come to."""
    kinds, starts = problem.first.size, problem.starts
    loads, wrong, expert, cost = np.zeros(problem.instance.n_workers), np.zeros(kinds), np.zeros(kinds), 0.0
    orders = []
    for one, tasks in dealt:
        here = starts[one.start]
        loads[list(one.order.workers)] += tasks * one.asked
        wrong[here.kind] += tasks * one.wrong
        expert[here.kind] += tasks * one.expert
        cost += tasks * one.cost(problem, found.master.expert)
        orders.append(OrderShare(here.kind, here.votes, one.order, tasks / here.tasks.size, tasks))
    return replace(
        plan,
        status=Status.FEASIBLE if found.times == 1 else Status.UNDECIDED,
        objective=cost,
        bound=found.bound,
        proof_of=found.proof,
        loads=loads,
        errors=wrong / problem.tasks_in,
        to_expert=expert / problem.tasks_in,
        times=found.times,
        orders=tuple(orders),
    )


def _dealt(problem: OwnSkills, columns: list[OrderColumn], amounts: Floats, seed: int) -> Ints:
    """The order of each task, (tasks,): tasks that start alike are shuffled and dealt by shares, up to one task."""
    rng, start = np.random.default_rng(seed), np.array([one.start for one in columns])
    order_of = np.empty(problem.instance.n_tasks, np.int64)
    for number, one in enumerate(problem.starts):
        mine = np.flatnonzero(start == number)
        heads = np.cumsum(amounts[mine]) / amounts[mine].sum()
        lots = (rng.permutation(one.tasks.size) + rng.random()) / one.tasks.size
        order_of[one.tasks] = mine[np.minimum(np.searchsorted(heads, lots, side="right"), mine.size - 1)]
    return order_of


def first_asked(orders: tuple[OrderShare, ...], order_of: Ints, capacity: Ints) -> Ints:
    """Task and first worker of each order dealt, (k, 2), by task; a task whose worker has no room waits."""
    left, pairs = capacity.copy(), []
    for task, number in enumerate(order_of.tolist()):
        action, worker = orders[number].order.turn({})
        if action == ASK and left[worker] > 0:
            left[worker] -= 1
            pairs.append((task, worker))
    return np.array(pairs, np.int64).reshape(-1, 2)
