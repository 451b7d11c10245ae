"""What no plan can do with so much money: lower bounds on expected wrong answers, from any prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.roundoff import lowered
from crowdopt.core.solution import Options, Solve, Status
from crowdopt.crowd.classes import Classes, classes_of
from crowdopt.crowd.evidence import bhattacharyya_error
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs.fewest_wrong import Tangents, of_tangents

ROUNDS = 40  # of tangents
NEAR = 1e-7  # relative; the point's value on the curve and the bound are then the same
LEAST = 1e-12  # evidence has at least this price


@dataclass(frozen=True, eq=False)
class WrongBound:
    """What no plan of so much money can do, and the prices that prove it.

    Parameters
    ----------
    value : float
        The least of the curves' sum; -inf where nothing is known.
    task : (tasks,) float
        x >= 0, the price of a unit of evidence, in wrong answers.
    worker : (workers,) float
        w >= 0, of a label's place.
    money : float
        b >= 0, of a unit of money.
    """

    value: float
    task: Floats
    worker: Floats
    money: float


Function: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """A convex, falling function of a task's evidence that its error is held to be.

    Parameters
    ----------
    value, slope : callables
        Of the evidence, (T,); the slope is negative.
    least : callable
        ``least(x) = min over A >= 0 of value(A) + x A`` for prices x > 0 of evidence.
    """

    value: Function
    slope: Function
    least: Function


def surrogate_curve(prior: Floats) -> ErrorCurve:
    """``S e^{-A/2}``, which no log-odds vote's error exceeds; what greedy goes by. One row of the prior a task.

    Parameters
    ----------
    prior : (T, classes) float
        Of a task of each class; rows add up to 1.

    Returns
    -------
    ErrorCurve
    """
    top = bhattacharyya_error(np.zeros(len(prior)), prior)

    def least(x: Floats) -> Floats:
        inside = 2 * x < top
        best = 2 * x * (1 + np.log(top / np.where(inside, 2 * x, top)))
        return np.where(inside, best, top)

    return ErrorCurve(lambda a: top * np.exp(-a / 2), lambda a: -top * np.exp(-a / 2) / 2, least)


def least_curve(prior: Floats) -> ErrorCurve:
    """``(1 - sqrt(1 - k e^{-A})) / 2``, k = 4 pi_0 pi_1: no vote errs less (Cauchy and Schwarz); two classes.

    Parameters
    ----------
    prior : (T, 2) float
        Of a task of each class; rows add up to 1.

    Returns
    -------
    ErrorCurve
    """
    k = np.minimum(4 * prior[:, 0] * prior[:, 1], 1 - 1e-12)

    def value(a: Floats) -> Floats:
        return _half_share(k * np.exp(-a))

    def slope(a: Floats) -> Floats:
        rest = k * np.exp(-a)
        fall: Floats = -rest / (4 * np.sqrt(1 - rest))
        return fall

    def least(x: Floats) -> Floats:
        rest = np.minimum(k, 2 * x / (np.sqrt(x * x + 0.25) + x))
        best: Floats = _half_share(rest) + x * np.log(k / rest)
        return best

    return ErrorCurve(value, slope, least)


def _half_share(rest: Floats) -> Floats:
    """``(1 - sqrt(1 - r)) / 2``, written so that nothing cancels."""
    share: Floats = rest / (2 * (1 + np.sqrt(1 - rest)))
    return share


def fewest_wrong(
    instance: AssignmentInstance, money: float, curve: Callable[[Floats], ErrorCurve], solve: Solve, options: Options
) -> WrongBound:
    """A lower bound on ``sum_i value(A_i)`` over all plans of so much money, shares of labels included.

    Tangents of the curve make a linear program over classes of tasks and workers; its multipliers are the prices at
    which :func:`priced_out` proves the bound, whatever the solver did.

    Parameters
    ----------
    instance : AssignmentInstance
    money : float
        The most that a plan may cost.
    curve : callable
        From the priors of the classes of tasks, (T, classes), to their curve.
    solve, options : callable and Options
        Whose prices are taken.

    Returns
    -------
    WrongBound
    """
    money = min(money, most_money(instance))
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    classes = _classes(instance, money, prior)
    task = np.unique(classes.task_class, return_index=True)[1]
    held = classes.instance.collected_evidence[task]
    best = _by_tangents(classes, curve(prior[task]), held, money, solve, options)
    return replace(best, task=best.task[classes.task_class], worker=best.worker[classes.worker_class])


def most_money(instance: AssignmentInstance) -> float:
    """What all labels that can be had cost at most: more money buys nothing."""
    room = np.minimum(instance.capacity, instance.n_tasks)
    return float(room @ instance.cost.max(axis=0))


def _classes(instance: AssignmentInstance, money: float, prior: Floats) -> Classes:
    """Classes of tasks that also agree in their prior and in what is in already: by a need that tells those apart.

    Limits of groups aside: without them no plan does worse.
    """
    plain = replace(instance, rule="bhattacharyya", budget=money, groups=(), own_rows=None)
    held = plain.collected_evidence
    number = np.unique(np.column_stack([held, prior]), axis=0, return_inverse=True)[1].reshape(-1)
    even = replace(plain, prior=np.full(instance.classes, 1 / instance.classes), demand=np.asarray(1.0)).with_epsilon(
        0.1
    )
    return classes_of(replace(even, demand=(1.0 + number + held) / even.need))


def _by_tangents(
    classes: Classes, curve: ErrorCurve, held: Floats, money: float, solve: Solve, options: Options
) -> WrongBound:
    """The best bound of all tangent programs, its prices over classes."""
    tangents = [_tangent(curve, held + more) for more in (0.0, 1.0, 3.0, 6.0, 10.0)]
    best = WrongBound(-np.inf, np.zeros(held.size), np.zeros(classes.workers_in.size), 0.0)
    for _ in range(ROUNDS):
        program = of_tangents(classes, held, tangents)
        solution = solve(program, "highs-simplex", options)
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

    Parameters
    ----------
    classes : Classes
        Of tasks and workers.
    curve : ErrorCurve
        Of the classes of tasks.
    held : (T,) float
        D, evidence in already.
    price : (T,) float
        x, money per unit of evidence; positive.
    worker : (G,) float
        w, of a label of each worker; at least 0.
    spend : float
        b, of money; at least 0.
    money : float
        B.

    Returns
    -------
    float
    """
    worth, paid = price[:, None] * classes.evidence, worker + spend * classes.cost
    pairs = classes.tasks_in[:, None] * classes.room
    least, known = curve.least(price), price * held
    time = (classes.workers_in * classes.capacity) @ worker
    total = classes.tasks_in @ (least - known) - (pairs * np.maximum(0.0, worth - paid)).sum() - time - spend * money
    size = classes.tasks_in @ (least + known) + (pairs * (worth + paid)).sum() + time + spend * money
    return lowered(float(total), float(size))
