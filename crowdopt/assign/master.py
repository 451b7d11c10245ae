"""The restricted master, smoothed: multipliers of what ties tasks from a pool of sets, without a linear program.

With sets s of cost c_s that use a_s of the coupling rows, and kinds k of n_k tasks, its dual is
``max_d sum_k n_k min_{s serves k} (c_s - a_s d) + sum l [d]+ - u [d]-``. A soft minimum in place of each minimum makes
it smooth, and L-BFGS climbs it with thousands of rows; the soft minima's weights are the fractions of sets. A column
'left short' for each kind, at a price, keeps it feasible whatever is asked; so does 'spare', a label that nobody
needs, for least loads.

The top of a smooth concave function in a box: limited memory, projected (Liu & Nocedal 1989).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.oracle import Sets
from crowdopt.assign.problem import SCALE, Problem


@dataclass(frozen=True)
class AscentParams:
    """When an ascent ends."""

    memory: int = 12  # steps remembered
    halved: int = 20  # times at most that a step is cut
    enough: float = 1e-4  # of the rise that the slope promises, for a step to count
    near: float = 1e-9  # relative gain of a step that ends it


def ascend(
    at: Callable[[Floats], tuple[float, Floats]],
    point: Floats,
    box: tuple[Floats, Floats],
    steps: int,
    first: float,
    params: AscentParams = AscentParams(),
) -> tuple[Floats, float]:
    """The point reached and its value.

    at: value and slope at a point; box: least and most; steps: at most; first: how far the first step goes.
    """
    least, most = box
    value, slope = at(point)
    memory: list[tuple[Floats, Floats]] = []
    small, far = 0, first
    for _ in range(steps):
        free = ((point > least) | (slope > 0)) & ((point < most) | (slope < 0))
        open_slope = np.where(free, slope, 0.0)
        ahead = _direction(open_slope, memory) * free
        if float(ahead @ open_slope) <= 0:
            ahead, memory = open_slope, []
        largest = float(np.abs(ahead).max(initial=0.0))
        if largest < 1e-200:  # steps would be infinite
            break
        length = 1.0 if memory else far / largest
        for _ in range(params.halved):
            there = np.minimum(np.maximum(point + length * ahead, least), most)
            gained, steeper = at(there)
            if gained >= value + params.enough * float(slope @ (there - point)):
                break
            length /= 2
        else:
            if not memory:
                break
            memory = []
            continue
        step, change = there - point, slope - steeper
        bends = float(step @ change) > 1e-9 * float(np.abs(step) @ np.abs(slope))  # else nothing does but by rounding
        if bends and float(change @ change) > 0:
            memory, far = [*memory, (step, change)][-params.memory :], first
        else:
            far *= 2
        small = small + 1 if gained - value <= params.near * abs(value) else 0
        point, value, slope = there, gained, steeper
        if small >= 3:
            break
    return point, value


def _direction(slope: Floats, memory: list[tuple[Floats, Floats]]) -> Floats:
    """The slope times an estimate of the curvature's inverse, from steps and how the slope changed along them."""
    ahead, parts = slope.copy(), []
    for step, change in reversed(memory):
        part = float(step @ ahead) / float(step @ change)
        ahead -= part * change
        parts.append(part)
    if memory:
        step, change = memory[-1]
        ahead *= float(step @ change) / float(change @ change)
    for (step, change), part in zip(memory, reversed(parts), strict=True):
        ahead += (part - float(change @ ahead) / float(step @ change)) * step
    return ahead


NONE = Sets(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64))


@dataclass(eq=False)
class Pool:
    """Sets of all rows, row after row, power ascending, and where the sets that serve each kind begin."""

    problem: Problem
    sets: Sets = NONE
    power: Floats = field(
        default_factory=lambda: np.zeros(0)
    )  # (S,): evidence, or where votes decide how little they err
    cost: Floats = field(default_factory=lambda: np.zeros(0))
    own: Any = field(init=False)  # (S, own rows), sparse
    sign: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))

    def __post_init__(self) -> None:
        rng, groups = np.random.default_rng(0), self.problem.rows.worth.shape[1]
        self._marks = rng.integers(1, 2**63, (groups,), dtype=np.uint64)
        self._seen = np.zeros(0, np.uint64)  # signs, each near the place that it names
        self.own = sparse.csr_array((0, self.problem.coupling.owns))
        self._row_marks = rng.integers(1, 2**63, self.problem.rows.type.size, dtype=np.uint64)
        self._ordered()

    def add(self, sets: Sets, power: Floats | None = None) -> int:
        """Take in sets, whose power is perhaps known; -> how many were new."""
        from crowdopt.assign.master_kernels import first_with, unseen

        sums = np.append(np.uint64(0), np.cumsum(self._marks[sets.label]))
        sign = sums[sets.at[1:]] - sums[sets.at[:-1]] + self._row_marks[sets.row]
        if 2 * (self.sign.size + sign.size) > self._seen.size:
            self._seen = np.zeros(1 << int(4 * (self.sign.size + sign.size)).bit_length(), np.uint64)
            unseen(self.sign, self._seen)
        first = unseen(sign, self._seen)
        if not first.size:
            return 0
        new, rows = sets.some(first), self.problem.rows
        kind, owner = rows.type[new.row], new.owner
        power = self.problem.power(new.row, owner, new.label) if power is None else power[first]
        cost = np.bincount(owner, rows.cost[kind[owner], new.label], first.size)
        by_power = np.lexsort((sign[first], power, new.row))
        place = first_with(self.set_at, self.power, self._begin(new.row), np.nextafter(power[by_power], np.inf))
        order = np.insert(np.arange(self.cost.size), place, self.cost.size + by_power)
        both = Sets.joined([self.sets, new])
        own = self.problem.coupling.own_use(kind[owner], new.label, owner, first.size)
        error = self.problem.errors(new.row, owner, new.label)
        if error is not None:
            own = sparse.hstack([own[:, :-1], SCALE * error[:, None]], format="csr")
        self.own = sparse.vstack([self.own, own], format="csr")
        self.sets, self.own, self.sign = both.some(order), self.own[order], np.append(self.sign, sign[first])[order]
        self.power, self.cost = (np.concatenate(two)[order] for two in ((self.power, power), (self.cost, cost)))
        self._ordered()
        return int(first.size)

    def _ordered(self) -> None:
        from crowdopt.assign.master_kernels import first_with

        problem, self.set_at = self.problem, self._begin(self.sets.row)
        self.start = first_with(self.set_at, self.power, problem.kinds.at, problem.target)

    def _begin(self, row: Ints) -> Ints:
        """Where the sets of each row begin, (R + 1,)."""
        return np.append(0, np.cumsum(np.bincount(row, minlength=self.problem.rows.type.size)))

    @property
    def error(self) -> Floats | None:
        """What each set's vote errs with, (S,), where the average of errors is promised."""
        return self.own[:, [-1]].toarray()[:, 0] / SCALE if self.problem.coupling.averages else None

    def prices(self, duals: Floats) -> Floats:
        """What each set costs at multipliers, (S,)."""
        from crowdopt.assign.master_kernels import priced

        coupling, out = self.problem.coupling, np.empty(self.cost.size)
        pay, pull, own = coupling.pulls(duals)
        priced(self.sets.at, self.sets.label, self.cost, pay, pull, out)
        return out - self.own @ own if own.size else out  # a sparse product starts no threads

    def cheapest(self, price: Floats) -> tuple[Floats, Ints]:
        """The cheapest set that serves each kind: its price, infinite where there is none, and its place, (K,)."""
        from crowdopt.assign.master_kernels import least_from_behind

        place = np.empty(self.start.size, np.int64)
        least_from_behind(self.set_at, price, self.problem.kinds.at, self.start, place)
        return np.where(place >= 0, np.append(price, np.inf)[place], np.inf), place


@dataclass(frozen=True, eq=False)
class Solved:
    """The smoothed master's top."""

    duals: Floats
    value: float
    price: Floats  # (S,): of sets there
    heat: Floats  # (R,)


@dataclass(frozen=True, eq=False)
class Master:
    """The master over a pool; ``short`` (K,): the price of leaving a task of each kind short."""

    pool: Pool
    short: Floats
    dear: float = 200.0  # labels' prices: multipliers of rows that no sets of the pool keep go no further

    def solve(
        self,
        duals: Floats,
        heat: float,
        steps: int,
        count: Ints | None = None,
        sides: tuple[Floats, Floats] | None = None,
    ) -> Solved:
        """The top near some multipliers.

        heat: of a kind's price, the temperature; steps: of L-BFGS; count (K,): tasks; sides: of the coupling rows;
        default of both: the problem's.
        """
        from crowdopt.assign.master_kernels import soft_least, used

        pool, problem = self.pool, self.pool.problem
        coupling, kinds = problem.coupling, problem.kinds
        lower, upper = sides or (coupling.lower, coupling.upper)
        n = (problem.count if count is None else count).astype(np.float64)
        least = np.minimum(pool.cheapest(pool.prices(duals))[0], self.short)
        mean = np.add.reduceat(n * least, kinds.at[:-1]) / np.maximum(np.add.reduceat(n, kinds.at[:-1]), 1e-9)
        warm = heat * np.maximum(mean, 1e-3 * problem.unit)
        scale = 1.0 / max(1e-9, float(n @ least))
        weight, far = np.empty(pool.cost.size), np.empty(n.size)
        ups, lows = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
        g = coupling.loads
        spare = lows[lows < g]
        spare_room = np.maximum(0.0, upper[spare])
        spare_heat = np.maximum(heat * coupling.spare[spare], 1e-6 * problem.unit)
        point = np.zeros(lower.size)

        def spread(z: Floats) -> Floats:
            point[:] = 0.0
            point[ups] -= z[: ups.size]
            point[lows] += z[ups.size :]
            return point

        def smooth(z: Floats) -> tuple[float, Floats]:
            d = spread(z)
            price = pool.prices(d)
            value = soft_least(pool.set_at, price, kinds.at, pool.start, n, self.short, warm, weight, far)
            loads, spent = np.zeros(g), float((weight * pool.cost).sum())  # a product would start threads
            used(pool.sets.at, pool.sets.label, weight, loads)
            if spare.size:
                x = np.clip(-coupling.spare_prices(d)[spare] / spare_heat, -50.0, 50.0)
                value -= float((spare_room * spare_heat * np.logaddexp(0.0, x)).sum())
                more = spare_room / (1.0 + np.exp(-x))
                loads[spare] += more
                spent += float(more @ coupling.spare[spare])
            own = pool.own.T @ weight
            use = np.concatenate([loads, coupling.weight @ loads, own, [spent] * coupling.has_budget])
            value += float(lower[lows] @ z[ups.size :] - upper[ups] @ z[: ups.size])
            return value * scale, scale * np.concatenate([use[ups] - upper[ups], lower[lows] - use[lows]])

        first = np.concatenate([np.maximum(0.0, -duals[ups]), np.maximum(0.0, duals[lows])])
        box = np.zeros(first.size), np.full(first.size, self.dear * problem.unit)
        first = np.minimum(first, box[1])
        best, value = ascend(smooth, first, box, steps, heat * problem.unit)
        smooth(best)
        at = spread(best).copy()
        return Solved(at, value / scale, pool.prices(at), warm)
