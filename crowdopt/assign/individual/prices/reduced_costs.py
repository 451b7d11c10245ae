"""Every pair priced at some multipliers: what the linear program costs at least, and which pairs would pay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import Prices, linked
from crowdopt.core.roundoff import UNIT, sum_below
from crowdopt.crowd.instance import UNLIMITED

CELLS = 1_000_000  # pairs that are looked at together
TIES = 1e-7  # relative to the mean label; pairs that pay nearly the same join at random, not all with one worker
PAYS = 1e-11  # relative to the task's terms; a pair that pays less than this does not


@dataclass(frozen=True, eq=False)
class OwnDuals:
    """Multipliers of the linear program's rows: ``task`` (k,) x >= 0, ``labels`` (k,) l, and those of ``prices``."""

    task: Floats
    labels: Floats
    prices: Prices

    @classmethod
    def of(cls, tasks: OwnTasks, task: Floats, labels: Floats, prices: Prices) -> OwnDuals:
        """Multipliers without what pulls on a side that is not there."""
        worker = np.where(tasks.least > 0, prices.worker, np.minimum(prices.worker, 0.0))
        budget = 0.0 if tasks.budget is None else min(0.0, prices.budget)
        labels = np.where((labels < 0) & (tasks.arrays.most == UNLIMITED), 0.0, labels)
        labels = np.where((labels > 0) & (tasks.arrays.fewest == 0), 0.0, labels)
        return cls(np.maximum(task, 0.0), labels, Prices(worker, budget))


@dataclass(frozen=True, eq=False)
class Priced:
    """What the linear program costs at least, and pairs ``task * workers + worker`` that would pay, sorted."""

    bound: float
    pairs: Ints


def price_pairs(
    tasks: OwnTasks, duals: OwnDuals, known: Ints, rng: np.random.Generator, most: int, least: Ints | None = None
) -> Priced:
    """``sum C_i x_i + a_i [l_i]+ - b_i [l_i]- + sum_j L_j [w_j]+ - M_j [w_j]- + b B + sum_ij min(0, r_ij)``.

    With ``r_ij = (1 - b) c_ij - q_ij x_i - l_i - w_j``: at most what any shares of labels cost. Less what rounding may
    have added.

    known (p,): pairs that take part already, sorted; most: new pairs of a task that pay, at most; least (k,): new pairs
    of each task in any case, also of those that do not pay, the nearest.
    """
    x, limit, arrays, m = duals.task, duals.labels, tasks.arrays, tasks.room.size
    side = np.where(limit > 0, arrays.fewest, np.where(arrays.most == UNLIMITED, 0, arrays.most))
    terms = [arrays.floor * x, side * limit, np.array([linked(tasks, duals.prices)])]
    found = [np.zeros(0, np.int64)]
    unit = TIES * float(arrays.cost.mean())
    for some, reduced, off in _parts(tasks, duals):
        terms.append(np.minimum(0.0, reduced - off[:, None]).sum(axis=1))
        mine = known[np.searchsorted(known, some[0] * m) : np.searchsorted(known, (some[-1] + 1) * m)] - some[0] * m
        reduced.reshape(-1)[mine] = np.inf
        found.append(
            some[0] * m
            + _lowest(reduced, PAYS / (8 * UNIT) * off, unit, rng, most, 0 if least is None else least[some])
        )
    return Priced(sum_below(np.concatenate(terms)), np.sort(np.concatenate(found)))


def _parts(tasks: OwnTasks, duals: OwnDuals) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Some tasks at a time, the reduced costs of their pairs (infinite where barred), and their rounding."""
    arrays, m, prices = tasks.arrays, tasks.room.size, duals.prices
    paid = (1.0 - prices.budget) * arrays.cost - prices.worker
    far = float(np.abs(prices.worker).max(initial=0.0))
    for some in np.array_split(np.arange(tasks.size), -(-tasks.size * m // CELLS)):
        row, x, limit = arrays.row[some], duals.task[some], duals.labels[some]
        worth = arrays.worth[row] * x[:, None]
        price = paid if len(paid) == 1 else paid[row]
        size = worth.max(axis=1) + np.abs(limit) + far + (1.0 - prices.budget) * float(arrays.cost.max())
        reduced = price - worth - limit[:, None]
        begin, end = arrays.starts[some[0]], arrays.starts[some[-1] + 1]
        owner = np.repeat(np.arange(some.size), np.diff(arrays.starts[some[0] : some[-1] + 2]))
        reduced[owner, arrays.barred[begin:end]] = np.inf
        yield some, reduced, 8 * UNIT * size


def _lowest(
    reduced: Floats, trifle: Floats, unit: float, rng: np.random.Generator, most: int, least: Ints | int
) -> Ints:
    """The pairs of each task that pay most, or the nearest, as places in the table."""
    m = reduced.shape[1]
    paying = (reduced < -trifle[:, None]).sum(axis=1)
    wanted = np.maximum(np.minimum(paying, most), least)
    wanted = np.minimum(wanted, m)
    width = int(wanted.max(initial=0))
    if width == 0:
        return np.zeros(0, np.int64)
    busy = np.flatnonzero(wanted)
    key = reduced[busy] + unit * rng.random((busy.size, m))
    nearest = np.sort(np.partition(key, width - 1, axis=1)[:, :width], axis=1)
    last = nearest[np.arange(busy.size), wanted[busy] - 1]
    row, worker = np.nonzero((key <= last[:, None]) & np.isfinite(key))
    return busy[row] * m + worker
