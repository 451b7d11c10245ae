"""When to let a worker go whose skill shows only in their labels: optimal stopping by dynamic programme."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs.potential import wanted_in

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
