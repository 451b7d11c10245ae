"""What no policy can do better, by the best potential over beliefs: skills known, and skills to be found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import TypeAlias

import numpy as np

from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.solution import INTERIOR, Options, Solve
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.online.limits.stopping import StoppingRule, WorkerGroup, best_stopping, groups_of
from crowdopt.online.picking import fill
from crowdopt.programs.potential import (
    ErrorTarget,
    Potential,
    Rules,
    alike,
    error_target,
    everything,
    of_rules,
    rules_of,
    wanted_in,
)

LEVELS = 24  # different skills in the program; the potential it finds is held against all there are
FEWER = 12  # where skills have to be found out, and a program is solved many times
ROUNDS = 40  # programs solved for one bound
PATIENT = Options(time_limit=600.0)  # such a program takes about a second
ENOUGH = 2e-3  # relative; a potential this close to what the program promises is good enough


@dataclass(frozen=True, eq=False)
class LowerBound:
    """No policy keeps the mean error below its target at a lower expected cost than ``value``.

    With the potentials and ``mu`` anyone can check that by arithmetic alone (:func:`held_with_skills_known`).
    """

    # in the unit of prices, labels where each costs 1; infinite where all the labels there are do not suffice
    value: float
    potentials: tuple[Potential, ...]  # one per type
    mu: float  # what an expected wrong answer costs
    # of the last program: up to its bound, turned, a potential with these knots could have proven, for a crowd with
    # that many levels of skill
    program: Certificate


Proof: TypeAlias = Callable[[tuple[Potential, ...], float], tuple[float, list[Rules]]]


def skills_known(instance: AssignmentInstance, solve: Solve) -> LowerBound:
    """LB0: no policy, even one that knows every skill beforehand, does with less.

    The program (crowdopt.programs.potential) finds potentials; what they prove is computed anew for the crowd as it is.
    """
    target, level = error_target(instance, LEVELS)
    worker, size = alike(instance, level)

    def proven(potentials: tuple[Potential, ...], mu: float) -> tuple[float, list[Rules]]:
        value = held_with_skills_known(instance, potentials, mu)
        gain = np.array([potentials[kind].most_gained(p) for kind, p in _by_level(target)])[level[:, worker]]
        amount = fill((gain - instance.cost[:, worker]).T, wanted_in(instance), instance.capacity[worker])
        return value, [rules_of(instance, level, worker, amount.astype(np.float64), size)]

    rounds = 1 if instance.n_types == 1 else ROUNDS
    return _climbed(target, everything(instance, level), proven, solve, rounds, _supply(instance))


def held_with_skills_known(instance: AssignmentInstance, potentials: tuple[Potential, ...], mu: float) -> float:
    """``sum V(b_i) - mu sum eps_i - sum_j max over j's labels of sum (c_V(p_j) - price)``: a lower bound for any V, mu.

    Needs ``V(b) <= mu min(b, 1 - b)``; potentials that exceed that are lowered to it first.
    """
    low = _lowered(potentials, mu)
    gain = np.stack([potential.most_gained(row) for potential, row in zip(low, instance.accuracy, strict=True)])
    value = (gain - instance.cost).T
    amount = fill(value, wanted_in(instance), instance.capacity)
    return _start(instance, low, mu) - float((amount * np.maximum(value, 0.0)).sum())


def skills_unknown(instance: AssignmentInstance, solve: Solve, known: LowerBound) -> LowerBound:
    """LB1: no policy that knows only how skill is distributed does with less, even if shown which labels are right.

    Workers are taken as drawn one by one from the instance's own distribution of skill, given what they cost. Gold
    tells a policy nothing that it is not shown here, so it does not get around this bound. With several types a
    worker's skills are taken as independent; where they are not the figure is only indicative.

    known: :func:`skills_known` of the instance.
    """
    target, level = error_target(instance, FEWER)
    groups = groups_of(instance, level)
    size = np.array([group.size for group in groups], np.int64)

    def proven(potentials: tuple[Potential, ...], mu: float) -> tuple[float, list[Rules]]:
        value, best = _stopped(instance, groups, potentials, mu)
        labels = np.zeros((len(groups), target.level_type.size))
        for row, group, one in zip(labels, groups, best, strict=True):
            np.add.at(row, group.level, one.labels)
        paid = labels.sum(axis=1) * np.array([group.price for group in groups])
        return value, [Rules(size, np.arange(len(groups)), labels, paid)]

    first = proven(known.potentials, known.mu)
    climbed = _climbed(target, first[1][0], proven, solve, ROUNDS, _supply(instance))
    return (
        climbed
        if climbed.value >= first[0]
        else replace(climbed, value=first[0], potentials=known.potentials, mu=known.mu)
    )


def _stopped(
    instance: AssignmentInstance, groups: Sequence[WorkerGroup], potentials: tuple[Potential, ...], mu: float
) -> tuple[float, list[StoppingRule]]:
    """What the potentials prove for unknown skills, and the best stopping of each group's workers."""
    low = _lowered(potentials, mu)
    best = [
        best_stopping(
            group.accuracy, group.weight, low[group.kind].most_gained(group.accuracy) - group.price, group.horizon
        )
        for group in groups
    ]
    value = _start(instance, low, mu)
    for group, one in zip(groups, best, strict=True):
        value -= group.size * one.worth
    return value, best


def _climbed(target: ErrorTarget, rules: Rules, proven: Proof, solve: Solve, rounds: int, supply: float) -> LowerBound:
    """Solve the program, hold its potential against everything workers could do, add what it had missed, again."""
    best: LowerBound | None = None
    for _ in range(rounds):
        program = of_rules(target, rules)
        solution = solve(program, INTERIOR, PATIENT)
        certificate = certify(solution)
        if solution.primal is None:
            raise RuntimeError(f"the program of potentials has no solution: {solution.raw}")
        point = solution.primal
        values, mu = program.column("potential").view(point), float(program.column("mu").view(point)[0])
        potentials = tuple(Potential(target.knots, np.maximum(row, 0.0)) for row in values)
        value, missed = proven(potentials, mu)
        if best is None or value > best.value:
            best = LowerBound(value, potentials, mu, certificate)
        # what the program promises with the rules it knows is above what is proven with all: stop where they meet
        promised = -float(certificate.value or 0.0)
        if promised <= best.value * (1 + ENOUGH) or best.value > supply:
            break
        rules = reduce(Rules.with_more, missed, rules)
    assert best is not None
    value = inf if best.value > supply * (1 + 1e-9) else max(0.0, best.value)
    return replace(best, value=value, program=certificate)


def _by_level(target: ErrorTarget) -> list[tuple[int, float]]:
    return list(zip(target.level_type.tolist(), target.level_accuracy.tolist(), strict=True))


def _supply(instance: AssignmentInstance) -> float:
    """What all labels together cost that could be had, dearest types first."""
    return float((instance.cost.max(axis=0) * np.minimum(instance.capacity, wanted_in(instance).sum())).sum())


def _lowered(potentials: tuple[Potential, ...], mu: float) -> tuple[Potential, ...]:
    """Potentials that nowhere exceed ``mu min(b, 1 - b)``: solvers allow a millionth."""
    return tuple(
        Potential(potential.knots, np.minimum(potential.value, mu * (1 - potential.knots))) for potential in potentials
    )


def _start(instance: AssignmentInstance, potentials: tuple[Potential, ...], mu: float) -> float:
    wanted = instance.need > COVERAGE
    belief = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[:, 1]
    total = -mu * float(instance.epsilon[wanted].sum())
    for kind, potential in enumerate(potentials):
        total += float(potential.at(belief[wanted & (instance.task_type == kind)]).sum())
    return total
