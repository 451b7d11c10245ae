"""Column generation over asking orders: multipliers price votes, prices make orders, orders make multipliers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.belief_prices import BeliefPrices
from crowdopt.assign.cascade.order_kernels import Knots, Room, WorkerVotes, chosen_order, limits_of
from crowdopt.assign.cascade.order_master import OrderMaster
from crowdopt.assign.cascade.panels import SkillPanel
from crowdopt.core.clock import Clock
from crowdopt.core.master import MakeMaster, MasterPoint
from crowdopt.core.solution import relative_gap
from crowdopt.crowd.asking_orders import AskingOrder

HELD = 1e-9  # a multiple of targets, or tasks; more is beyond a limit
STEP = 0.025  # of log-odds between knots, and of scores
ORDERS, ITERATIONS = 60, 200  # orders made in each iteration, about
GAP, PATIENCE, NEWS = 1e-4, 6, 1e-5  # it ends there, or after so many iterations whose relative changes are no more
SMOOTHING = 0.5  # how far prices stay with the best bound's multipliers
SPREAD = 0.02  # of a middling price, by which orders of one iteration are kept apart
DEAR = (1e2, 1e4, 1e6)  # middling prices: what a wrong answer too many costs, one after another
SPARE = 1e-6  # relative; above the least multiple of the targets, so that the next solve finds a plan


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
            self.times = (1 + master.beyond(point)[0]) * (1 + SPARE)
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
