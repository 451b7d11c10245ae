"""The coordinator of tasks in parts: it knows prices and sums, never a task.

``max_w  sum_j M_j w_j + sum_p g_p(w), w <= 0``, where ``g_p`` is what part p says (assign.linear.sweep).
Sums go in the order of the parts, and nothing depends on the clock or on who computed what: the same parts bring the
same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.ascent import WIDE, Ascent, sampled_prices
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.assign.linear.sweep import CLOSE, GROUPS, NODES, Prices, Sweep, Sweeper
from crowdopt.assign.parts.asked import PartLook, PartPlan, Parts, PartsAnswer, TimeIsUp
from crowdopt.assign.parts.dealing import NOTHING
from crowdopt.assign.parts.part_work import ENDLESS, Start
from crowdopt.core.certificate import next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Solve

MARGIN = 2e-7  # relative to the tasks' values; between what is computed here and what is claimed
DEAR = 4.0  # what a label too many costs, in units of the highest price of a worker
SWEEPS = 40  # at most
ENOUGH = 1e-5  # relative: what the model of the bound may still promise when the sweeps end
FLAT, TWICE = 1e-6, 2  # relative; they end too where so many in a row gain no more on prices of a sample
EACH, LINES = 6, 96  # groups of a part at most; lines of all parts beyond which parts share one
DEALS = 3  # times that room is dealt to parts that are not whole
PLANNING = 15  # sweeps that planning takes as long as, at most: what is kept of a time limit


class PartsSweeper(Sweeper):
    """Sweeps by asking the parts; ``tasks`` says what links them, and has no task of its own."""

    def __init__(self, parts: Parts, tasks: OwnTasks, looks: Sequence[PartLook]) -> None:
        self.parts, self.tasks, self.threads = parts, tasks, 1
        self.each = groups_each(len(looks))
        self.groups = min(LINES, len(looks) * self.each)
        self.loads: list[Ints] = []  # of each sweep, (parts, groups, workers)
        self.line = np.arange(len(looks) * self.each).reshape(len(looks), self.each) % self.groups

    def sweep(self, prices: Prices, clock: Clock, close: float = CLOSE, nodes: int = NODES) -> Sweep | None:
        """What all parts say at these prices, added up in their order."""
        answers = self.parts.price(prices, nodes)
        m = self.tasks.room.size
        load, paid = np.zeros((self.groups, m)), np.zeros(self.groups)
        for line, answer in zip(self.line, answers, strict=True):
            np.add.at(load, line, answer.load)
            np.add.at(paid, line, answer.paid)
        self.loads.append(np.array([answer.load for answer in answers]))
        rows = (self.tasks.room * prices.worker).tolist()
        bound = fsum([*rows, *(answer.value for answer in answers)]) + self.tasks.constant
        size = np.array([fsum(answer.size for answer in answers)])
        none, nobody = np.zeros(0), np.zeros((0, 0), np.int64)
        return Sweep(prices, size, none, none, nobody, nobody.ravel(), load, paid, bound)


def groups_each(parts: int) -> int:
    """Groups of each part: few parts have several, so that the model of the bound has lines enough."""
    return min(EACH, max(1, -(-GROUPS // parts)))


def solve_parts(
    parts: Parts,
    looks: Sequence[PartLook],
    sample: OwnTasks,
    solve: Solve,
    seed: int,
    hear: Callable[[str, float, float | None], None],
    clock: Clock | None = None,
) -> PartsAnswer:
    """Bound and plan of all parts together.

    looks: one a part; sample: some of the tasks, drawn from all parts, with the whole capacities; clock: sweeps end
    when what is left of it is what planning takes.
    """
    clock = clock or Clock(ENDLESS)
    room = sample.instance.capacity - np.sum([look.fixed for look in looks], axis=0)
    constant = fsum(look.constant for look in looks)
    total = sum(look.tasks for look in looks)
    options, rng = Options(time_limit=ENDLESS, seed=seed), np.random.default_rng(seed)
    start = sampled_prices(replace(sample, room=room), solve, options, Clock(ENDLESS), rng, total)
    whole = replace(sample.part(np.zeros(0, np.int64)), room=room, least=np.zeros_like(room), constant=constant)
    unit = float(sample.arrays.cost.mean()) or 1.0
    sweeper = PartsSweeper(parts, whole, looks)
    ascent = Ascent(sweeper, solve, options, Clock(ENDLESS), unit * WIDE if start is None else start.radius)
    if start is not None:
        ascent.nodes = start.nodes
    ceiling = float(sample.arrays.cost.max(axis=0) @ np.minimum(room, total)) + constant

    bounds: list[float] = []

    def said(sweep: Sweep) -> bool:
        bounds.append(max([sweep.bound, *bounds[-1:]]))
        over = int(np.maximum(0, sweep.load.sum(axis=0) - room).sum())
        hear(f"sweep {len(ascent.visited)}, {over} labels over capacity", bound_of(sweep), None)
        promised = ascent.ahead - ascent.best.bound if ascent.best is not None else np.inf
        near = promised <= ENOUGH * max(1.0, abs(sweep.bound)) and not ascent.at_edge
        gained = bounds[-1] - bounds[max(0, len(bounds) - 1 - TWICE)]
        is_flat = start is not None and len(bounds) > TWICE and gained <= FLAT * abs(bounds[-1])
        left.append(clock.left)
        is_short = left[-1] < PLANNING * (left[-2] - left[-1])
        return sweep.bound > ceiling + 1.0 or near or is_flat or is_short

    def bound_of(sweep: Sweep) -> float:
        if not np.isfinite(sweep.bound) or sweep.bound > ceiling + 1.0:
            return np.inf
        bound = sweep.bound - MARGIN * float(sweep.value[0] + abs(constant))
        return next_integer(bound) if bool((sample.arrays.cost == np.rint(sample.arrays.cost)).all()) else bound

    plans, is_late, left = None, False, [clock.left]
    try:
        first = ascent.visit(Prices(np.zeros(room.size)) if start is None else start.prices)
        assert first is not None
        if not said(first):
            ascent.climb(SWEEPS, said)
        if ascent.best is not None and bound_of(ascent.best) < np.inf:
            plans = _planned(parts, sweeper, ascent, looks, hear, start is not None)
    except TimeIsUp:
        is_late = True
    best = ascent.best
    if best is None:
        return PartsAnswer(np.zeros(room.size), -np.inf, None, None, 0, is_late)
    bound, count = bound_of(best), len(ascent.visited)
    if bound == np.inf or plans is None:
        return PartsAnswer(best.prices.worker, bound, None, None, count, is_late)
    load, cost = _together(plans, sample.instance.capacity - room, constant)
    return PartsAnswer(best.prices.worker, min(bound, cost), load, cost, count)


def _together(plans: list[PartPlan], fixed: Ints, constant: float) -> tuple[Ints, float]:
    """Loads of all parts' plans, fixed labels included, and what they cost."""
    return np.sum([plan.load for plan in plans], axis=0) + fixed, fsum([constant, *(plan.cost for plan in plans)])


def _planned(
    parts: Parts,
    sweeper: PartsSweeper,
    ascent: Ascent,
    looks: Sequence[PartLook],
    hear: Callable[[str, float, float | None], None],
    is_sampled: bool,
) -> list[PartPlan] | None:
    """Room dealt to the parts by what they ask for, on average of the best sweeps; if that fails, a fair share."""
    # Where tasks are so many that a sample tells their prices, by what they ask for at the best ones alone: these are
    # then right in every part, and its plan follows the loads from there.
    best, room = ascent.best, sweeper.tasks.room
    assert best is not None
    bound, tasks = best.bound, np.array([look.tasks for look in looks])
    starts, loads = _starts(sweeper, ascent)
    if is_sampled:
        loads = sweeper.loads[ascent.visited.index(best.prices)].sum(axis=1)
    for asked in (loads, np.zeros_like(loads)):
        dealt = deal_room(room, asked, tasks)
        plans = _settled(parts, room, dealt, starts, ascent.nodes, lambda text: hear(text, bound, None))
        if plans is not None:
            return plans
    return None


def _starts(sweeper: PartsSweeper, ascent: Ascent) -> tuple[list[Start], Ints]:
    """Each part's sweeps in the shares in which all parts fit workers best, and what they ask for, (parts, workers)."""
    best = ascent.best
    assert best is not None
    unit = float(np.abs(best.prices.worker).max(initial=0.0)) or float(sweeper.tasks.arrays.cost.mean())
    mixed = ascent.mixture(DEAR * unit)
    visited, share = mixed or ([best.prices], np.ones((1, sweeper.groups)))
    brought = sweeper.loads[-len(visited) :] if mixed else [sweeper.loads[ascent.visited.index(best.prices)]]
    starts, loads = [], np.zeros((len(sweeper.line), sweeper.tasks.room.size), np.int64)
    for part, line in enumerate(sweeper.line):
        own = share[:, line]
        used = np.flatnonzero((own > NOTHING).any(axis=1))
        starts.append(Start(best.prices, [visited[u] for u in used], own[used]))
        each = np.array([load[part] for load in brought])
        loads[part] = np.rint((own[:, :, None] * each).sum(axis=(0, 1)))
    return starts, loads


def _settled(
    parts: Parts, room: Ints, dealt: Ints, starts: list[Start], nodes: int, tell: Callable[[str], None]
) -> list[PartPlan] | None:
    """Plans of all parts within their room; what they leave is dealt to those that lack some, a few times."""
    some = np.arange(len(dealt))
    plans: dict[int, PartPlan] = {}
    for _ in range(DEALS):
        tell(f"planning {some.size} parts")
        plans |= dict(
            zip(some.tolist(), parts.plan(some.tolist(), dealt, [starts[part] for part in some], nodes), strict=True)
        )
        every = [plans[part] for part in range(len(plans))]
        some = np.flatnonzero([not plan.whole for plan in every])
        if not some.size:
            return every
        dealt = deal_rest(room, np.array([plan.load for plan in every]), some)
    return None


def deal_room(room: Ints, loads: Ints, tasks: Ints) -> Ints:
    """What each part may use: what it asks for, plus its tasks' share of what is left, or less where all ask too much.

    room (workers,): labels that each worker can give; loads (parts, workers): what each part asks for; tasks (parts,):
    how many each has; -> (parts, workers): each column adds up to the worker's room.
    """
    asked = loads.sum(axis=0)
    spare = np.maximum(0, room - asked)
    share = np.broadcast_to((tasks / tasks.sum())[:, None], loads.shape)
    cut = loads * np.minimum(1.0, room / np.maximum(1, asked))
    return np.where(asked <= room, loads + _whole(share * spare, spare), _whole(cut, np.minimum(room, asked)))


def deal_rest(room: Ints, loads: Ints, some: Ints) -> Ints:
    """What the parts that need more may use, (k, workers): what they have, and equal shares of what no part has."""
    rest = room - loads.sum(axis=0)
    return loads[some] + _whole(np.broadcast_to(rest / some.size, (some.size, room.size)), rest)


def _whole(amounts: Floats, total: Ints) -> Ints:
    """Amounts (parts, workers) rounded so that each column has its total: the largest remainders up."""
    down = np.floor(amounts + 1e-9).astype(np.int64)
    missing = total - down.sum(axis=0)
    order = np.argsort(-(amounts - down), axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(amounts))[:, None], axis=0)
    return np.asarray(down + (rank < missing))
