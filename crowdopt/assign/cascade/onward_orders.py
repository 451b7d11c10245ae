"""What an adaptive plan of orders still errs with, given the votes so far: the targets of its next round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.onward_targets import LEAST, MOST
from crowdopt.assign.cascade.order_master import expected
from crowdopt.crowd.states.asking_orders import ASK, AskingOrder
from crowdopt.crowd.states.own_skills import OwnSkills


def onward_orders(problem: OwnSkills, orders: Sequence[AskingOrder], order_of: Ints) -> tuple[Floats, bool]:
    """Expected error of each task's order from where it stands, the mean of each kind, (tasks,); whether any asks on.

    problem: with all labels in; order_of (tasks,): the order dealt to each task. An order counts its own workers'
    labels; the chances of the classes go by all. See ``onward_targets``.
    """
    wrong, asks = np.empty(problem.instance.n_tasks), False
    for start in problem.starts:
        labels = {worker: label for worker, label, _ in start.votes}
        for number in np.unique(order_of[start.tasks]).tolist():
            order = orders[number]
            mine = start.tasks[order_of[start.tasks] == number]
            wrong[mine] = expected(problem, start.kind, order, start.law, order.heard(labels))[1]
            asks |= order.turn(labels)[0] == ASK
    mean = np.bincount(problem.kind, weights=wrong) / problem.tasks_in
    targets: Floats = np.clip(mean, LEAST, MOST)[problem.kind]
    return targets, asks
