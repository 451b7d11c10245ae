"""Score against cost: every set that no cheaper one scores as much as, by dynamic programming over amounts of money."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.hiring import gains
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.errors import InputError
from crowdopt.hire.selected import Frontier, records

Codes: TypeAlias = NDArray[np.uint8]

LARGEST = 2 * 10**9  # bytes of decisions that are kept to read the sets off
LEFT, TAKEN, MORE = 0, 1, 2  # a worker is left out; taken towards their group's fewest; taken beyond them


def cost_frontier(instance: SelectionInstance) -> Frontier:
    """The frontier of ``(F-hat, -cost)`` under all of the instance's limits, exact for prices on any common grid.

    ``V[k, b]``: the largest sum of gains of exactly k workers who cost exactly b, worker after worker, group after
    group (with one more axis for how many of a group's fewest are in). Time and memory grow with workers x K x units of
    money, where the unit is the largest of which every price is a multiple.
    """
    if instance.price is None:
        raise InputError("a frontier against cost needs a price for each worker")
    if instance.limits_groups:
        raise InputError("a table over money does not know the most workers of a group; use the method program")
    unit, price = _grid(instance.price)
    most = _most_units(instance, price, unit)
    shape = (instance.sizes + 1, most + 1)
    deepest = 1 + int(instance.fewest.max(initial=0))
    if shape[0] * shape[1] * deepest * instance.n_workers > LARGEST:
        raise InputError(
            f"the prices are multiples of {float(unit):g} and {float(most * unit):g} may be spent on {instance.sizes} "
            "workers: too fine a grid for the frontier; round the prices, or lower the money or the number of workers"
        )
    value, groups = _tables(instance, price, shape)
    return _read_off(instance, value, groups, price)


def _grid(price: Floats) -> tuple[Fraction, Ints]:
    """The largest unit of which every price, as it is written in decimals, is a multiple, and the prices in it."""
    exact = [Fraction(Decimal(repr(one))) for one in price.tolist()]
    bottom = reduce(lambda a, b: a * b // gcd(a, b), {one.denominator for one in exact})
    whole = [int(one * bottom) for one in exact]
    step = reduce(gcd, whole) or bottom
    return Fraction(step, bottom), np.array([one // step for one in whole], dtype=np.float64).astype(np.int64)


def _most_units(instance: SelectionInstance, price: Ints, unit: Fraction) -> int:
    dearest = int(np.sort(price)[::-1][: instance.sizes].sum())
    if instance.money is None:
        return dearest
    return min(dearest, int(Fraction(Decimal(repr(float(instance.money)))) / unit))


Group: TypeAlias = tuple[int, list[tuple[int, Codes]]]  # a group's fewest; its workers with their decisions


def _tables(instance: SelectionInstance, price: Ints, shape: tuple[int, int]) -> tuple[Floats, list[Group]]:
    grouped = instance.group is not None
    group = instance.group if instance.group is not None else np.zeros(instance.n_workers, np.int64)
    value = np.full(shape, -np.inf)
    value[0, 0] = 0.0
    done: list[Group] = []
    for g, depth in enumerate(instance.fewest.tolist() if grouped else [0]):
        # layer j: j of the group's fewest are in; the last layer also takes more than those
        layers = np.full((depth + 1, *shape), -np.inf)
        layers[0] = value
        decisions = []
        for i in np.setdiff1d(np.flatnonzero(group == g), instance.barred).tolist():
            layers, code = _with_worker(layers, float(instance.gain[i]), int(price[i]), i in instance.required)
            decisions.append((i, code))
        done.append((depth, decisions))
        # only tables with the group's fewest in go on to the next group
        value = layers[depth]
    return value, done


def _with_worker(layers: Floats, worth: float, price: int, required: bool) -> tuple[Floats, Codes]:
    """The tables with one more worker to choose from, and what each cell did with them."""
    depth, width = layers.shape[0] - 1, layers.shape[2]
    # a required worker leaves no cell as it was: only those that take them count
    after = np.full_like(layers, -np.inf) if required else layers.copy()
    code = np.full(layers.shape, LEFT, np.uint8)
    if price >= width:
        return after, code
    for j, to, mark in [(j, j + 1, TAKEN) for j in range(depth)] + [(depth, depth, MORE)]:
        # one worker more and `price` units more: the table shifted by (1, price), from the tables before them
        taken = layers[j, :-1, : width - price] + worth
        target = after[to, 1:, price:]
        better = taken > target
        target[better] = taken[better]
        code[to, 1:, price:][better] = mark
    return after, code


def _read_off(instance: SelectionInstance, value: Floats, groups: list[Group], price: Ints) -> Frontier:
    scores = value[1:] / np.sqrt(np.arange(1, value.shape[0]))[:, None]
    best, size = scores.max(axis=0), scores.argmax(axis=0) + 1
    sets = [_set(groups, price, int(size[units]), int(units)) for units in records(best)]
    paid: Floats = np.zeros(0) if instance.price is None else instance.price
    return Frontier(
        size=np.array([one.size for one in sets], dtype=np.int64),
        score=np.array([gains.score(instance.gain[one]) for one in sets]),
        cost=np.array([float(paid[one].sum()) for one in sets]),
        members=tuple(sets),
    )


def _set(groups: list[Group], price: Ints, size: int, units: int) -> Ints:
    found: list[int] = []
    for depth, decisions in reversed(groups):
        inside = depth
        # a cell's mark says whether its best set took the worker, so one pass back finds the set
        for worker, code in reversed(decisions):
            mark = code[inside, size, units]
            if mark != LEFT:
                found.append(worker)
                size, units = size - 1, units - int(price[worker])
                inside -= int(mark == TAKEN)
    return np.sort(np.array(found, dtype=np.int64))
