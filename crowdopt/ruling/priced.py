"""What a rule costs and errs, exactly; the best of its shape; and the best plan there is, with its proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.ruling.rules import Decided, Rule
from crowdopt.ruling.votes import VoteTree

ROUNDS = 200  # of the search for the price of an error; each finds another corner of the frontier
NOISE = 1e-12  # relative
LEAST = 1e-9  # relative; by how much the error of a plan may be above what is asked for
FAMILY = 3_000  # rules of a shape that are tried, types of tasks counted apart


class Priced(NamedTuple):
    """Expectations of a task."""

    labels: float
    cost: float
    error: float
    by_class: Floats  # (classes,): chance of a wrong answer where the class is true
    end: float  # share of tasks that get as many votes as there can be
    expert: float  # share that goes to the expert


def priced(tree: VoteTree, rule: Decided, expert: float) -> Priced:
    """What a rule comes to; expert: price of an answer that is right, infinite where there is none."""
    ways = tree.ways(rule.stops)
    mass = ways[:, None] * tree.joint
    stop, going = mass[rule.stops], mass[~rule.stops].sum(axis=1)
    wrong = np.where(rule.expert[rule.stops, None], 0.0, stop * (1 - rule.answer[rule.stops]))
    of_class = tree.joint[0]
    sent = float(mass[rule.expert].sum())
    cost = float(ways[~rule.stops] @ tree.asking[~rule.stops]) + (expert * sent if sent else 0.0)
    end = float(mass[rule.stops & rule.end].sum())
    return Priced(float(going.sum()), cost, float(wrong.sum()), wrong.sum(axis=0) / of_class, end, sent)


class Best(NamedTuple):
    """The least cost of a plan of these votes with an error of at most so much."""

    cost: float
    bound: float  # what no plan is cheaper than: the cost, but for rounding
    error: float
    price: float  # of a wrong answer, at which the bound is proven


def best_plan(trees: Sequence[VoteTree], share: Floats, error: float, expert: float) -> Best:
    """``min cost  s.t.  error <= e`` over all plans that look at the votes so far, two of them mixed by lot.

    trees: of each type of tasks, share (types,) of them. For a price mu of a wrong answer the best plan is found
    backwards, ``V(s) = min(mu P(wrong | stop), expert, price of a vote + sum V(next))``; ``V - mu e`` bounds every
    plan. mu goes to where the last two plans meet, as often as that finds a better one: then the bound is attained.
    """

    def at(mu: float) -> tuple[float, float]:
        cost, wrong = share @ np.array([_at_price(tree, mu, expert) for tree in trees])
        return float(cost), float(wrong)

    low, high = at(0.0), at(np.inf)
    if low[1] <= error:
        return Best(low[0], low[0], low[1], 0.0)
    if high[1] > error * (1 + LEAST):
        return Best(np.inf, np.inf, high[1], np.inf)
    here, mu = high, 0.0
    for _ in range(ROUNDS):
        mu = (high[0] - low[0]) / max(low[1] - high[1], 1e-300)
        here = at(mu)
        if here[0] + mu * here[1] >= low[0] + mu * low[1] - NOISE * max(1.0, abs(low[0] + mu * low[1])):
            break
        low, high = (low, here) if here[1] <= error else (here, high)
    cost = low[0] + (low[1] - max(error, high[1])) * mu
    return Best(cost, min(cost, here[0] + mu * here[1] - mu * max(error, high[1])), error, mu)


def frontier(
    trees: Sequence[VoteTree], share: Floats, expert: float, errors: Iterable[float]
) -> list[tuple[float, float]]:
    """Error and least cost, where there is a plan."""
    found = [(float(error), best_plan(trees, share, float(error), expert).cost) for error in errors]
    return [point for point in found if np.isfinite(point[1])]


def _at_price(tree: VoteTree, mu: float, expert: float) -> tuple[float, float]:
    """Cost and error of the best plan where a wrong answer costs mu; infinite: fewest errors first, then the cost."""
    mass, best = tree.joint.sum(axis=1), tree.joint.max(axis=1)
    wrong = mass - best
    cost, error = np.zeros(mass.size), wrong.copy()
    if np.isfinite(expert):
        sends = (wrong > 0) if np.isinf(mu) else expert * mass < mu * wrong
        cost[sends], error[sends] = expert * mass[sends], 0.0
    for some in reversed(tree.levels[:-1]):
        there = tree.onward[some] >= 0
        ahead = np.maximum(tree.onward[some], 0)
        more_cost = tree.asking[some] + np.where(there, cost[ahead], 0.0).sum(axis=1)
        more_error = np.where(there, error[ahead], 0.0).sum(axis=1)
        if np.isinf(mu):
            less = more_error < error[some] * (1 - NOISE)
            goes = less | ((more_error <= error[some]) & (more_cost < cost[some]))
        else:
            goes = more_cost + mu * more_error < cost[some] + mu * error[some]
        goes &= there.any(axis=1)
        cost[some], error[some] = np.where(goes, more_cost, cost[some]), np.where(goes, more_error, error[some])
    return float(cost[0]), float(error[0])


@dataclass(frozen=True)
class Sibling:
    """A rule of the same shape, and what it comes to."""

    rule: Rule
    cost: float
    error: float


def siblings(
    trees: Sequence[VoteTree], share: Floats, rule: Rule, classes: Sequence[str], expert: float
) -> tuple[list[Sibling], int]:
    """Rules of the same shape that no other that was tried beats in cost and in error, cheapest first; how many were.

    trees: of each type of tasks, share (types,) of them.
    """
    every = []
    for one in rule.family(trees[0], classes, max(2, FAMILY // len(trees))):
        each = [priced(tree, one.decided(tree, classes), expert) for tree in trees]
        every.append(Sibling(one, *(float(share @ [getattr(p, what) for p in each]) for what in ("cost", "error"))))
    kept: list[Sibling] = []
    for sibling in sorted(every, key=lambda one: (one.cost, one.error)):
        if not kept or sibling.error < kept[-1].error * (1 - NOISE):
            kept.append(sibling)
    return kept, len(every)
