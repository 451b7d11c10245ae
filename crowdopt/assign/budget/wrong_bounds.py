"""What no plan can do with so much money: lower bounds on expected wrong answers, from any prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.budget.ascending_prices import ascended
from crowdopt.assign.budget.error_curves import LEAST, ErrorCurve
from crowdopt.core.clock import Clock
from crowdopt.core.roundoff import lowered
from crowdopt.core.solution import WARM, Options, Solve, Status
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import BHATTACHARYYA
from crowdopt.programs.fewest_wrong import Tangents, of_tangents

ROUNDS = 40  # of tangents
NEAR = 1e-7  # relative; the point's value on the curve and the bound are then the same
CELLS = 5_000  # kinds of tasks x of workers, beyond which prices are climbed to instead of programs solved


@dataclass(frozen=True, eq=False)
class WrongBound:
    """What no plan of so much money can do, and the prices that prove it."""

    value: float  # the least of the curves' sum; -inf where nothing is known
    task: Floats  # (tasks,): x >= 0, the price of a unit of evidence, in wrong answers
    worker: Floats  # (workers,): w >= 0, of a label's place
    money: float  # b >= 0, of a unit of money


def fewest_wrong(
    instance: AssignmentInstance, money: float, curve: Callable[[Floats], ErrorCurve], solve: Solve, options: Options
) -> WrongBound:
    """A lower bound on ``sum_i value(A_i)`` over all plans of so much money, shares of labels included.

    Tangents of the curve make a linear program over classes of tasks and workers; its multipliers are the prices at
    which :func:`priced_out` proves the bound, whatever the solver did. Where that program is large prices are climbed
    to directly.

    curve: from the priors of the classes of tasks, (T, classes), to their curve; solve, options: whose prices are
    taken, and the limits of all programs together.
    """
    money = min(money, most_money(instance))
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    classes = _classes(instance, money, prior)
    task = classes.first_task
    held = classes.instance.collected_evidence[task]
    limits = curve(prior[task])
    if classes.evidence.size > CELLS:
        best = _by_ascent(classes, limits, held, money, options)
    else:
        best = _by_tangents(classes, limits, held, money, solve, options)
    return replace(best, task=best.task[classes.task_class], worker=best.worker[classes.worker_class])


def most_money(instance: AssignmentInstance) -> float:
    """What all labels that can be had cost at most: more money buys nothing."""
    room = np.minimum(instance.capacity, instance.n_tasks)
    return float(room @ instance.cost.max(axis=0))


def _classes(instance: AssignmentInstance, money: float, prior: Floats) -> Classes:
    """Classes of tasks that also agree in their prior and in what is in already: by a need that tells those apart."""
    # Limits of groups aside: without them no plan does worse.
    plain = replace(instance, rule=BHATTACHARYYA.name, budget=money, groups=(), own_rows=None)
    held = plain.collected_evidence
    number = np.unique(np.column_stack([held, prior]), axis=0, return_inverse=True)[1].reshape(-1)
    even = replace(plain, prior=np.full(instance.classes, 1 / instance.classes), demand=np.asarray(1.0)).with_epsilon(
        0.1
    )
    return classes_of(replace(even, demand=(1.0 + number + held) / even.need))


def _by_ascent(classes: Classes, curve: ErrorCurve, held: Floats, money: float, options: Options) -> WrongBound:
    price, worker, spend = ascended(classes, curve, held, money, Clock(options.time_limit))
    return WrongBound(priced_out(classes, curve, held, price, worker, spend, money), price, worker, spend)


def _by_tangents(
    classes: Classes, curve: ErrorCurve, held: Floats, money: float, solve: Solve, options: Options
) -> WrongBound:
    tangents = [_tangent(curve, held + more) for more in (0.0, 1.0, 3.0, 6.0, 10.0)]
    best = WrongBound(-np.inf, np.zeros(held.size), np.zeros(classes.workers_in.size), 0.0)
    clock = Clock(options.time_limit)
    for _ in range(ROUNDS):
        if clock.over:
            return best
        program = of_tangents(classes, held, tangents)
        solution = solve(program, WARM, clock.within(options, options.nodes))
        if solution.status is not Status.OPTIMAL or solution.dual is None or solution.primal is None:
            return best
        duals = solution.dual
        price = np.maximum(LEAST, program.row("cover").view(duals))
        worker = np.maximum(0.0, -program.row("capacity").view(duals))
        spend = max(0.0, -float(program.row("budget").view(duals)[0]))
        value = priced_out(classes, curve, held, price, worker, spend, money)
        best = best if best.value >= value else WrongBound(value, price, worker, spend)
        tangents.append(_tangent(curve, program.column("evidence").view(solution.primal).copy()))
        if float(classes.tasks_in @ tangents[-1].value) - best.value <= NEAR * max(1.0, abs(best.value)):
            return best
    return best


def _tangent(curve: ErrorCurve, evidence: Floats) -> Tangents:
    return Tangents(evidence, curve.value(evidence), curve.slope(evidence))


def priced_out(
    classes: Classes, curve: ErrorCurve, held: Floats, price: Floats, worker: Floats, spend: float, money: float
) -> float:
    """``sum_i least(x_i) - x_i D_i - sum_g s_g M_g w_g - b B - sum_ij max(0, x_i q_ij - w_j - b c_ij)``.

    At most ``sum_i value(A_i)`` for every plan that costs at most B and keeps the capacities, for any x, w, b >= 0:
    weak duality, less what rounding may have added. D_i is the evidence of labels already in.

    price (T,): x, money per unit of evidence; positive.
    """
    worth, paid = price[:, None] * classes.evidence, worker + spend * classes.cost
    pairs = classes.tasks_in[:, None] * classes.room
    least, known = curve.least(price), price * held
    time = (classes.workers_in * classes.capacity) @ worker
    total = classes.tasks_in @ (least - known) - (pairs * np.maximum(0.0, worth - paid)).sum() - time - spend * money
    size = classes.tasks_in @ (least + known) + (pairs * (worth + paid)).sum() + time + spend * money
    return lowered(float(total), float(size))
