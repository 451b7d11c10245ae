"""The exact method where tasks are not alike: a bound by prices, an early plan, better prices, plans from sets met."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.assign.exact.dive import DiveSettings
from crowdopt.assign.individual import bins, nested
from crowdopt.assign.individual.ascent import Ascent
from crowdopt.assign.individual.bins import Bins
from crowdopt.assign.individual.blending import blend
from crowdopt.assign.individual.congestion import congested
from crowdopt.assign.individual.dealing_rows import deal_rows
from crowdopt.assign.individual.loading import load
from crowdopt.assign.individual.mixing import WHOLE, Mixer, Mixture, dealt_of
from crowdopt.assign.individual.nested import Nested
from crowdopt.assign.individual.nested_plans import completed, dealt_sets, whole_shares
from crowdopt.assign.individual.own_tasks import OwnTasks, own_tasks
from crowdopt.assign.individual.resettling import resettle
from crowdopt.assign.individual.rows import averaged, starting_prices
from crowdopt.assign.individual.sampled_prices import sampled_prices, sizes
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sets_met import SetsMet
from crowdopt.assign.individual.sweep import Prices, Sweep, Sweeper
from crowdopt.assign.plan import Duals
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.subset import of_tasks

KINDS, CELLS = 32, 15_000  # kinds of task, and kinds x workers, beyond which each task is taken by itself
SOON = 1_000_000  # pairs from which a first plan comes before the first bound
BLOCKS = 40_000  # the same where kinds have several tasks: up to there blocks are priced (exact.block_stage)
LARGE = 100_000  # pairs from which tasks that are left over are taken by themselves
MARGIN = 2e-7  # relative to the tasks' values; between what is computed here and what is claimed
STARTED, WIDE = 0.02, 0.5  # the first box, in units of the mean price: around prices of an LP, and around nothing
DEALT = 3.0  # labels per task from which amounts are dealt to the tasks of a row
STEPS = (1e-4, 3e-4, 1e-3, 5e-3)  # of the bound: money beyond it that is dealt
PARTS = (1.0, 0.3, 0.1)  # of the prices of the rows' linear program at which first plans are served, neediest first
CLIMBS = (12, 24, 40)  # sweeps, and after each climb a plan from the sets met
MANY_CLIMBS = (3, 8, 24)  # the same where tasks are many, with a plan blended from the sweeps after each
SAMPLING = 0.3  # of the time, for prices from samples
RESETTLED, OFFERED_AFTER = (
    8,
    1,
)  # times that some tasks of a blended plan get other sets: at most, and before it is offered
LATE = 0.4  # of the time left; then a plan that overloads workers is mended by moving single tasks
MIXED_TASKS = 50_000  # tasks up to which a master chooses among the sets met
MET = 3_000_000  # sets x labels kept in all
DEEPENED = 3  # times that more nodes may start another climb
DEEP = 2_400  # nodes for each task at the prices of bins, where whole labels decide
CAREFUL = DiveSettings(repricings=20)  # the second dive
CHOSEN = 12_000  # sets among which branch and bound chooses
PULLS = (0.5, 0.0)  # of the master's prices towards the best ones, where its next sets are priced
SETTLED, OFFERED = 1e-5, 4  # relative: the master's value is the bound; masters from one plan to the next
MIXED = (3_000, 4)  # sets beside the best one of each task among which the master chooses: at least, per worker
MIXES = 12  # masters in a row
FEW, NESTING = 4.0, 0.6  # labels per task up to which whole sets decide, and part of the time left for that
LOOSENED = (0.0, 0.05, 0.1, 0.2)  # of the whole shares of such sets, by chance, from one search to the next
SEARCHED, PART_SEARCHED = 3.0, 0.1  # seconds of branch and bound at a time, or this part of the limit, at most
SMALL, SEARCHED_SOON = 6_000, 0.5  # pairs up to which the full program is searched early, and the share of time for it
LARGEST, EACH = 4_000_000, 6e-5  # pairs up to which the full program is searched; least seconds for it, per pair


def is_individual(instance: AssignmentInstance) -> bool:
    """Whether tasks that need labels are of so many kinds that each is best taken by itself.

    So are the few tasks of a large instance that are not yet done.
    """
    fewest, most = instance.new_label_limits
    open_ = (instance.floor > 0) | (fewest > 0)
    own = np.unique(np.concatenate([instance.barred[:, 0], instance.fixed[:, 0]]))
    special = np.zeros(instance.n_tasks, bool)
    special[own] = True
    alike = open_ & ~special
    columns = [instance.task_type[alike], instance.residual_need[alike], fewest[alike], most[alike].astype(float)]
    kinds = int((open_ & special).sum())
    if kinds <= KINDS or kinds * instance.n_workers <= CELLS:
        kinds += _distinct(columns) if alike.any() else 0
    few = 0 < 2 * open_.sum() < instance.n_tasks and 2 * kinds > open_.sum()
    large = instance.n_tasks * instance.n_workers > LARGE
    cells = CELLS if 4 * kinds > open_.sum() else BLOCKS
    return bool((few and large) or (kinds > KINDS and kinds * instance.n_workers > cells))


def _distinct(columns: list[NDArray[Any]]) -> int:
    """How many different rows the columns make, told apart column by column: six times as fast as whole rows."""
    code = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        if values.size > 1:
            code = np.unique(code * values.size + place, return_inverse=True)[1]
    return int(code.max()) + 1


def solve_individually(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None
) -> Standing:
    """Bound and plan by prices for workers' time and a cheapest set for each task; what is known when time ends.

    Tasks that need nothing are left out. What is compiled is loaded before the time limit begins to run.

    Parameters
    ----------
    instance : AssignmentInstance
        Whose tasks are nearly all different.
    solvers : Solvers
        Who solves linear and integer programs.
    options : Options
        Limits of the whole, and the seed.
    listener : callable, optional
        Is told of progress.

    Returns
    -------
    Standing
    """
    clock = Clock(options.time_limit)
    kept = _busy(instance)
    part = instance if kept.size == instance.n_tasks else of_tasks(instance, kept)
    tasks = own_tasks(part)
    if tasks.size:
        before = clock.spent
        load()
        clock = Clock(options.time_limit, clock.started + clock.spent - before)
    standing = Standing(
        instance=part,
        solvers=solvers,
        options=options,
        clock=clock,
        listener=listener,
        duals=None,
        certified=-np.inf,
        known=Certificate(None, -np.inf, "none", None, None),
    )
    try:
        for stage in Work(standing, tasks).stages():
            if standing.done:
                break
            stage()
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing if part is instance else _of_all(instance, kept, standing)


def _busy(instance: AssignmentInstance) -> Ints:
    """Tasks that need labels, or have fixed ones; all of them where workers have least loads, or none needs any."""
    busy = (instance.floor > 0) | (instance.new_label_limits[0] > 0)
    busy[instance.fixed[:, 0]] = True
    if instance.min_load.any() or not busy.any():
        busy[:] = True
    return np.flatnonzero(busy)


def _of_all(instance: AssignmentInstance, kept: Ints, part: Standing) -> Standing:
    """What is known of some tasks as what is known of all: the others need no label, and their multipliers are 0."""
    duals = part.duals
    if duals is not None:
        task, labels = np.zeros((2, instance.n_tasks))
        task[kept], labels[kept] = duals.task, duals.labels
        duals = replace(duals, task=task, labels=labels)
    best = None if part.best is None else np.column_stack([kept[part.best[:, 0]], part.best[:, 1]])
    return replace(part, instance=instance, duals=duals, best=best)


@dataclass(eq=False)
class Work:
    """The stages and what they share."""

    standing: Standing
    tasks: OwnTasks
    met: SetsMet | None = None
    chosen: tuple[NDArray[Any], Ints] | None = None
    soon: float = np.inf
    is_nested: bool = False

    def __post_init__(self) -> None:
        standing, tasks = self.standing, self.tasks
        self.rng = np.random.default_rng(standing.options.seed)
        self.whole = bool((tasks.arrays.cost == np.rint(tasks.arrays.cost)).all())
        self.mixer = Mixer(standing.solvers.solve, standing.options)

    def stages(self) -> Iterator[Callable[[], None]]:
        """What is tried in turn until the plan is proven."""
        if self.tasks.size == 0:
            yield self.nothing_to_do
            return
        yield self.first_bound
        if self.is_many:
            yield self.congest
            for sweeps in MANY_CLIMBS:
                yield partial(self.climb, sweeps)
                yield self.blend
        deals = self.tasks.is_shared and self.labels_each >= DEALT
        if deals:
            yield partial(self.deal, STEPS[0])
        if nested.pays(self.tasks) and self.labels_each <= FEW:
            yield self.nest
        yield self.first_plan
        if deals:
            yield from (partial(self.deal, step) for step in STEPS[1:] if not self.has_plan)
        if not self.is_nested and bins.pays(self.tasks, np.unique(self.tasks.arrays.row).size):
            for finer in bins.levels(self.tasks):
                yield from self.by_bins(finer)
        for number, sweeps in enumerate(CLIMBS if self.tasks.size <= MIXED_TASKS else ()):
            yield partial(self.climb, sweeps)
            yield self.mix
            if number == 0 and self.standing.pairs <= SMALL:
                yield partial(self.standing.in_full, None, SEARCHED_SOON)
        if deals:
            yield from (partial(self.deal, step, seed) for seed in range(1, 4) for step in (5e-5, 1e-4, 2e-4))
        yield self.finish

    def nothing_to_do(self) -> None:
        """Every task has what it needs, or gets it from fixed labels."""
        instance = self.standing.instance
        zeros = np.zeros(instance.n_tasks)
        self.standing.raise_bound(
            self.tasks.constant, Duals(zeros, np.zeros(instance.n_workers), zeros.copy(), form="blocks")
        )
        self.standing.offer(self.tasks.pairs(np.zeros((0, 0), np.int64), np.zeros(0, np.int64)))

    def first_bound(self) -> None:
        """Prices to begin with, and what they prove."""
        standing, tasks = self.standing, self.tasks
        standing.tell("pricing each task by itself")
        self.sweeper = Sweeper(tasks, standing.options.threads)
        options, solve = standing.clock.within(standing.options, None), standing.solvers.solve
        start = starting_prices(tasks, solve, options)
        unit = float(tasks.arrays.cost.mean()) or 1.0
        nothing = Prices(np.zeros(tasks.room.size))
        self.prices = nothing if start is None else start
        self.ascent = Ascent(self.sweeper, solve, standing.options, standing.clock, unit * WIDE)
        self.met = SetsMet.none(tasks, self.sweeper.width, self.sweeper.type)
        if start is not None and tasks.size * tasks.room.size > SOON:
            self.plan_soon(start)
        sampled = (
            sampled_prices(tasks, solve, standing.options, standing.clock.part(SAMPLING), self.rng)
            if self.is_many
            else None
        )
        if sampled is not None:
            self.prices, self.ascent.radius, self.ascent.nodes = sampled.prices, sampled.radius, sampled.nodes
            sweep = self.ascent.visit(sampled.prices)
            if sweep is not None:
                self._hear(sweep)
            return
        for prices in [nothing] if start is None else [start, nothing]:
            sweep = self.ascent.deepen(prices)
            if sweep is None or self._hear(sweep):
                return
            self._keep(sweep)
        if start is not None and self.ascent.best is not None and self.ascent.best.prices is start:
            self.ascent.radius = unit * STARTED

    def plan_soon(self, prices: Prices) -> None:
        """Any plan, before pricing takes its time: neediest first, each its cheapest set of workers with room.

        Better ones follow as if it were not there; it is what remains where time ends early.
        """
        dealt = self._nobody(prices)
        dealt.serve_all(np.argsort(-self.tasks.target, kind="stable"), self.standing.clock)
        if dealt.is_whole and self.standing.offer(dealt.pairs()):
            self.soon = self.standing.value

    @property
    def has_plan(self) -> bool:
        """Whether there is a better plan than the one found soon."""
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

    def _hear(self, sweep: Sweep) -> bool:
        """Claim what the sweep proves; whether there is nothing more to prove."""
        standing, tasks = self.standing, self.tasks
        if not np.isfinite(sweep.bound) or sweep.bound > self._ceiling() + 1.0:
            standing.known = Certificate(None, np.inf, "certificate", None, None)
            return True
        bound = sweep.bound - MARGIN * float(np.abs(sweep.value).sum() + abs(tasks.constant))
        bound = next_integer(bound) if self.whole else bound
        if bound > standing.bound:
            standing.raise_bound(bound, self._duals(sweep))
        return standing.closed

    def _ceiling(self) -> float:
        """What no plan costs more than: everybody works all they may, at the highest price."""
        tasks, arrays = self.tasks, self.tasks.arrays
        most = float(arrays.cost.max(axis=0) @ np.minimum(tasks.room, tasks.size)) + tasks.constant
        return most if self.standing.instance.budget is None else min(most, self.standing.instance.budget)

    def _duals(self, sweep: Sweep) -> Duals:
        task, labels = np.zeros((2, self.standing.instance.n_tasks))
        task[self.tasks.task], labels[self.tasks.task] = sweep.rate, sweep.limit
        return Duals(task, sweep.prices.worker, labels, sweep.prices.budget, form="blocks")

    def _keep(self, sweep: Sweep) -> None:
        """Remember the sweep's sets, as long as there is room."""
        if self.met is not None and self.met.workers.size < MET and self.tasks.size <= MIXED_TASKS:
            self.met.add(sweep.hands, sweep.held)

    def deal(self, step: float, seed: int = 0) -> None:
        """A plan from amounts that cost a little more than the bound."""
        standing, best = self.standing, self.ascent.best
        if best is None:
            return
        options = replace(standing.clock.within(standing.options, None), seed=standing.options.seed + seed)
        bound = max(best.bound, standing.bound if np.isfinite(standing.bound) else best.bound)
        money = np.ceil((1 + step) * bound) if self.whole else (1 + step) * bound
        rows = averaged(self.tasks)
        solve = standing.solvers.solve
        dealt = deal_rows(
            self.tasks,
            rows,
            money - self.tasks.constant,
            self.prices,
            solve,
            options,
            self.sweeper.width,
            standing.clock,
        )
        if dealt is not None:
            self._offer(dealt)

    def congest(self) -> None:
        """Plans in which workers' prices follow their loads; where those settle is also where the bound is high."""
        standing, best = self.standing, self.ascent.best
        if best is None or standing.done:
            return
        for dealt in congested(self.sweeper, best, standing.clock, self.rng):
            self._offer(dealt, patient=False)
            sweep = None if standing.done else self.ascent.visit(dealt.prices)
            if sweep is None or self._hear(sweep):
                return

    def blend(self) -> None:
        """A plan from the shares of the sweeps in which they fit the workers best."""
        standing = self.standing
        dealt = blend(self.ascent, standing.clock)
        for number in range(RESETTLED):
            if dealt is None or standing.done:
                return
            resettle(dealt, self.ascent, self.mixer, standing.clock, self.rng)
            late = standing.clock.left < LATE * standing.options.time_limit
            if number >= OFFERED_AFTER and (dealt.left.min() >= 0 or late or number == RESETTLED - 1):
                self._offer(dealt, patient=False)
                return

    def first_plan(self) -> None:
        """A plan soon: every task's cheapest set at the best prices, then those moved whose workers have too many."""
        best = self.ascent.best
        if best is None:
            return
        if not self.has_plan:
            self._offer(Served.swept(self.tasks, best))
        if self.tasks.is_shared:
            for part in PARTS:
                if not self.standing.done:
                    self._offer(self._nobody(Prices(part * self.prices.worker, part * self.prices.budget)))
        if not self.has_plan:
            self._offer(self._nobody(best.prices))

    def _nobody(self, prices: Prices) -> Served:
        """Nobody has anything yet."""
        return Served.none(self.tasks, prices, self.sweeper.width, self.sweeper.type)

    def _offer(self, dealt: Served, patient: bool = True) -> None:
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

    def nest(self) -> None:
        """Prices and plans from sets that serve every task of a row that needs no more."""
        standing, best = self.standing, self.ascent.best
        if best is None:
            return

        def visit(prices: Prices, nodes: int) -> Sweep | None:
            sweep = self.ascent.visit(prices, nodes)
            if sweep is None or self._hear(sweep):
                return None
            self.ascent.nodes = max(self.ascent.nodes, nodes)
            self._keep(sweep)
            return sweep

        sets, soon = Nested(self.tasks, self.sweeper, standing.solvers.make_master), self._nobody(best.prices)
        soon.serve_all(sets.levels.order[::-1], standing.clock)
        for known in (best, soon):
            sets.add(self.tasks, known.hands, known.held)
        self.is_nested = sets.grow(best.prices, visit, standing.clock.part(NESTING))
        whole = whole_shares(sets)
        for part in LOOSENED if sets.point is not None else ():
            if standing.done:
                return
            options = replace(standing.options, time_limit=min(SEARCHED, standing.clock.left / 4))
            counts = completed(sets, whole - self.rng.binomial(whole, part), standing.solvers.solve, options)
            if counts is not None:
                self._offer(dealt_sets(sets, counts, best.prices))

    def by_bins(self, finer: int) -> Iterator[Callable[[], None]]:
        """Prices and plans of tasks taken as alike by their greatest needs."""
        standing = self.standing
        blocks = Bins(self.tasks, self.prices, standing.solvers.make_master, finer)

        def price() -> None:
            self.prices = blocks.prices(standing.clock)
            self.ascent.nodes = max(self.ascent.nodes, DEEP)
            sweep = self.ascent.deepen(self.prices)
            if sweep is not None:
                self._hear(sweep)
                self._keep(sweep)
                if self.ascent.best is not None and self.ascent.best.prices is self.prices:
                    self.ascent.radius = STARTED * (float(self.tasks.arrays.cost.mean()) or 1.0)

        def dive(settings: DiveSettings) -> None:
            if blocks.blocks.point is not None:
                self._offer(blocks.dive(settings, self.rng, standing.clock, self.sweeper.width, self.prices))

        yield price
        yield partial(dive, DiveSettings())
        yield partial(dive, CAREFUL)

    def climb(self, sweeps: int) -> None:
        """Better prices; the sets met on the way are kept."""

        def hear(sweep: Sweep) -> bool:
            self._keep(sweep)
            return self._hear(sweep) or (hurries and self.ascent.clock.left < 0.5 * self.standing.options.time_limit)

        deals = self.tasks.is_shared and self.labels_each >= DEALT
        hurries = deals or (self.is_many and not self.has_plan)
        for _ in range(DEEPENED):
            self.ascent.climb(sweeps, hear)
            before, best = self.ascent.nodes, self.ascent.best
            if best is None or self.standing.done:
                return
            deeper = None if self.is_many else self.ascent.deepen(best.prices)
            if deeper is None or self._hear(deeper) or self.ascent.nodes == before:
                return
            self._keep(deeper)

    def mix(self) -> None:
        """Plans from mixtures of the sets met; the master's prices bring further sets, until its value is the bound."""
        standing = self.standing
        for number in range(MIXES):
            mixture = self._mixture()
            if mixture is None or standing.done:
                return
            near = mixture.value <= standing.bound + SETTLED * abs(standing.bound)
            settled = near or not self._met_more(mixture)
            if number % OFFERED == 0 or settled or number == MIXES - 1:
                self._offer(dealt_of(mixture.sets, mixture.share, mixture.prices, self.sweeper.width))
                self._choose(mixture.sets, mixture.prices)
            if settled:
                return

    def _mixture(self) -> Mixture | None:
        """The best mixture of the nearest sets and of the best plan's."""
        best = self.ascent.best
        if best is None or self.met is None or self.standing.done:
            return None
        self.met.add(best.hands, best.held)
        near = self.met.nearest(best.prices, self.tasks.size + MIXED[0] + MIXED[1] * self.tasks.room.size)
        if self.chosen is not None and self.tasks.size <= CHOSEN:
            near.add(*self.chosen)
        return self.mixer.mix(near, self.standing.clock)

    def _met_more(self, mixture: Mixture) -> bool:
        """Whether pricing at the master's prices, pulled towards the best ones first, brings sets that are new."""
        if self.met is None or self.ascent.best is None:
            return False
        before = self.met.task.size
        for pull in PULLS:
            sweep = self.ascent.visit(mixture.prices.towards(self.ascent.best.prices, pull))
            if sweep is None:
                return False
            self._hear(sweep)
            self.met.add(sweep.hands, sweep.held)
            if self.met.task.size > before:
                return True
        return False

    def _choose(self, sets: SetsMet, prices: Prices) -> None:
        """One of the nearest sets for each task by branch and bound, where they are few enough."""
        standing = self.standing
        if standing.done:
            return
        near = sets.nearest(prices, CHOSEN)
        many = np.bincount(near.task, minlength=self.tasks.size)
        if int(many[many > 1].sum()) > 2 * CHOSEN:
            return
        seconds = max(SEARCHED, PART_SEARCHED * standing.options.time_limit)
        share = self.mixer.choose(near, min(seconds, standing.clock.left / 2))
        if share is not None and share.max(initial=0.0) > WHOLE:
            self._offer(dealt_of(near, share, prices, self.sweeper.width))

    def finish(self) -> None:
        """Search the full program with the time that is left, where it is small enough to be built."""
        standing = self.standing
        if standing.pairs <= LARGEST and standing.clock.left > 1.0 + EACH * standing.pairs:
            standing.in_full(None)
