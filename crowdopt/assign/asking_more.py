"""Checked rules under joint limits: tasks that err too much ask for more evidence, and the program is solved again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Ints
from crowdopt.assign.mending import TaskLabels
from crowdopt.assign.plan import Plan, breaches
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options
from crowdopt.crowd.difficulty.hard_tasks import NONE
from crowdopt.crowd.exactness import relaxation
from crowdopt.crowd.hard_needs import normal_need
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.votes.evidence import PROBIT

ROUNDS = 12  # of asking for more
FIRST = 1.0  # of probit's need: what tasks ask for at first
MOST = 3.0  # of probit's need; the rule bhattacharyya, whose promise is always kept, asks for about 1.7
PART = 0.3  # of the time left, for one program


def asked_for_more(
    instance: AssignmentInstance,
    start: Ints | None,
    linear: Callable[[AssignmentInstance, Options], Plan],
    options: Options,
    clock: Clock,
    more: float,
) -> Ints | None:
    """A plan that keeps the rule and every limit, joint ones too: the cheapest of those met, or None.

    Every program has the rows of groups and one's own, so that each of its plans keeps them; moving single labels
    would break them. Tasks whose vote errs too much ask for more evidence the next time, the others for as much as
    before. Labels that a task can do without are dropped where that breaks no limit.

    instance: under a checked rule; start (k, 2): a plan of the relaxation; linear: ``(instance, options) -> Plan``:
    solves the integer program of the instance's evidence rows, unchecked; clock: when to give up; more: times the
    evidence that tasks ask for which err too much; -> (k, 2) int, or None: task and worker of each label.
    """
    best, value, pairs = None, np.inf, start
    demand = np.full(instance.n_tasks, FIRST)
    base = relaxation(instance)
    for _ in range(ROUNDS):
        if pairs is not None:
            wrong = TaskLabels.of(instance, pairs).wrong()
            if wrong.size == 0:
                thin = _thinned(instance, pairs, clock)
                cost = float(instance.prices(thin).sum())
                best, value = (thin, cost) if cost < value else (best, value)
                if pairs is not start:
                    return best
            elif pairs is not start:
                demand[wrong] *= more
        if clock.over or demand.max() > MOST:
            break
        aimed = aiming(base, demand)
        plan = linear(aimed, replace(options, time_limit=max(clock.left * PART, 0.1)))
        if plan.interrupted or plan.pairs is None:
            break
        pairs = plan.pairs
    return best


def aiming(instance: AssignmentInstance, aim: ArrayLike) -> AssignmentInstance:
    """The instance by the rule probit, its need so many times what a normal vote takes; difficulty heeded.

    aim float or (tasks,) float; -> without difficulty: its demand says what that takes.
    """
    aim = np.asarray(aim, dtype=np.float64)
    if instance.difficulty.share:
        plain = PROBIT.need(instance.epsilon, instance.classes, instance.prior)
        needed = normal_need(instance.epsilon, instance.prior, instance.difficulty)
        aim = aim * np.divide(needed, plain, out=np.ones_like(needed), where=plain > 0)
    return replace(instance, rule="probit", demand=aim, difficulty=NONE)


def _thinned(instance: AssignmentInstance, pairs: Ints, clock: Clock) -> Ints:
    """The pairs without those that their task does not need, where limits of groups and own rows stay kept."""
    thin = TaskLabels.of(instance, pairs)
    thin.thin(clock)
    left = thin.pairs()
    return pairs if breaches(instance, left) else left
