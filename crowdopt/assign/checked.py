"""Plans whose exact errors are checked: the rules probit and exact-error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.plan import Plan, decide
from crowdopt.assign.problem import problem_of
from crowdopt.assign.standing import alarm
from crowdopt.assign.state import Holding
from crowdopt.core.clock import Clock
from crowdopt.core.solution import PROVEN, Listener, Options, Progress, Status, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import PROBIT, hard_need
from crowdopt.crowd.vote_errors import breaches, relaxation, short_tasks, worst_breach

Linear: TypeAlias = Callable[[AssignmentInstance, Options], Plan]  # who solves a linear rule's integer program

AIMS = (1.0, 1.15, 0.85, 1.35, 0.7, 1.7)  # of probit's need; the last is about the rule bhattacharyya's
NEAR = 1e-2  # relative gap at which a start is good enough, but on small instances
SMALL = 5_000  # pairs
WIDE = 64  # labels of a task for which there is room at least


def solve_checked(
    instance: AssignmentInstance, linear: Linear, options: Options, listener: Listener | None = None
) -> Plan:
    """Plan for a checked rule: linear programs as starts, exact top-up, exact thinning; the cheapest is kept.

    Under joint limits labels are only dropped, not moved: programs that know those limits ask for more evidence.

    The bound is that of the linear relaxation, which every plan of the rule keeps: the rule's own evidence row (for
    exact-error the Cauchy-Schwarz need) and the fewest labels, best workers first, that reach the target exactly.

    linear: ``(instance, options) -> Plan``: solves the integer program of the instance's evidence rows, unchecked.
    """
    clock, gap = Clock(options.time_limit), options.gap
    options = replace(options, gap=max(options.gap, 0.0 if instance.n_tasks * instance.n_workers <= SMALL else NEAR))
    loose = relaxation(instance)
    head = linear(loose, replace(options, time_limit=clock.left / 4))
    if head.status is Status.INFEASIBLE:
        return replace(head, instance=instance)
    best, value, interrupted = None, np.inf, head.interrupted
    for start in _starts(loose, head, linear, options, clock):
        interrupted |= start.interrupted
        turn = Clock(clock.left / 3)  # so that a start that cannot be mended leaves time for others
        pairs = None if start.pairs is None else settled(instance, start.pairs, turn)
        if pairs is not None and (cost := float(instance.prices(pairs).sum())) < value:
            best, value = pairs, cost
            if listener is not None:
                listener(Progress(perf_counter() - clock.started, value, head.bound))
        if best is not None and relative_gap(value, head.bound) <= max(PROVEN, gap):
            break
    return _plan(instance, head, best, interrupted)


def _starts(loose: AssignmentInstance, head: Plan, linear: Linear, options: Options, clock: Clock) -> Iterator[Plan]:
    """The relaxation's own plan, then plans that aim at more or less evidence."""
    yield head
    for number, aim in enumerate(AIMS):
        if clock.over or head.interrupted:
            return
        aimed = aiming(loose, aim)
        if loose.rule == "probit" and aim < 1:
            continue
        yield linear(aimed, replace(options, time_limit=clock.left / (len(AIMS) - number)))


def aiming(instance: AssignmentInstance, aim: float) -> AssignmentInstance:
    """The instance by the rule probit, its need so many times what a normal vote takes; difficulty heeded.

    -> without difficulty: its demand says what that takes.
    """
    demand = np.asarray(aim)
    if instance.difficulty.share:
        plain = PROBIT.need(instance.epsilon, instance.classes, instance.prior)
        needed = hard_need(instance.epsilon, instance.prior, instance.difficulty, PROBIT)
        demand = aim * np.divide(needed, plain, out=np.ones_like(needed), where=plain > 0)
    return replace(instance, rule=PROBIT.name, demand=demand, difficulty=NONE)


def settled(instance: AssignmentInstance, pairs: Ints, clock: Clock) -> Ints | None:
    """The pairs made to keep the rule and every limit, without a label to spare where time allows; None where it fails.

    pairs (k, 2): task and worker of each label to begin with; -> (k, 2) int, or None: task and worker of each label.
    """
    problem = problem_of(instance)
    new = pairs[~np.isin(instance.pair_keys(pairs), instance.pair_keys(instance.fixed))]
    with alarm(clock) as rung:
        held = Holding.of_labels(problem, new[:, 0], problem.worker_class[new[:, 1]], WIDE, rung)
        held.complete(problem.rows.cost)
        held.fill()
        held.thin(problem.rows.cost)
        found, lost = problem.pairs(*held.labels(), rung)
    wrong = lost.size or breaches(instance, found) or short_tasks(instance, found).size
    return None if wrong else found


def _plan(instance: AssignmentInstance, head: Plan, pairs: Ints | None, interrupted: bool) -> Plan:
    certificate = replace(head.certificate, value=None, violation=None, fraction=None)
    if pairs is not None:
        value, worst = float(instance.prices(pairs).sum()), worst_breach(instance, pairs)
        certificate = replace(certificate, value=value, violation=worst, fraction=0.0)
    return replace(
        head,
        instance=instance,
        program="ip",
        status=decide(certificate, pairs is not None),
        pairs=pairs,
        amounts=None,
        certificate=certificate,
        interrupted=interrupted,
    )
