"""What a task at a belief still costs at best: the program of potentials, solved for where tasks stand now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import find
from crowdopt.core.resumable import Arrays
from crowdopt.core.solution import BY_SIZE, Options, Solve
from crowdopt.crowd.potentials import after, grid, reading
from crowdopt.programs.potential import ErrorTarget, Rules, of_rules

KNOTS = 80
LEVELS = 8  # of skill for each type, at most
SWEEPS, CLOSE = 2000, 1e-9  # of the recursion; change of a value, in units of the dearest answer
LEAST_EDGE = 0.01  # a worker closer to guessing than this tells nothing


@dataclass(frozen=True, eq=False)
class ComingWorkers:
    """Workers who are here or still to come, as groups of workers alike."""

    skill: Floats  # (groups, types)
    size: Floats  # (groups,): how many of them, in expectation
    capacity: float  # labels of each
    price: Floats  # (types,): of a label, with the part of what finding the worker costs


@dataclass(frozen=True, eq=False)
class CascadeValues:
    """``V_t(b) = min(mu (1 - b), min over levels of c_p + E_p V_t(b'))`` at the knots, and what it rests on."""

    knots: Floats  # (knots,)
    mu: float  # what an expected wrong answer costs
    levels: tuple[tuple[Floats, Floats], ...]  # of each type: accuracies, and what a label of each costs
    value: Floats  # (types, knots)

    def onward(self, kind: int, belief: Floats, skill: float) -> Floats:
        """``E_p V(b')``: what a task still costs after a label of skill p, (k,); belief: of the likelier class."""
        chance, right, wrong = after(belief, max(skill, 1 - skill))
        later: Floats = chance * self._at(kind, right) + (1 - chance) * self._at(kind, wrong)
        return later

    def best_onward(self, kind: int, belief: Floats) -> Floats:
        """``min over levels of c_p + E_p V(b')``: what a task costs if a label is asked of the best to come, (k,)."""
        every = [cost + self.onward(kind, belief, p) for p, cost in zip(*self.levels[kind], strict=True)]
        best: Floats = np.min(every, axis=0)
        return best

    def stop(self, belief: Floats) -> Floats:
        """``mu (1 - b)``: what it costs to answer now, (k,)."""
        return self.mu * (1 - np.maximum(belief, 1 - belief))

    def _at(self, kind: int, belief: Floats) -> Floats:
        value: Floats = np.interp(np.maximum(belief, 1 - belief), self.knots, self.value[kind])
        return value

    def dearer(self, times: float) -> CascadeValues:
        """The same where a wrong answer costs so many times as much."""
        return settled_values(self.knots, times * self.mu, self.levels)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The multipliers, from which all else follows."""
        kind = np.repeat(np.arange(len(self.levels)), [accuracy.size for accuracy, _ in self.levels])
        accuracy, asking = (np.concatenate([level[k] for level in self.levels]) for k in (0, 1))
        return {
            "values.mu": np.array([self.mu]),
            "values.kind": kind,
            "values.accuracy": accuracy,
            "values.asking": asking,
        }


def restored_values(arrays: Arrays, types: int) -> CascadeValues:
    """What :meth:`CascadeValues.arrays` gave, for so many types."""
    kind, accuracy, asking = (np.array(arrays[f"values.{name}"]) for name in ("kind", "accuracy", "asking"))
    levels = tuple((accuracy[kind == t], asking[kind == t]) for t in range(types))
    return settled_values(grid(KNOTS), float(arrays["values.mu"][0]), levels)


def cascade_values(kind: Ints, belief: Floats, errors: float, market: ComingWorkers, solve: Solve) -> CascadeValues:
    """The least expected cost from where tasks stand, its multipliers, and the recursion that they price.

    The dual of the program is a plan: how many tasks at each belief get a label of each level. Its multipliers say what
    a wrong answer costs and what a label of each level is worth; given these, V follows at every belief, whether tasks
    stand there or not.

    kind, belief (tasks,): type, and chance of the likelier class; errors: the most wrong answers, in expectation.
    """
    knots, types = grid(KNOTS), market.price.size
    start = np.stack(
        [reading(knots, belief[kind == t], np.ones(int((kind == t).sum()))).sum(axis=0) for t in range(types)]
    )
    level_type, accuracy, level = _levels(market.skill)
    target = ErrorTarget(knots, start, max(errors, 1e-6), level_type, accuracy, float(market.price.max()))
    program = of_rules(target, _rules(market, level, accuracy.size))
    found = solve(program, BY_SIZE, Options(time_limit=60.0))
    if found.primal is None:
        raise RuntimeError(f"the program of potentials has no solution: {found.raw}")
    mu = float(find(program.columns, "mu").view(found.primal)[0])
    gained = find(program.columns, "gain").view(found.primal)
    asking = np.maximum(gained, market.price[level_type])
    return settled_values(knots, mu, tuple((accuracy[level_type == t], asking[level_type == t]) for t in range(types)))


def settled_values(knots: Floats, mu: float, levels: tuple[tuple[Floats, Floats], ...]) -> CascadeValues:
    """The recursion at given multipliers; levels: of each type accuracies, and what a label of each costs."""
    return CascadeValues(knots, mu, levels, np.stack([_settled(knots, mu, *level) for level in levels]))


def _levels(skill: Floats) -> tuple[Ints, Floats, Ints]:
    """Type and accuracy of each level, and the level of each group and type: neighbours share their mean."""
    kinds: list[int] = []
    accuracy: list[float] = []
    level = np.zeros(skill.shape, np.int64)
    for t in range(skill.shape[1]):
        better = np.maximum(skill[:, t], 1 - skill[:, t])
        edges = np.quantile(better, np.linspace(0, 1, LEVELS + 1)[1:-1])
        place = np.unique(np.searchsorted(edges, better, side="left"), return_inverse=True)[1].reshape(-1)
        count = np.bincount(place)
        level[:, t] = place + len(accuracy)
        kinds += [t] * count.size
        accuracy += (np.bincount(place, weights=better) / count).tolist()
    return np.array(kinds, np.int64), np.maximum(np.array(accuracy), 0.5 + LEAST_EDGE / 2), level


def _rules(market: ComingWorkers, level: Ints, levels: int) -> Rules:
    groups, types = level.shape
    labels = np.zeros((groups * types, levels))
    group = np.repeat(np.arange(groups), types)
    labels[np.arange(group.size), level.reshape(-1)] = market.capacity
    # sizes are expectations; the program only multiplies by them
    return Rules(market.size, group, labels, np.tile(market.capacity * market.price, groups))  # type: ignore[arg-type]


def _settled(knots: Floats, mu: float, accuracy: Floats, asking: Floats) -> Floats:
    """The recursion at the knots, from above: each sweep lowers V, and ends where it stays."""
    stop: Floats = mu * (1 - knots)
    moves = []
    for p in accuracy.tolist():
        chance, right, wrong = after(knots, p)
        moves.append(reading(knots, right, chance) + reading(knots, wrong, 1 - chance))
    every = sparse.csr_array(sparse.vstack(moves))
    value, shape = stop, (accuracy.size, knots.size)
    for _ in range(SWEEPS):
        lower: Floats = np.minimum(stop, ((every @ value).reshape(shape) + asking[:, None]).min(axis=0))
        if np.abs(value - lower).max() <= CLOSE * max(1.0, mu):
            return lower
        value = lower
    return value
