"""Prices of places and of money where tasks are many: the bound on wrong answers climbed directly, without a program.

``max over w, b >= 0 of sum_t n_t h_t(w, b) - sum_g s_g M_g w_g - b B``,
``h_t = min over 0 <= y <= room of value(D_t + sum_g q_tg y_g) + sum_g (w_g + b c_tg) y_g``: labels are taken by ratio
``(w_g + b c_tg) / q_tg``, the lowest first, until the next one costs more than it brings. The function is concave and
nearly smooth; its gradient is what tasks ask of each worker, less the capacity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.assign.budget.error_curves import ErrorCurve
from crowdopt.assign.budget.task_demand import TaskRows
from crowdopt.core.clock import Clock
from crowdopt.crowd.alike import Classes

Sloped = Callable[[Floats], tuple[float, Floats]]  # a function's value and its slope
Steps = deque[tuple[Floats, Floats]]

STARTS, LOOKS = 8, 1_500  # climbs, and looks of all, at most
FLAT, LATELY = 1e-7, 100  # relative; climbing ends where so many looks gained no more than this
MEMORY, HALVINGS = 10, 25  # steps that are remembered; of a step
ENOUGH = 1e-4  # share of the fall that the slope promises
CURVED = 1e-12  # relative; a step along which the slope hardly changes says nothing of curvature


def ascended(
    classes: Classes, curve: ErrorCurve, held: Floats, money: float, clock: Clock
) -> tuple[Floats, Floats, float]:
    """Prices of evidence, of workers and of money where the bound is high, by L-BFGS.

    -> task, worker, money (T,), (G,), float: each at least 0.
    """
    room = classes.workers_in * classes.capacity.astype(np.float64)
    rows, groups, best = TaskRows.of(classes), room.size, (np.inf, np.zeros(room.size + 1))
    label = max(1e-9, float(classes.cost.mean()))
    unit = float(-curve.slope(held).mean()) * float(classes.evidence.max()) / label or 1.0

    lowest: list[float] = []

    def below(point: Floats) -> tuple[float, Floats]:
        """The negated bound and its gradient; prices are counted in units of a first label's gain."""
        nonlocal best
        worker, spend = unit * label * point[:groups], unit * float(point[groups])
        asked = rows.demand(curve, held, worker, spend)
        value = float(classes.tasks_in @ asked.value) - float(room @ worker) - spend * money
        slope = np.append(unit * label * (asked.wanted - room), unit * (asked.bill - money))
        if -value < best[0]:
            best = (-value, point.copy())
        lowest.append(best[0])
        gained = np.inf if len(lowest) <= LATELY else lowest[-LATELY - 1] - lowest[-1]
        if clock.over or len(lowest) >= LOOKS or gained <= FLAT * max(1.0, abs(best[0])):
            raise StopIteration
        return -value, -slope

    with suppress(StopIteration):
        for _ in range(STARTS):  # at a kink it may stop early: begun anew there it goes on
            _descend(below, np.append(np.zeros(groups), 0.1) if np.isinf(best[0]) else best[1])
    worker, spend = unit * label * best[1][:groups], unit * float(best[1][groups])
    return rows.demand(curve, held, worker, spend).price, worker, spend


def _descend(function: Sloped, start: Floats) -> None:
    """Look at the function again and again, lower and lower; ends where no step along its slope lowers it.

    L-BFGS by its two loops (Nocedal 1980) on the coordinates that are above 0, or whose slope leads there; each step is
    cut off at 0 and halved until the function falls enough (Bertsekas 1982). scipy's L-BFGS-B does the same, but BLAS
    shares products of a few thousand numbers among threads there, which takes four times as long as the products do.

    function: convex, its value and slope at a point; the caller keeps the best point, and ends the descent by an
    exception; start (k,): at least 0.
    """
    point, steps = start, Steps(maxlen=MEMORY)
    value, slope = function(point)
    while True:
        free = (point > 0) | (slope < 0)
        way = _way(slope, free, steps)
        if way @ slope >= 0:
            steps.clear()
            way = _way(slope, free, steps)
        for halving in range(HALVINGS):
            there = np.maximum(0.0, point + 0.5**halving * way)
            lower, slope_there = function(there)
            if lower < value + ENOUGH * float(slope @ (there - point)):
                break
        else:
            if not steps:
                return
            steps.clear()
            continue
        step, change = there - point, slope_there - slope
        if step @ change > CURVED * float(np.sqrt((step @ step) * (change @ change))):
            steps.append((step, change))
        point, value, slope = there, lower, slope_there


def _way(slope: Floats, free: Bools, steps: Steps) -> Floats:
    """Where to go: the slope turned round, bent by the curvature of the last steps, along free coordinates alone."""
    way, weights = np.where(free, -slope, 0.0), []
    for step, change in reversed(steps):
        curvature = float((step * change)[free].sum())
        weight = float((step * way).sum()) / curvature if curvature > 0 else 0.0
        way = way - weight * np.where(free, change, 0.0)
        weights.append((weight, curvature))
    if steps:
        step, change = steps[-1]
        size = float((change * change)[free].sum())
        way *= max(CURVED, float((step * change)[free].sum()) / size) if size > 0 else 1.0
    else:
        way /= max(1.0, float(np.abs(way).max(initial=0.0)))
    for (step, change), (weight, curvature) in zip(steps, reversed(weights), strict=True):
        back = float((change * way).sum()) / curvature if curvature > 0 else 0.0
        way = way + (weight - back) * np.where(free, step, 0.0)
    return way
