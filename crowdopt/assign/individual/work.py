"""What the stages share where each task is priced by itself: prices, sets met, claims, offers, compiled loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.assign.individual.congestion import congested
from crowdopt.assign.individual.mixing import Mixer
from crowdopt.assign.individual.prices.ascent import Ascent
from crowdopt.assign.individual.prices.own_tasks import OwnTasks, own_tasks
from crowdopt.assign.individual.prices.sampled_prices import WIDE, sizes
from crowdopt.assign.individual.prices.sweep import Prices, Sweep, Sweeper
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sets_met import SetsMet
from crowdopt.assign.plan import Duals
from crowdopt.assign.standing import Standing
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance

MARGIN = 2e-7  # relative to the tasks' values; between what is computed here and what is claimed
MIXED_TASKS = 50_000  # tasks up to which a master chooses among the sets met
MET = 3_000_000  # sets x labels kept in all


@dataclass(eq=False)
class Work:
    """Open tasks, prices of workers' time, the sets met on the way, and where the search stands.

    ``chosen`` are the labels of the best plan, ``soon`` what the plan cost that came before the first bound.
    """

    standing: Standing
    tasks: OwnTasks
    chosen: tuple[NDArray[Any], Ints] | None = None
    soon: float = np.inf

    def __post_init__(self) -> None:
        standing, tasks = self.standing, self.tasks
        solve, options = standing.solvers.solve, standing.options
        self.rng = np.random.default_rng(options.seed)
        self.is_integral = bool((tasks.arrays.cost == np.rint(tasks.arrays.cost)).all())
        self.unit = float(tasks.arrays.cost.mean()) or 1.0
        self.prices = Prices(np.zeros(tasks.room.size))
        self.sweeper = Sweeper(tasks, options.threads)
        self.ascent = Ascent(self.sweeper, solve, options, standing.clock, self.unit * WIDE)
        self.met = SetsMet.none(tasks, self.sweeper.width, self.sweeper.type)
        self.mixer = Mixer(solve, options)

    @property
    def has_plan(self) -> bool:
        """Whether there is a better plan than the one that came before the first bound."""
        return self.standing.best is not None and self.standing.value < self.soon

    @property
    def is_many(self) -> bool:
        """Whether tasks are many enough that samples of them tell the prices."""
        return not self.tasks.is_shared and bool(sizes(self.tasks.size, self.tasks.room.size))

    @property
    def labels_each(self) -> float:
        """Labels per task in the best sweep."""
        best = self.ascent.best
        return 0.0 if best is None else float(best.load.sum()) / self.tasks.size

    def hear(self, sweep: Sweep) -> bool:
        """Claim what the sweep proves; whether there is nothing more to prove."""
        standing, tasks = self.standing, self.tasks
        if not np.isfinite(sweep.bound) or sweep.bound > standing.ceiling + 1.0:
            standing.known = Certificate(None, np.inf, "certificate", None, None)
            return True
        bound = sweep.bound - MARGIN * float(np.abs(sweep.value).sum() + abs(tasks.constant))
        bound = next_integer(bound) if self.is_integral else bound
        if bound > standing.bound:
            standing.raise_bound(bound, self._duals(sweep))
        return standing.closed

    def _duals(self, sweep: Sweep) -> Duals:
        task, labels = np.zeros((2, self.standing.instance.n_tasks))
        task[self.tasks.task], labels[self.tasks.task] = sweep.rate, sweep.limit
        return Duals(task, sweep.prices.worker, labels, sweep.prices.budget, form="blocks")

    def keep(self, sweep: Sweep) -> None:
        """Remember the sweep's sets, as long as there is room."""
        if self.met.workers.size < MET and self.tasks.size <= MIXED_TASKS:
            self.met.add(sweep.hands, sweep.held)

    def nobody(self, prices: Prices) -> Served:
        """Labels to be dealt at some prices: nobody has anything yet."""
        return Served.none(self.tasks, prices, self.sweeper.width, self.sweeper.type)

    def offer(self, dealt: Served, patient: bool = True) -> None:
        """Mend, serve who has nothing, and improve task by task; every plan on the way that holds is offered."""
        standing = self.standing
        if not dealt.shed(self.rng, standing.clock):
            return
        for _ in range(4):
            without = np.flatnonzero(dealt.held < 0)
            if without.size:
                dealt.serve_all(without[np.argsort(-self.tasks.target[without], kind="stable")], standing.clock)
            self._judge(dealt)
            done = standing.done or not patient
            if done or not dealt.serve_all(self.rng.permutation(self.tasks.size), standing.clock):
                break
        self._judge(dealt)

    def _judge(self, dealt: Served) -> None:
        """Offer what is a plan; the sets of the best one are kept for the master."""
        if dealt.is_whole and self.standing.offer(dealt.pairs()):
            self.chosen = dealt.hands.copy(), dealt.held.copy()


@cache
def load() -> None:
    """Run every compiled loop once, on three tasks."""
    instance = AssignmentInstance(
        accuracy=np.array([[0.9, 0.8, 0.7, 0.6]] * 3),
        task_type=np.arange(3),
        capacity=np.array([1, 2, 2, 3]),
        epsilon=np.array(0.3),
        rule="bhattacharyya",
        min_labels=np.array([0, 4, 0]),
    )
    tasks, clock = own_tasks(instance), Clock(600.0)
    sweep = Sweeper(tasks, 1).sweep(Prices(np.zeros(4)), clock)
    assert sweep is not None
    dealt = Served.swept(tasks, sweep)
    dealt.shed(np.random.default_rng(0), clock)
    dealt.serve_all(np.arange(3), clock)
    next(congested(Sweeper(tasks, 1), sweep, clock, np.random.default_rng(0)))
