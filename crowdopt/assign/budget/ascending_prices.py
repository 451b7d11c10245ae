"""Prices of places and of money where tasks are many: the bound on wrong answers climbed directly, without a program.

``max over w, b >= 0 of sum_t n_t h_t(w, b) - sum_g s_g M_g w_g - b B``,
``h_t = min over 0 <= y <= room of value(D_t + sum_g q_tg y_g) + sum_g (w_g + b c_tg) y_g``: labels are taken by ratio
``(w_g + b c_tg) / q_tg``, the lowest first, until the next one costs more than it brings. The function is concave and
nearly smooth; its gradient is what tasks ask of each worker, less the capacity.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from crowdopt.arrays import Floats
from crowdopt.assign.budget.error_curves import LEAST, ErrorCurve
from crowdopt.core.clock import Clock
from crowdopt.crowd.classes import Classes

STEPS, STARTS = 300, 8  # of a climb, and climbs, at most
FLAT = 1e-7  # relative; a climb that gains no more than this has ended


@dataclass(frozen=True, eq=False)
class Demand:
    """What tasks take at some prices.

    Parameters
    ----------
    task : (T,) float
        x, the price at which a task's last unit of evidence is worth its money.
    labels : (T, G) float
        y of one task, shares of labels included.
    value : (T,) float
        h.
    """

    task: Floats
    labels: Floats
    value: Floats


def demand(classes: Classes, curve: ErrorCurve, held: Floats, worker: Floats, spend: float) -> Demand:
    """The labels that make each task's errors and its labels' prices least together.

    Parameters
    ----------
    classes : Classes
        Of tasks and workers.
    curve : ErrorCurve
        Of the classes of tasks.
    held : (T,) float
        D, evidence in already.
    worker : (G,) float
        w, of a label of each worker; at least 0.
    spend : float
        b, of money; at least 0.

    Returns
    -------
    Demand
    """
    paid = worker + spend * classes.cost
    ratio = np.where(classes.evidence > 0, paid / np.maximum(classes.evidence, LEAST), np.inf)
    order = np.argsort(ratio, axis=1, kind="stable")
    ratio = np.take_along_axis(ratio, order, axis=1)
    worth = np.take_along_axis(classes.evidence * classes.room, order, axis=1)
    after = held[:, None] + np.cumsum(worth, axis=1)
    before = after - worth
    worthwhile = ratio < -curve.slope(before.T).T
    last = worthwhile.sum(axis=1) - 1  # slopes fall and ratios rise along a row, so these are the first ones
    rows, none = np.arange(held.size), last < 0
    last = np.maximum(last, 0)
    whole = -curve.slope(after[rows, last])
    price = np.where(none, -curve.slope(held), np.maximum(whole, ratio[rows, last]))
    taken = np.arange(worth.shape[1]) < last[:, None]
    part = (curve.reached(np.maximum(price, LEAST)) - before[rows, last]) / np.maximum(worth[rows, last], LEAST)
    share = taken.astype(np.float64)
    share[rows, last] = np.where(none, 0.0, np.clip(part, 0.0, 1.0))
    labels = np.empty_like(share)
    np.put_along_axis(labels, order, share, axis=1)
    labels *= classes.room
    have = held + (labels * classes.evidence).sum(axis=1)
    return Demand(np.maximum(price, LEAST), labels, curve.value(have) + (labels * paid).sum(axis=1))


def ascended(
    classes: Classes, curve: ErrorCurve, held: Floats, money: float, clock: Clock
) -> tuple[Floats, Floats, float]:
    """Prices of evidence, of workers and of money where the bound is high, by L-BFGS (Byrd et al. 1995).

    Parameters
    ----------
    classes : Classes
        Of tasks and workers.
    curve : ErrorCurve
        Of the classes of tasks.
    held : (T,) float
        D, evidence in already.
    money : float
        B.
    clock : Clock
        When to stop; the best prices so far count.

    Returns
    -------
    task, worker, money : (T,), (G,), float
        Each at least 0.
    """
    room = classes.workers_in * classes.capacity.astype(np.float64)
    groups, best = room.size, (np.inf, np.zeros(room.size + 1))
    label = max(1e-9, float(classes.cost.mean()))
    unit = float(-curve.slope(held).mean()) * float(classes.evidence.max()) / label or 1.0

    def below(point: Floats) -> tuple[float, Floats]:
        """The negated bound and its gradient; prices are counted in units of a first label's gain."""
        nonlocal best
        worker, spend = unit * label * point[:groups], unit * float(point[groups])
        asked = demand(classes, curve, held, worker, spend)
        wanted = classes.tasks_in @ asked.labels
        bill = float(classes.tasks_in @ (asked.labels * classes.cost).sum(axis=1))
        value = float(classes.tasks_in @ asked.value) - float(room @ worker) - spend * money
        slope = np.append(unit * label * (wanted - room), unit * (bill - money))
        if -value < best[0]:
            best = (-value, point.copy())
        if clock.over:
            raise StopIteration  # the way out of scipy's loop
        return -value, -slope

    bounds, settings = [(0.0, None)] * (groups + 1), {"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": 0.0, "gtol": 0.0}
    start, before = np.append(np.zeros(groups), 0.1), np.inf
    with suppress(StopIteration):
        for _ in range(STARTS):  # at a kink it may stop early: begun anew there it goes on
            minimize(below, start, jac=True, method="L-BFGS-B", bounds=bounds, options=settings)
            if before - best[0] <= FLAT * max(1.0, abs(best[0])):
                break
            start, before = best[1], best[0]
    worker, spend = unit * label * best[1][:groups], unit * float(best[1][groups])
    return demand(classes, curve, held, worker, spend).task, worker, spend
