"""The least that any policy costs at a mean error: all lower bounds side by side, and their curve over errors.

When to let a worker go whose skill shows only in their labels: optimal stopping by dynamic programme.

What information alone forbids: the labels that sequential tests need at least (Wald 1945).

What no policy can do better, by the best potential over beliefs: skills known, and skills to be found out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.solution import INTERIOR, Options, Solve
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.online.policy import fill
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

ENTRIES = 10_000_000  # states times skills: beyond, skill is told after fewer labels, which can only help


@dataclass(frozen=True, eq=False)
class StoppingRule:
    """The best rule: what it is worth, and how many labels it expects of workers of each skill."""

    worth: float  # ``max over rules of E sum over labels of gain(p)``, for one worker
    labels: Floats  # (skills,): expected labels of a worker of each skill times the chance of that skill


def best_stopping(
    accuracy: Floats, weight: Floats, gain: Floats, horizon: int, longest: int | None = None
) -> StoppingRule:
    """The worth of a worker of unknown skill who may be let go after any label, all shown to be right or wrong.

    ``U_k(c) = max(0, sum_p w p^c (1-p)^(k-c) gain(p) + U_{k+1}(c) + U_{k+1}(c+1))``: after k labels, c of them right,
    weighted by the chance of one way to get there. Beyond ``longest`` labels the skill is told: an upper bound then.

    accuracy, weight (skills,): the prior: p and its chance; gain (skills,): what a label by a worker of each skill
    brings, price deducted; horizon: the most labels of a worker; longest: default: as many as ENTRIES allows.
    """
    steps = min(horizon, isqrt(2 * ENTRIES // accuracy.size) if longest is None else longest)
    powers = _powers(accuracy, steps)
    later = np.zeros(steps + 1)
    if horizon > steps:
        later = (_paths(powers, weight, steps) @ np.maximum(gain, 0.0)) * (horizon - steps)
    going: list[NDArray[np.bool_]] = []
    for k in range(steps - 1, -1, -1):
        value = _paths(powers, weight, k) @ gain + later[1:] + later[:-1]
        going.append(value > 0)
        later = np.maximum(value, 0.0)
    return StoppingRule(float(later[0]), _expected(powers, weight, gain, going[::-1], horizon - steps))


def _powers(accuracy: Floats, most: int) -> tuple[Floats, Floats]:
    """``p^c`` and ``(1 - p)^c`` for c up to ``most``, each (most + 1, skills): every step takes some of them."""
    count = np.arange(most + 1)[:, None]
    return accuracy**count, (1 - accuracy) ** count


def _paths(powers: tuple[Floats, Floats], weight: Floats, k: int) -> Floats:
    """Chance of one sequence of k labels with c right ones, together with each skill: (k + 1, skills)."""
    right, wrong = powers
    return right[: k + 1] * wrong[k::-1] * weight


def _expected(
    powers: tuple[Floats, Floats], weight: Floats, gain: Floats, going: list[NDArray[np.bool_]], told: int
) -> Floats:
    """Labels that the rule expects, by going forward: in how many ways does one get to each state?"""
    ways, labels = np.ones(1), np.zeros(weight.size)
    for k, on in enumerate(going):
        ways = np.where(on, ways, 0.0)
        if not ways.any():
            return labels
        labels += ways @ _paths(powers, weight, k)
        ways = np.append(ways, 0.0) + np.append(0.0, ways)
    if told:
        labels += np.where(gain > 0, told, 0) * (ways @ _paths(powers, weight, len(going)))
    return labels


CAPACITIES, PRICES = 8, 8  # of the groups that workers of unknown skill fall into


@dataclass(frozen=True, eq=False)
class WorkerGroup:
    """Workers who look alike where skills are not known, on one type of tasks, and their prior."""

    kind: int  # type of the tasks
    size: int
    horizon: int  # the most labels that each can give
    price: float  # of a label
    # skills among all workers of that price, and their shares
    accuracy: Floats  # (skills,)
    weight: Floats  # (skills,)
    level: Ints  # (skills,): level of each skill in the program of potentials


def groups_of(instance: AssignmentInstance, level: Ints) -> list[WorkerGroup]:
    """Group workers by price and capacity; a prior per price, whatever the capacity. Many prices count as the lowest.

    level (types, workers): level of each worker's skill in the program of potentials (crowdopt.programs.potential); ->
    one per type, price and capacity.
    """
    tasks, capacity = wanted_in(instance), _rounded(instance.capacity)
    columns, paid = np.unique(instance.cost, axis=1, return_inverse=True)
    paid = paid.reshape(-1)
    if columns.shape[1] > PRICES:
        columns, paid = columns.min(axis=1, keepdims=True), np.zeros(paid.size, np.int64)
    groups = []
    for k in range(columns.shape[1]):
        mine = np.flatnonzero(paid == k)
        rooms, sizes = np.unique(capacity[mine], return_counts=True)
        for kind in np.flatnonzero(tasks).tolist():
            accuracy, first, count = np.unique(instance.accuracy[kind, mine], return_index=True, return_counts=True)
            prior = (accuracy, count / mine.size, level[kind, mine[first]])
            groups += [
                WorkerGroup(kind, int(size), int(min(room, tasks[kind])), float(columns[kind, k]), *prior)
                for room, size in zip(rooms, sizes, strict=True)
            ]
    return groups


def _rounded(capacity: Ints) -> Ints:
    """At most CAPACITIES different capacities, each rounded up."""
    distinct = np.unique(capacity)
    if distinct.size <= CAPACITIES:
        return capacity
    ends = np.quantile(distinct, np.linspace(0, 1, CAPACITIES + 1)[1:], method="higher").astype(np.int64)
    return ends[np.searchsorted(ends, capacity)]


SURE = 1e9  # information of a label that is always right (or wrong), in nats: as good as infinite


def information(instance: AssignmentInstance) -> float:
    """``min sum c y  s.t.  sum (2p - 1) logit(p) y >= sum_i KL(eps) - KL(b_i)``, each worker within capacity.

    ``V(b) = -sum over pairs of the K classes of (b_k - b_l) ln(b_k / b_l) / (K - 1)`` falls by exactly ``(p - u) ln(p /
    u)``, u = (1 - p)/(K - 1), per label, whatever b is (Wald 1945): the divergence of a label's laws under any two
    classes. -V is convex, so of all beliefs with an error those are least in which the other classes are alike, and the
    mean target is the worst way to share out errors. For two classes both are ``(2p - 1) logit p``. Useless where p may
    be 1.

    instance: of the true skills, wrong answers uniform; its targets are for the mean error; -> in the unit of prices;
    infinite where all labels together do not tell enough.
    """
    wanted = instance.need > COVERAGE
    if not wanted.any():
        return 0.0
    classes = instance.classes
    mean = float(instance.epsilon[wanted].mean())
    belief = np.broadcast_to(instance.prior, (instance.n_tasks, classes))[wanted]
    need = float((_told(max(1 - mean, 1 / classes), classes) - _believed(belief)).sum())
    rate, cost, tasks = _told(instance.accuracy, classes).T, instance.cost.T, wanted_in(instance)
    if need <= 0:
        return 0.0

    def bought(price: float) -> tuple[float, float]:
        value = price * rate - cost
        amount = fill(value, tasks, instance.capacity)
        return float((amount * rate).sum()), price * need - float((amount * np.maximum(value, 0.0)).sum())

    # any price gives a bound; tried are those at which a label begins to pay, cost / rate
    prices = np.unique((cost / np.maximum(rate, 1e-300))[rate > 0])
    low, high = 0, prices.size - 1
    if high < 0 or bought(float(prices[-1]) * (1 + 1e-12))[0] < need:
        return inf
    # what is bought grows with the price: the first one at which it is enough
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bought(float(prices[middle]))[0] >= need else (middle + 1, high)
    return max(0.0, bought(float(prices[low]))[1])


def _believed(belief: Floats) -> Floats:
    """-V of beliefs, (tasks, classes) -> (tasks,)."""
    classes = belief.shape[1]
    if classes == 2:
        return _told(belief[:, 1], 2)
    logs = np.log(np.maximum(belief, 1e-300))
    pairs: Floats = classes * (belief * logs).sum(axis=1) - logs.sum(axis=1)
    return np.asarray(pairs / (classes - 1))


def _told(p: float | Floats, classes: int) -> Floats:
    """``(p - u) ln(p / u)``, u = (1 - p)/(K - 1): of a label, and -V of a belief whose other classes are alike."""
    known = np.clip(np.asarray(p, dtype=np.float64), 1e-300, 1.0)
    sure = (known >= 1) | (known <= 1e-300)
    odds = np.log(np.where(sure, 0.5, known)) - np.log1p(-np.where(sure, 0.5, known))
    edge = (classes * known - 1) / (classes - 1)
    return np.where(sure, SURE, edge * (odds + np.log(classes - 1)))


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


TYPES = 3  # of tasks, up to which skills are taken to be found out: beyond, too little would be proven
ERRORS = np.geomspace(0.2, 4.0, 25)  # of the bound's curve, in units of the target


@dataclass(frozen=True)
class Least:
    """What is possible, as far as it is known: three lower bounds on the cost of any policy, gold included."""

    information: float  # by information alone (Wald 1945), skills known
    # LB0: skills known, by the best potential. None: for more than two classes, whose beliefs are more than a number
    known: float | None
    # LB1: skills unknown, their distribution known, every label's correctness shown at once. None: too many types or
    # classes
    unknown: float | None
    independent: bool  # whether ``unknown`` is a proof: it takes a worker's skills in different types as independent
    # what is proven for other mean errors, by information and by the same potentials: between targets a little less
    # than what could be
    curve: tuple[tuple[float, float], ...] = ()  # tuple of (error, cost)

    @property
    def cost(self) -> float:
        """The largest of those that are proven."""
        learning = self.unknown if self.independent and self.unknown is not None else 0.0
        return max(self.information, self.known or 0.0, learning)


def least(instance: AssignmentInstance, solve: Solve) -> Least:
    """All three bounds of a crowd at its mean error target; for more than two classes that by information alone.

    Raises InputError for labels already in.
    """
    if instance.classes != 2:
        return Least(information(instance), None, None, True, _curve(instance, []))
    known = skills_known(instance, solve)
    unknown = skills_unknown(instance, solve, known) if instance.n_types <= TYPES else None
    told = None if unknown is None else unknown.value
    alone = instance.n_types == 1
    proven = [known, *([unknown] if unknown is not None and alone else [])]
    return Least(information(instance), known.value, told, alone, _curve(instance, proven))


def _curve(instance: AssignmentInstance, proven: list[LowerBound]) -> tuple[tuple[float, float], ...]:
    """``value + mu sum (eps_i - e)`` holds at any mean error e, by the same potential."""
    wanted = instance.need > COVERAGE
    mean, count = float(instance.epsilon[wanted].mean()) if wanted.any() else 0.5, int(wanted.sum())
    points = []
    for error in np.minimum(mean * ERRORS, 0.49).tolist():
        lines = [bound.value + bound.mu * count * (mean - error) for bound in proven if np.isfinite(bound.value)]
        cost = max([0.0, information(instance.with_epsilon(error)), *lines])
        if np.isfinite(cost):
            points.append((error, cost))
    return tuple(points)
