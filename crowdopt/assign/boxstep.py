"""Large aggregated LPs by a box-step over prices: the dual has one price per class of tasks, the rest is sorting.

``g(x) = sum_t n_t C_t x_t - sum_g h_g(x)`` with ``h_g`` the best fill of worker class g at gains ``q_tg x_t - c_tg``.
Prices come from a sample of the workers first. Then, in a box around them, every amount whose gain is further from its
worker's threshold than the box can move it is settled; the small LP of the others, with evidence to be had and given
back at the box's ends, moves the prices, until nothing is had or given back. Its value is then the LP's, and ``g`` at
its prices proves it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats
from crowdopt.core.solution import WARM, Options, Solve
from crowdopt.programs.masters import OpenAmounts, of_amounts

NOWHERE = np.zeros(0)  # thresholds that nobody asked for yet
EXACT = 1e-10  # relative; value and proof, and evidence had or given back


@dataclass(frozen=True)
class BoxParams:
    """How samples and boxes are chosen."""

    sample: int = 2_000  # workers in the first sample
    growth: int = 5  # each is so many times the one before
    large: int = 5_000  # worker classes from which this pays
    few: int = 64  # task classes up to which sorting them for every worker is nothing
    steps: int = 30  # boxes in all


PARAMS = BoxParams()


@dataclass(frozen=True, eq=False)
class Fractional:
    """The LP's data for some of the workers; evidence, cost (G, T): of a label."""

    evidence: Floats  # (G, T)
    cost: Floats  # (G, T)
    need: Floats  # (T,): evidence that all tasks of a class need together
    supply: Floats  # (G,): labels that all workers of a class can give together
    upper: Floats  # (G, T): the most of each amount

    def part(self, groups: NDArray[np.int64]) -> Fractional:
        """The LP of some workers, everything that belongs to tasks scaled down."""
        scale = groups.size / self.supply.size
        rows = self.evidence[groups], self.cost[groups]
        return Fractional(*rows, self.need * scale, self.supply[groups], self.upper[groups] * scale)

    def fill(self, prices: Floats) -> tuple[float, Floats, Floats]:
        """``g(x)``, the thresholds (G,) of the best fills, and the gains (G, T)."""
        gains = self.evidence * prices - self.cost
        order = np.argsort(-gains, axis=1, kind="stable")
        ranked, room = np.take_along_axis(gains, order, 1), np.take_along_axis(self.upper, order, 1)
        filled = np.cumsum(room, axis=1)
        taken = np.clip(self.supply[:, None] - (filled - room), 0.0, room)
        worth = float((taken * np.maximum(ranked, 0.0)).sum())
        last = np.minimum((filled < self.supply[:, None]).sum(axis=1), prices.size - 1)
        threshold = np.maximum(0.0, ranked[np.arange(last.size), last])
        return float(self.need @ prices) - worth, threshold, gains


@dataclass(frozen=True, eq=False)
class Boxed:
    """A step of the box-step."""

    prices: Floats  # (T,): of evidence
    thresholds: Floats  # (G,): of gain, from which workers are busy
    amounts: Floats  # (G, T)
    value: float  # what they cost
    elastic: float  # evidence had or given back at the box's prices


def pays(kinds: int, groups: int) -> bool:
    """Whether an LP of nothing but needs and capacities is large enough."""
    return groups >= PARAMS.large and kinds <= PARAMS.few


def box_step(whole: Fractional, solve: Solve, options: Options) -> Boxed | None:
    """The optimum of the aggregated LP; None where the steps do not get there."""
    prices, radius = _from_samples(whole, solve, options)
    return None if prices is None else _exactly(whole, prices, radius, solve, options)


def _from_samples(whole: Fractional, solve: Solve, options: Options) -> tuple[Floats | None, float]:
    """Prices from growing samples of the workers, and how far they may be off, relatively."""
    order = np.random.default_rng(options.seed).permutation(whole.supply.size)
    size = min(PARAMS.sample, order.size)
    first = whole.part(np.sort(order[:size]))
    anywhere, everything = np.full(whole.need.size, np.inf), np.ones(first.upper.shape, bool)
    step = _small(first, np.zeros(whole.need.size), anywhere, everything, np.zeros(first.upper.shape), solve, options)
    while step is not None and size * PARAMS.growth < order.size:
        radius, size = 1.0 / np.sqrt(size), size * PARAMS.growth
        step = _exactly(whole.part(np.sort(order[:size])), step.prices, radius, solve, options)
    return (None, 0.0) if step is None else (step.prices, 1.0 / np.sqrt(size))


def _exactly(lp: Fractional, prices: Floats, radius: float, solve: Solve, options: Options) -> Boxed | None:
    """Boxes around the prices until nothing is had or given back and value and proof agree."""
    best = -np.inf
    for _ in range(PARAMS.steps):
        bound, threshold, gains = lp.fill(prices)
        width = np.maximum(prices, prices.mean()) * radius
        reach = 2.0 * (lp.evidence * width).max(axis=1, keepdims=True)
        undecided = np.abs(gains - threshold[:, None]) <= reach
        settled = np.where((gains > threshold[:, None]) & ~undecided, lp.upper, 0.0)
        alone = (undecided.sum(axis=1) == 1) & (threshold > reach[:, 0])  # gets what its worker has left
        marginal = undecided & alone[:, None]
        settled += np.where(marginal, np.minimum(lp.upper, (lp.supply - settled.sum(axis=1))[:, None]), 0.0)
        step = _small(lp, prices, width, undecided & ~marginal, settled, solve, options)
        if step is None:
            radius *= 2.0
            continue
        there, thresholds, _ = lp.fill(step.prices)
        best, prices = max(best, bound, there), step.prices
        near = EXACT * max(1.0, abs(step.value))
        if step.elastic <= EXACT * lp.need.sum() and step.value - best <= near:
            return replace(step, thresholds=thresholds)
    return None


def _small(
    lp: Fractional,
    prices: Floats,
    width: Floats,
    undecided: Bools,
    amounts: Floats,
    solve: Solve,
    options: Options,
) -> Boxed | None:
    """The LP of the undecided amounts, beside the settled ones, with prices in the box."""
    over = amounts.sum(axis=1) > lp.supply
    if over.any():  # the last one settled is not filled up: leave the worker to the LP
        undecided = undecided | (over[:, None] & (amounts > 0))
        amounts[over] = 0.0
    worker, kind = np.nonzero(undecided)
    left = lp.supply - amounts.sum(axis=1)
    need = lp.need - (lp.evidence * amounts).sum(axis=0)
    pairs = worker, kind
    amounts_left = OpenAmounts(*pairs, lp.evidence[pairs], lp.cost[pairs], lp.upper[pairs])
    program = of_amounts(amounts_left, need, left, prices - width, prices + width)
    solution = solve(program, WARM, options)
    if solution.primal is None or solution.dual is None:
        return None
    amounts[worker, kind] = np.maximum(solution.primal[: worker.size], 0.0)
    prices_there = np.maximum(solution.dual[: need.size], 0.0)
    value = float((lp.cost * amounts).sum())
    return Boxed(prices_there, NOWHERE, amounts, value, float(solution.primal[worker.size :].sum()))
