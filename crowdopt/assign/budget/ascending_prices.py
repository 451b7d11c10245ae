"""Prices of places and of money where tasks are many: the bound on wrong answers climbed directly, without a program.

``max over w, b >= 0 of sum_t n_t h_t(w, b) - sum_g s_g M_g w_g - b B``,
``h_t = min over 0 <= y <= room of value(D_t + sum_g q_tg y_g) + sum_g (w_g + b c_tg) y_g``: labels are taken by ratio
``(w_g + b c_tg) / q_tg``, the lowest first, until the next one costs more than it brings. The function is concave and
nearly smooth; its gradient is what tasks ask of each worker, less the capacity.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.budget.error_curves import ErrorCurve
from crowdopt.assign.budget.projected_steps import descend
from crowdopt.assign.budget.task_demand import TaskRows
from crowdopt.core.clock import Clock
from crowdopt.crowd.classes import Classes
from crowdopt.elementary import dot

STARTS, LOOKS = 8, 1_500  # climbs, and looks of all, at most
FLAT, LATELY = 1e-7, 100  # relative; climbing ends where so many looks gained no more than this


def ascended(
    classes: Classes, curve: ErrorCurve, held: Floats, money: float, clock: Clock
) -> tuple[Floats, Floats, float]:
    """Prices of evidence, of workers and of money where the bound is high, by L-BFGS.

    classes: of tasks and workers; curve: of the classes of tasks; held (T,): D, evidence in already; money: B; clock:
    when to stop; the best prices so far count; -> task, worker, money (T,), (G,), float: each at least 0.
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
        value = float(dot(classes.tasks_in, asked.value)) - float(dot(room, worker)) - spend * money
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
            descend(below, np.append(np.zeros(groups), 0.1) if np.isinf(best[0]) else best[1])
    worker, spend = unit * label * best[1][:groups], unit * float(best[1][groups])
    return rows.demand(curve, held, worker, spend).price, worker, spend
