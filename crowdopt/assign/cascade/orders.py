"""Column generation over asking orders: multipliers price votes, prices make orders, orders make multipliers.

The restricted master over asking orders: it grows by columns, and says what errors and votes are worth.

The least price of a task whose workers each have a skill of their own, over beliefs: what proves a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.order_kernels import (
    Knots,
    Room,
    WorkerVotes,
    chosen_order,
    comes_to,
    limits_of,
    settled,
    splits,
    within,
)
from crowdopt.assign.cascade.panels import SkillPanel
from crowdopt.core.clock import Clock
from crowdopt.core.master import MakeMaster, Master, MasterPoint
from crowdopt.core.solution import relative_gap
from crowdopt.crowd.labels import AskingOrder
from crowdopt.programs.masters import OrderLimits, before_orders, of_orders

SPARE = 1e-6  # of loads, money and wrong answers: solvers keep limits to 1e-7


@dataclass(frozen=True, eq=False)
class OrderColumn:
    """An order for tasks of one start, and what a task that follows it is expected to come to."""

    start: int
    order: AskingOrder
    asked: Floats  # (its workers,): chance of being asked
    wrong: float
    expert: float
    cost: float


def expected(
    panel: SkillPanel, kind: int, order: AskingOrder, law: Floats, heard: tuple[int, int]
) -> tuple[Floats, float, float]:
    """Chances to ask each worker, to be wrong, to need the expert; heard: workers so far, and their score."""
    likely = np.ascontiguousarray(panel.likely[kind, list(order.workers)].reshape(-1, 2))
    adds = np.array(order.adds, np.int64).reshape(-1, 2)
    low, high = np.array(order.low, np.int64), np.array(order.high, np.int64)
    asked, wrong, expert = comes_to(likely, adds, low, high, np.ascontiguousarray(law), *heard)
    return asked, float(wrong), float(expert)


@dataclass(eq=False)
class OrderMaster:
    """All orders known, and the LP over them."""

    panel: SkillPanel
    expert: float | None
    make_master: MakeMaster
    dear: float  # what a wrong answer too many costs
    times: float = 1.0  # of all targets
    columns: list[OrderColumn] = field(default_factory=list)
    _seen: set[tuple[int, AskingOrder]] = field(default_factory=set)
    _lp: Master | None = None
    _behind: int = 0

    def add(self, start: int, order: AskingOrder) -> None:
        """Keep an order, where it is new: it is followed score by score; workers whom it never asks are left out."""
        one = self.panel.starts[start]
        asked, wrong, expert = expected(self.panel, one.kind, order, one.law, (0, 0))
        n = int((asked > 0).sum())  # who is asked is asked after all before
        order = AskingOrder(order.workers[:n], order.adds[:n], order.low[: n + 1], order.high[: n + 1])
        if (start, order) not in self._seen:
            self._seen.add((start, order))
            paid = (self.panel.price[one.kind, list(order.workers)] * asked[:n]).sum()
            cost = float(paid + expert * (self.expert or 0.0))
            self.columns.append(OrderColumn(start, order, asked[:n], wrong, expert, cost))

    @property
    def limits(self) -> OrderLimits:
        """The rows' sides, a little within those of the instance."""
        panel, budget = self.panel, self.panel.instance.budget
        shared = np.concatenate([panel.capacity, [] if budget is None else [budget], panel.limits[2]])
        wrong, tasks = panel.wrong(self.times), np.array([float(one.tasks.size) for one in panel.starts])
        inside = np.where(shared > SPARE, shared - SPARE, shared)
        return OrderLimits(tasks, wrong - SPARE * np.minimum(1.0, wrong), np.full(shared.size, -np.inf), inside)

    def _entries(self, first: int) -> tuple[Floats, sparse.csc_array]:
        """Costs and columns from a place on."""
        limits, panel, some = self.limits, self.panel, self.columns[first:]
        rows, values = [], []
        loads, has_budget = limits.tasks.size + limits.wrong.size, panel.instance.budget is not None
        for one in some:
            mine, kind = list(one.order.workers), panel.starts[one.start].kind
            beside = [one.cost] * has_budget + [(weight[kind, mine] * one.asked).sum() for weight in panel.limits[1]]
            target = limits.tasks.size + panel.error_rows[kind]
            after = loads + panel.capacity.size + np.arange(len(beside))
            rows.append(np.concatenate([[one.start, target], loads + np.array(mine, np.int64), after]))
            values.append(np.concatenate([[1.0, one.wrong], one.asked, beside]))
        ends = np.cumsum([0, *(row.size for row in rows)])
        inside = (np.concatenate(values), np.concatenate(rows).astype(np.int64), ends)
        return np.array([one.cost for one in some]), sparse.csc_array(inside, shape=(limits.size, len(some)))

    def solve(self, seconds: float) -> MasterPoint | None:
        """The LP with all orders known."""
        if self._lp is None:
            self._lp = self.make_master(of_orders(self.limits, *self._entries(0), self.dear))
        elif self._behind < len(self.columns):
            self._lp.add_columns(*self._entries(self._behind))
        self._behind = len(self.columns)
        return self._lp.solve(seconds)

    def restart(self, dear: float, times: float) -> None:
        """Another price of what is beyond limits, and other targets."""
        self.dear, self.times, self._lp = dear, times, None

    def amounts(self, point: MasterPoint) -> Floats:
        """Tasks that follow each order."""
        return np.maximum(0.0, point.primal[before_orders(self.limits) :])

    def beyond(self, point: MasterPoint) -> tuple[float, float]:
        """By what multiple errors are beyond their targets, and by how much other limits are broken."""
        return float(point.primal[0]), float(point.primal[1 : before_orders(self.limits)].max(initial=0.0))

    def proof(self, point: MasterPoint) -> PolicyProof:
        """The point's multipliers, with the signs that a proof needs."""
        limits, panel, has_budget = self.limits, self.panel, self.panel.instance.budget is not None
        starts, errors = limits.tasks.size, limits.tasks.size + limits.wrong.size
        error, (capacity, rest) = -point.dual[starts:errors], np.split(point.dual[errors:], [panel.capacity.size])
        budget = float(rest[0]) if has_budget else 0.0
        return panel.proof(error[panel.error_rows], capacity, budget, rest[has_budget:])


BEYOND, HIGHEST = 4.0, 16.0  # log-odds from the surest target to the last knot; of the last knot at most
TINY = 1e-13  # a chance below this counts as this where log-odds are rounded
SWEEPS, TOLERANCE = 10_000, 1e-11  # of the price of a task; relative to the dearest answer


@dataclass(eq=False)
class BeliefPrices:
    """Prices at beliefs whose log-odds are the multiples of ``step``; what was found last is where the next begins.

    Two things make them lower than what policies cost, never higher: a worker may be asked again and again, and
    posteriors between two knots are shared out between them.
    """

    panel: SkillPanel
    step: float
    expert: float | None
    adds: Ints = field(init=False)  # (kinds, workers, 2): steps that a label moves the log-odds
    belief: Floats = field(init=False)
    _moves: list[tuple[Floats, np.ndarray, Floats]] = field(init=False)
    _last: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        likely = self.panel.likely
        surest = min(float(self.panel.epsilon.min()), *(float(one.law.min()) for one in self.panel.starts))
        highest = min(HIGHEST, BEYOND + float(np.log(1 / max(surest, TINY))))
        above: Floats = 1 / (1 + np.exp(-np.arange(1, int(highest / self.step) + 1) * self.step))
        self.belief = np.concatenate([(1 - above)[::-1], [0.5], above])
        odds = np.log(np.maximum(np.stack([1 - likely, likely], axis=2), TINY))  # kind, worker, label, class
        self.adds = np.rint((odds[..., 1] - odds[..., 0]) / self.step).astype(np.int64)
        nothing = np.zeros(likely.shape[1])
        self._moves = [splits(WorkerVotes(*of, nothing), self.belief) for of in zip(likely, self.adds, strict=True)]

    def knots(self, kind: int, proof: PolicyProof, asking: Floats) -> Knots:
        """Beliefs and prices of a kind; asking (workers,): what a vote costs."""
        stop = answer = np.asarray(proof.error[kind] * np.minimum(self.belief, 1 - self.belief))
        if self.expert is not None:
            stop = np.minimum(answer, self.expert * (1 - proof.budget))
        least, scale = float(asking.min()), float(max(1e-9, stop.max()))
        if least <= 1e-6 * scale:
            labels = min(asking.size, int(self.panel.instance.max_labels[self.panel.first[kind]]))
            value = within(asking, self._moves[kind], stop, labels)
            return Knots(self.belief, answer, stop, value[1:-1].copy(), float(value[0]))
        begin = np.minimum(stop, self._last.get(kind, stop))
        value, above = settled(asking, self._moves[kind], stop, begin, SWEEPS, TOLERANCE * scale)
        self._last[kind] = value
        # where V is above its right side by no more than this, V shrunk a little is below it: asking costs ``least``
        return Knots(self.belief, answer, stop, value * (1 - above / (least + above)), 0.0)

    def at(self, knots: Knots, belief: float) -> float:
        """The price at a belief, from those at the knots beside it."""
        places = np.concatenate([[0.0], self.belief, [1.0]])
        return float(np.interp(belief, places, np.concatenate([[knots.sure], knots.value, [knots.sure]])))

    def bound(self, proof: PolicyProof, knots: list[Knots], times: float) -> float:
        """``sum n V - mu epsilon n + sum M w + budget``: below what every adaptive plan costs; knots: by kind."""
        total = sum(one.tasks.size * self.at(knots[one.kind], float(one.law[1])) for one in self.panel.starts)
        return total + self.panel.allowed(proof, times)


HELD = 1e-9  # a multiple of targets, or tasks; more is beyond a limit
STEP = 0.025  # of log-odds between knots, and of scores
ORDERS, ITERATIONS = 60, 200  # orders made in each iteration, about
GAP, PATIENCE, NEWS = 1e-4, 6, 1e-5  # it ends there, or after so many iterations whose relative changes are no more
SMOOTHING = 0.5  # how far prices stay with the best bound's multipliers
SPREAD = 0.02  # of a middling price, by which orders of one iteration are kept apart
DEAR = (1e2, 1e4, 1e6)  # middling prices: what a wrong answer too many costs, one after another
BEYOND_LEAST = 1e-6  # relative; above the least multiple of the targets, so that the next solve finds a plan


@dataclass(eq=False)
class OrderGeneration:
    """The loop and its state: the orders known, the best multipliers and their bound."""

    panel: SkillPanel
    expert: float | None
    make_master: MakeMaster
    seed: int
    times: float = 1.0  # of all targets that errors take; 1 where they are kept

    def __post_init__(self) -> None:
        self.prices = BeliefPrices(self.panel, STEP, self.expert)
        self.middling = float(max(1e-3, np.median(self.panel.price)))
        self.best, self.bound = self.panel.proof(0.0), -np.inf
        self.master = OrderMaster(self.panel, self.expert, self.make_master, DEAR[0] * self.middling)

    def run(self, clock: Clock) -> Floats | None:
        """How many tasks follow each order in the cheapest mixture found in the time.

        Where targets are out of reach all of them grow by one multiple, the least found, and it is solved again. None
        where no limits but the targets can be kept.
        """
        master = self.master
        for start, one in enumerate(self.panel.starts):  # to answer at once, and to ask the expert at once
            master.add(
                start, AskingOrder((), (), (-1,), (0,)) if one.law[1] >= 0.5 else AskingOrder((), (), (0,), (1,))
            )
            if self.expert is not None:
                master.add(start, AskingOrder((), (), (-1,), (1,)))
        point = self._within(clock)
        if point is not None and master.beyond(point)[0] > HELD:
            self.times = (1 + master.beyond(point)[0]) * (1 + BEYOND_LEAST)
            point = self._within(clock)
        if point is None or master.beyond(point)[1] > HELD:
            return None
        if master.beyond(point)[0] > HELD:
            self.times *= 1 + master.beyond(point)[0]
        if self.bound < 0 or master.beyond(point)[0] > HELD:  # nothing costs less than 0
            self.best = self.panel.proof(0.0)
            self.bound = self._priced(self.best)[1]
        return master.amounts(point)

    def _within(self, clock: Clock) -> MasterPoint | None:
        """What is beyond limits made dearer until nothing is, from multipliers of errors alone and no bound."""
        self.best, self.bound, point = self.panel.proof(20 * self.middling), -np.inf, None
        for dear in DEAR:
            self.master.restart(dear * self.middling, self.times)
            point = self._generated(clock)
            if point is None or max(self.master.beyond(point)) <= HELD or clock.over:
                break
        return point

    def _generated(self, clock: Clock) -> MasterPoint | None:
        rng, stale, known = np.random.default_rng(self.seed), 0, (np.inf, -np.inf)
        point = self.master.solve(clock.left)
        for _ in range(ITERATIONS):
            if point is None or clock.over:
                break
            proof = self._smoothed(self.master.proof(point))
            knots, bound = self._priced(proof)
            if bound > self.bound:
                self.best, self.bound = proof, bound
            for start, order in self._orders(knots, proof, rng):
                self.master.add(start, order)
            after = self.master.solve(clock.left)
            point = point if after is None else after
            here = (point.value, self.bound)
            slow = [abs(a - b) <= NEWS * abs(a) for a, b in zip(here, known, strict=True)]
            stale, known = (stale + 1 if all(slow) else 0), here
            if relative_gap(point.value, self.bound) <= GAP or stale >= PATIENCE:
                break
        return point

    def _smoothed(self, proof: PolicyProof) -> PolicyProof:
        """Multipliers between the master's and the best: the master's alone jump about."""
        if self.bound == -np.inf:
            return self.best
        a, b, keep = self.best, proof, SMOOTHING
        error, capacity = keep * a.error + (1 - keep) * b.error, keep * a.capacity + (1 - keep) * b.capacity
        budget, limits = keep * a.budget + (1 - keep) * b.budget, keep * a.of_limits + (1 - keep) * b.of_limits
        return self.panel.proof(error, capacity, budget, limits)

    def _priced(self, proof: PolicyProof) -> tuple[list[Knots], float]:
        knots = [self.prices.knots(kind, proof, asking) for kind, asking in enumerate(self.panel.asking(proof))]
        return knots, self.prices.bound(proof, knots, self.times)

    def _orders(
        self, knots: list[Knots], proof: PolicyProof, rng: np.random.Generator
    ) -> Iterator[tuple[int, AskingOrder]]:
        """Orders that are cheap at these prices: half of them made dear by what others use, half by lots."""
        asking, starts = self.panel.asking(proof), np.arange(len(self.panel.starts))
        many = max(1, ORDERS // 2)
        if starts.size > many:
            starts = rng.permutation(starts)[:many]
        repeat, spread = max(1, many // starts.size), SPREAD * self.middling
        for start in starts.tolist():
            kind, crowded = self.panel.starts[start].kind, np.zeros(asking.shape[1])
            for turn in range(repeat):
                lots = rng.exponential(spread * (turn / 16) ** 0.5, crowded.size) if turn else 0 * crowded
                for extra in (lots, crowded):
                    order = self._order(start, knots[kind], asking[kind], extra)
                    if order.workers:
                        yield start, order
                crowded[list(order.workers)] += spread

    def _order(self, start: int, knots: Knots, asking: Floats, extra: Floats) -> AskingOrder:
        """One order with limits to its scores; extra (workers,): by how much votes are dearer while it is made."""
        one, belief = self.panel.starts[start], self.prices.belief
        votes = WorkerVotes(self.panel.likely[one.kind], self.prices.adds[one.kind], asking)
        free, left, most = self.panel.may_ask(one)
        begin, expert = int(np.abs(belief - one.law[1]).argmin()), np.inf
        if self.expert is not None:
            expert = float(knots.stop.max())
        order = chosen_order(votes, extra, knots, begin, one.law, Room(free, self.panel.limited[0], left, most))
        first, final = limits_of(votes, order, knots, expert)
        never = np.flatnonzero(first[:-1] > final[:-1])  # goes on before these workers
        if never.size:
            order = order[: never[0]]
            first, final = limits_of(votes, order, knots, expert)
        low, high = first - 1 - begin, final + 1 - begin
        if first[-1] > final[-1]:
            low[-1], high[-1] = belief.size // 2 - 1 - begin, belief.size // 2 - begin
        adds = tuple((int(a), int(b)) for a, b in votes.adds[order])
        return AskingOrder(tuple(order.tolist()), adds, tuple(low.tolist()), tuple(high.tolist()))
