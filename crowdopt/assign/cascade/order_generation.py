"""Column generation over asking orders: multipliers price votes, prices make orders, orders make multipliers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.belief_prices import BeliefPrices
from crowdopt.assign.cascade.order_kernels import Knots, Room, WorkerVotes, chosen_order, limits_of
from crowdopt.assign.cascade.order_master import OrderMaster
from crowdopt.core.clock import Clock
from crowdopt.core.master import MakeMaster, MasterPoint
from crowdopt.core.solution import relative_gap
from crowdopt.crowd.states.asking_orders import AskingOrder
from crowdopt.crowd.states.own_skills import OwnSkills

HELD = 1e-9  # a multiple of targets, or tasks; more is beyond a limit
STEP = 0.025  # of log-odds between knots, and of scores
ORDERS, ITERATIONS = 60, 200  # orders made in each iteration, about
GAP, PATIENCE, NEWS = 1e-4, 6, 1e-5  # it ends there, or after so many iterations whose relative changes are no more
SMOOTHING = 0.5  # how far prices stay with the best bound's multipliers
SPREAD = 0.02  # of a middling price, by which orders of one iteration are kept apart
DEAR = (1e2, 1e4, 1e6)  # middling prices: what a wrong answer too many costs, one after another
SPARE = 1e-6  # relative; above the least multiple of the targets, so that the next solve finds a plan


@dataclass(frozen=True, eq=False)
class FoundOrders:
    """The orders, how many tasks follow each, the multipliers of the best bound, and the bound."""

    master: OrderMaster
    amounts: Floats
    times: float  # of all targets that errors take; 1 where they are kept
    proof: PolicyProof
    bound: float


@dataclass(eq=False)
class OrderGeneration:
    """The loop and its state: the best multipliers and their bound."""

    problem: OwnSkills
    expert: float | None
    make_master: MakeMaster
    seed: int

    def __post_init__(self) -> None:
        self.prices = BeliefPrices(self.problem, STEP, self.expert)
        self.middling = float(max(1e-3, np.median(self.problem.price)))
        self.times = 1.0
        self._forget()

    def _forget(self) -> None:
        """Multipliers to begin with, and no bound."""
        self.best, self.bound = self._same_price(20 * self.middling), -np.inf

    def _same_price(self, error: float) -> PolicyProof:
        """Multipliers of errors alone."""
        limits = tuple((row.limit, row.name, 0.0) for row in self.problem.label_rows)
        instance = self.problem.instance
        return PolicyProof(np.full(self.problem.first.size, error), np.zeros(instance.n_workers), 0.0, limits)

    def run(self, clock: Clock) -> FoundOrders | None:
        """The cheapest mixture of orders found, in the time; None where no limits but the targets can be kept.

        Where targets are out of reach all of them grow by one multiple, the least found, and it is solved again.
        """
        master = OrderMaster(self.problem, self.expert, self.make_master, DEAR[0] * self.middling)
        for start, one in enumerate(self.problem.starts):
            for order in self._at_once(float(one.law[1])):
                master.add(start, order)
        point = self._within(master, clock)
        if point is not None and master.beyond(point)[0] > HELD:
            self.times = (1 + master.beyond(point)[0]) * (1 + SPARE)
            self._forget()
            point = self._within(master, clock)
        if point is None or master.beyond(point)[1] > HELD:
            return None
        if master.beyond(point)[0] > HELD:
            self.times *= 1 + master.beyond(point)[0]
        if self.bound < 0 or master.beyond(point)[0] > HELD:  # nothing costs less than 0
            self.best = self._same_price(0.0)
            self.bound = self._priced(self.best)[1]
        return FoundOrders(master, master.amounts(point), self.times, self.best, self.bound)

    def _within(self, master: OrderMaster, clock: Clock) -> MasterPoint | None:
        """What is beyond limits made dearer until nothing is."""
        point = None
        for dear in DEAR:
            master.restart(dear * self.middling, self.times)
            point = self._generated(master, clock)
            if point is None or max(master.beyond(point)) <= HELD or clock.over:
                break
        return point

    def _at_once(self, belief: float) -> Iterator[AskingOrder]:
        """To answer at once, and to ask the expert at once."""
        yield AskingOrder((), (), (-1,), (0,)) if belief >= 0.5 else AskingOrder((), (), (0,), (1,))
        if self.expert is not None:
            yield AskingOrder((), (), (-1,), (1,))

    def _generated(self, master: OrderMaster, clock: Clock) -> MasterPoint | None:
        rng, stale, known = np.random.default_rng(self.seed), 0, (np.inf, -np.inf)
        point = master.solve(clock.left)
        for _ in range(ITERATIONS):
            if point is None or clock.over:
                break
            proof = self._smoothed(master.proof(point))
            knots, bound = self._priced(proof)
            if bound > self.bound:
                self.best, self.bound = proof, bound
            for start, order in self._orders(knots, proof, rng):
                master.add(start, order)
            after = master.solve(clock.left)
            point = point if after is None else after
            here = (point.value, self.bound)
            slow = [abs(a - b) <= NEWS * abs(a) for a, b in zip(here, known, strict=True)]
            stale, known = (stale + 1 if all(slow) else 0), here
            if relative_gap(point.value, self.bound) <= GAP or stale >= PATIENCE:
                break
        return point

    def _smoothed(self, proof: PolicyProof) -> PolicyProof:
        """Multipliers between the master's and the best: the master's alone jump about."""
        best, keep = self.best, SMOOTHING
        if self.bound == -np.inf:
            return best
        mixed = [keep * a + (1 - keep) * b for a, b in ((best.error, proof.error), (best.capacity, proof.capacity))]
        pairs = zip(best.limits, proof.limits, strict=True)
        limits = tuple((*a[:2], keep * a[2] + (1 - keep) * b[2]) for a, b in pairs)
        return PolicyProof(mixed[0], mixed[1], keep * best.budget + (1 - keep) * proof.budget, limits)

    def _priced(self, proof: PolicyProof) -> tuple[list[Knots], float]:
        asking = self.prices.asking(proof)
        knots = [self.prices.knots(kind, proof, asking[kind]) for kind in range(self.problem.first.size)]
        return knots, self.prices.bound(proof, knots, self.times)

    def _orders(
        self, knots: list[Knots], proof: PolicyProof, rng: np.random.Generator
    ) -> Iterator[tuple[int, AskingOrder]]:
        """Orders that are cheap at these prices: half of them made dear by what others use, half by lots."""
        asking, starts = self.prices.asking(proof), np.arange(len(self.problem.starts))
        many = max(1, ORDERS // 2)
        if starts.size > many:
            starts = rng.permutation(starts)[:many]
        repeat, spread = max(1, many // starts.size), SPREAD * self.middling
        for start in starts.tolist():
            kind, crowded = self.problem.starts[start].kind, np.zeros(asking.shape[1])
            for turn in range(repeat):
                lots = rng.exponential(spread * (turn / 16) ** 0.5, crowded.size) if turn else 0 * crowded
                for extra in (lots, crowded):
                    order = self._order(start, knots[kind], asking[kind], extra)
                    if order.workers:
                        yield start, order
                crowded[list(order.workers)] += spread

    def _order(self, start: int, knots: Knots, asking: Floats, extra: Floats) -> AskingOrder:
        """One order; extra (workers,): by how much votes are dearer while it is made."""
        one, belief = self.problem.starts[start], self.prices.belief
        votes = WorkerVotes(self.problem.likely[one.kind], self.prices.adds[one.kind], asking)
        free, left, most = self.problem.may_ask(one)
        begin = int(np.abs(belief - one.law[1]).argmin())
        order = chosen_order(votes, extra, knots, begin, one.law, Room(free, self.problem.limited[0], left, most))
        return self._limited(order, votes, knots, begin)

    def _limited(self, order: Ints, votes: WorkerVotes, knots: Knots, begin: int) -> AskingOrder:
        """The order with limits to its scores, cut where it never goes on."""
        expert = np.inf if self.expert is None else float(knots.stop.max())
        first, final = limits_of(votes, order, knots, expert)
        empty = np.flatnonzero(first[:-1] > final[:-1])
        if empty.size:
            order = order[: empty[0]]
            first, final = limits_of(votes, order, knots, expert)
        low, high = first - 1 - begin, final + 1 - begin
        if first[-1] > final[-1]:
            low[-1], high[-1] = self.prices.middle - 1 - begin, self.prices.middle - begin
        adds = tuple((int(a), int(b)) for a, b in votes.adds[order])
        return AskingOrder(tuple(order.tolist()), adds, tuple(low.tolist()), tuple(high.tolist()))
