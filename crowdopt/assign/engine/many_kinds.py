"""Plans for tasks of which each has skills of its own: prices from a sample, compiled sweeps over all tasks."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, sealed
from crowdopt.assign.engine.prepared import Coupling, Labels, Overlaps, Prepared
from crowdopt.assign.engine.set_master import SetMaster
from crowdopt.assign.engine.set_prices import ROUGH, Climb, Swept
from crowdopt.assign.engine.vote_law import ANSWERS
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.vote_errors import CERTAIN, errors_of, fewest_exact

if TYPE_CHECKING:
    from crowdopt.assign.engine.kind_kernels import Hands, LabelPrices, ManyTasks

CLASSES = 25  # at most: sets of three labels can then be followed
SAMPLE = 1_000  # tasks that prices are found for first
PILOT, LEAST_SAMPLE, LOOKS = (
    50,
    300,
    100,
)  # tasks that tell how long one takes; fewest of a sample; times it is looked at
CHUNK, IN_TURN = 2_000, 100  # tasks between two looks at the clock: in threads, and where they trade
QUICK = 3_000  # answers that a search for one task looks at
EACH = 10  # answers that are looked at in a step of the search for a sample's task
ENOUGH = 10  # tasks of a sample for each worker; fewer say too little of them
REACH = -1.5, 3.0  # of a step's logarithm: what is asked of a worker over what there is
BATCH, BATCH_STEPS, FRESH = 500, 300, 0.3  # tasks looked at together; how often; what the last batch counts
WIDE = 0.5  # of the time: for those steps
LAST, HALF = 0.01, 0.7  # of the first step, the last one's size; the part after which multipliers count in the mean
SEARCH, FIRST, STEPS = 0.35, 0.15, 40  # of the time: for prices of the sample; steps of its first prices
REFINED = 0.25  # of the time left: for prices of all tasks
BOX = 3.0  # times the dearest label: how far prices of the sample may go at first
WHOLE, WHOLE_COLUMNS = 0.5, 3_000_000  # of the time left: for the best choice of the sets known
LESS = 1.0, 0.5, 0.1, 0.01  # times the multipliers: prices at which plans are made anew
DITHER = 0.02  # of a label's price: what tells sets of one cost apart
DEAR = 3.0  # times the dearest label: what one of a worker without room costs while tasks trade
LONG = 2_000  # tasks with longer sets than are followed, at most
IDLE = 12  # turns without a better plan after which it is left to others
PATIENCE = 0.6  # of the time left: when others are let try where there is no plan
MARGIN = 2e-7  # relative; what may be found less when a bound is recomputed


def accepts(instance: AssignmentInstance) -> bool:
    """Whether the exact errors of single tasks and capacities are all there is."""
    plain = not instance.groups and instance.own_rows is None and not instance.difficulty.share
    if instance.rule != "exact-error" or not plain or instance.min_load.any() or instance.classes > CLASSES:
        return False
    if instance.new_label_limits[0].any() and (instance.evidence <= 0).any():
        return False  # labels that tell nothing count too, but are in no set that is looked for
    mostly_wrong = instance.classes > 2 and bool((instance.accuracy * instance.classes < 1).any())
    return not mostly_wrong and bool((instance.demand <= 1).all())


def many_tasks(instance: AssignmentInstance) -> ManyTasks:
    """What compiled loops read of the instance."""
    from crowdopt.assign.engine.kind_kernels import ManyTasks

    n, fixed = instance.n_tasks, instance.fixed
    held = np.zeros((0, 2), np.int64) if instance.observed else instance.collected
    fewest, most = instance.new_label_limits
    begun = np.bincount(fixed[:, 0], minlength=n)
    prior = np.atleast_2d(instance.prior)
    cost = instance.cost if instance.cost.strides[0] else instance.cost[:1]
    return ManyTasks(
        sealed(instance.task_type),
        sealed(instance.accuracy),
        instance.evidence,
        sealed(cost),
        -np.sort(-prior, axis=1),
        instance.epsilon + CERTAIN,
        instance.need,
        np.maximum(0, fewest - begun),
        most - begun,
        *_by_task(np.concatenate([fixed, held]), n),
        *_by_task(np.concatenate([fixed, instance.barred]), n),
    )


def _by_task(pairs: Ints, n: int) -> tuple[Ints, Ints]:
    """Where the workers of each task begin, and the workers."""
    order = np.argsort(pairs[:, 0], kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=n))]).astype(np.int64)
    return start, np.ascontiguousarray(pairs[order, 1])


def prices_at(duals: Floats, dither: float = 0.0) -> LabelPrices:
    """LabelPrices of labels at multipliers."""
    from crowdopt.assign.engine.kind_kernels import LabelPrices

    return LabelPrices(duals, dither)


class Tilt(NamedTuple):
    """Steps of prices."""

    number: int
    first: float  # of a label's price
    cooled: float  # times the one before


ON_SAMPLE, ON_ALL = Tilt(60, 0.03, 0.95), Tilt(8, 0.005, 0.8)


@dataclass(eq=False)
class TaskSweep:
    """All tasks, the best sets known for them, and a lower bound on the cheapest of each at some prices."""

    instance: AssignmentInstance
    tasks: ManyTasks = field(init=False)
    room: Ints = field(init=False)  # (workers,): beside fixed pairs
    hands: Hands = field(init=False)
    least: Floats = field(init=False)  # (tasks,)

    def __post_init__(self) -> None:
        from crowdopt.assign.engine.kind_kernels import Hands

        instance, n = self.instance, self.instance.n_tasks
        load = np.bincount(instance.fixed[:, 1], minlength=instance.n_workers)
        self.tasks, self.room = many_tasks(instance), np.minimum(instance.capacity, n) - load
        sets = np.zeros((n, self.deepest + 1), np.int32)
        self.hands = Hands(sets, np.full(n, -1), np.zeros(n, bool), np.zeros(n, np.int64), self.room.copy())
        self.least = np.zeros(n)

    @property
    def deepest(self) -> int:
        """Labels of a set that is followed, at most."""
        return int(math.log(ANSWERS) / math.log(self.instance.classes) + 1e-9)

    def laws(self) -> Floats:
        """Room for the laws of one search."""
        classes, deepest = int(self.instance.classes), self.deepest
        return np.empty((deepest + 1, 1, classes, classes**deepest))

    @property
    def beside(self) -> Overlaps:
        """Of no groups."""
        return Overlaps.none(self.room.size)

    def look(self, some: Ints, prices: LabelPrices, work: int, clock: Clock) -> None:
        """The cheapest sets of tasks at these prices, in threads; a bound of 0 for tasks that the clock leaves out."""
        from crowdopt.assign.engine.kind_kernels import sweep_tasks

        self.least[some] = 0.0
        closed: Bools = self.room <= 0
        parts = np.array_split(some, max(1, -(-some.size // CHUNK), min(2, some.size)))

        def of_part(part: Ints) -> None:
            if not clock.over:
                sweep_tasks(self.tasks, part, prices, closed, self.beside, work, self.laws(), self.hands, self.least)

        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(of_part, parts):
                pass

    def use(self, some: Ints) -> Ints:
        """Labels of each worker in the sets of some tasks, (workers,)."""
        return np.bincount(self.labels(some), minlength=self.room.size)

    def labels(self, some: Ints) -> Ints:
        """Workers in the sets of some tasks, one after another."""
        there = np.arange(self.hands.sets.shape[1]) < self.hands.sizes[some, None]
        return self.hands.sets[some][there].astype(np.int64)

    def pairs(self, others: Ints) -> Ints:
        """Task and worker of each label, those of other pairs too, (k, 2)."""
        tasks = np.arange(self.instance.n_tasks)
        new = np.column_stack([np.repeat(tasks, np.maximum(0, self.hands.sizes)), self.labels(tasks)])
        every = np.concatenate([others, new])
        return every[np.lexsort((every[:, 1], every[:, 0]))]


@dataclass(eq=False)
class SampleClimb(Climb):
    """Column generation over a sample, each of its tasks a kind by itself."""

    sweep: TaskSweep = field(kw_only=True)
    some: Ints = field(kw_only=True)

    def take(self, duals: Floats, clock: Clock) -> None:
        """Keep the sets that are cheapest at these multipliers."""
        self._take(self._swept(duals, until=clock), duals)

    def _swept(self, duals: Floats, steps: int = ROUGH, until: Clock | None = None) -> Swept:
        sweep, clock = self.sweep, until or Clock(60.0)
        sweep.look(self.some, prices_at(duals), EACH * steps, clock)
        least, sizes = sweep.least[self.some], sweep.hands.sizes[self.some]
        found = sweep.hands.sets[self.some]
        sets: list[tuple[int, Labels]] = [
            (k, np.sort(found[k, :size]).astype(np.int64)) for k, size in enumerate(sizes.tolist()) if size >= 0
        ]
        return Swept(self.problem.coupling.pull(duals) + float(least.sum()), least, sets)


@dataclass(eq=False)
class ManyKinds:
    """An instance on its way to a plan."""

    sweep: TaskSweep
    standing: Standing  # is offered plans and bounds
    duals: Floats = field(init=False)  # (workers,): the best multipliers
    open: Ints = field(init=False)  # tasks whose sets are short enough to be followed
    settled: Ints = field(init=False)  # (k, 2): task and worker of the others' labels
    bound: float = -np.inf  # what they prove, margins aside

    def __post_init__(self) -> None:
        self.every = np.arange(self.sweep.instance.n_tasks)
        self.duals, self.open, self.settled = np.zeros(self.sweep.room.size), self.every, self.sweep.instance.fixed
        instance = self.sweep.instance
        self.fixed_cost = float(instance.prices(instance.fixed).sum())
        self.rng = np.random.default_rng(self.standing.options.seed)

    def run(self) -> None:
        """LabelPrices from a sample, a bound and a plan from all tasks; then both are improved while there is time."""
        standing, clock = self.standing, self.standing.clock
        n = self.every.size
        some = self._sample()
        if some.size < min(n, ENOUGH * self.duals.size):
            duals, climb, some = self._felt(clock.part(WIDE)), None, self.every
        else:
            duals, climb = self._sampled(some, clock.part(SEARCH))
        self._bounded(duals, QUICK)
        if standing.bound == np.inf:
            return
        if some.size < n:
            duals = self._tilted(duals, some, ON_SAMPLE, clock.part(REFINED))
        duals = self._tilted(duals, self.every, ON_SAMPLE if n <= SAMPLE else ON_ALL, clock.part(REFINED))
        soon = clock.part(PATIENCE)
        if not self._settle_long(clock):
            return
        self._deal(duals)
        if climb is not None and some.size == n == self.open.size:
            self._choose(climb)
        self._renew(soon)

    def _sample(self) -> Ints:
        """As many tasks as can be looked at often enough; all where they are few."""
        n, clock = self.every.size, self.standing.clock
        if n <= SAMPLE:
            return self.every
        pilot = self.rng.choice(n, PILOT, replace=False)
        before = clock.left
        self.sweep.look(pilot, prices_at(self.duals), QUICK, clock)
        each = max(1e-6, before - clock.left) / PILOT
        size = int(np.clip(SEARCH * clock.left / (LOOKS * each), LEAST_SAMPLE, SAMPLE))
        return np.sort(self.rng.choice(n, size, replace=False))

    def _felt(self, clock: Clock) -> Floats:
        """Multipliers after steps against what batches of tasks ask, one batch after another: a mean of the later ones.

        For crowds so large that a sample which a master takes says too little of each worker.
        """
        n, cost = self.every.size, float(self.sweep.tasks.cost.mean())
        room, order = self.sweep.room.astype(np.float64), self.rng.permutation(self.every)
        duals, used, total, weight = self.duals, room, np.zeros(room.size), 0.0
        batches = np.array_split(order, max(1, n // BATCH))
        for step in range(BATCH_STEPS):
            some = batches[step % len(batches)]
            self.sweep.look(some, prices_at(duals, DITHER * cost), QUICK, clock)
            if clock.over:
                break
            asked = self.sweep.use(some).astype(np.float64) * (n / some.size)
            used = asked if step == 0 else (1 - FRESH) * used + FRESH * asked
            part = max(1 - clock.left / clock.limit, step / BATCH_STEPS)
            duals = _moved(duals, FIRST * cost * LAST**part, used, room)
            if part > HALF:
                total, weight = total + duals, weight + 1
        return total / weight if weight else duals

    def _sampled(self, some: Ints, clock: Clock) -> tuple[Floats, SampleClimb | None]:
        """Multipliers of the capacities of which a sample has its part."""
        room = self.sweep.room.astype(np.float64) * (some.size / self.every.size)
        cost = float(self.sweep.tasks.cost.mean())
        duals = np.zeros(room.size)
        self.sweep.look(some, prices_at(duals), QUICK, clock)
        if (self.sweep.use(some) <= room).all():
            return duals, None
        sub = of_tasks(self.sweep.instance, some)
        ones, numbers = np.ones(some.size, np.int64), np.arange(some.size)
        coupling = Coupling(
            np.zeros((0, room.size)),
            np.zeros((0, some.size, room.size)),
            sub.cost[sub.task_type],
            False,
            np.full(room.size, -np.inf),
            room,
            np.full(room.size, np.inf),
        )
        problem = Prepared(classes_of(sub), [], numbers, ones, numbers, coupling)
        master = SetMaster(problem, self.standing.solvers.make_master)
        climb = SampleClimb(problem, master, duals, sweep=self.sweep, some=some)
        climb.take(duals, clock)
        if not master.has_sets:
            return duals, None
        # begun with few sets, and others added later: the primal simplex is quicker here than the dual one
        master.start(np.full(room.size, BOX * float(sub.cost.max())))
        master.solve(clock.left)
        for step in range(STEPS):
            if clock.over:
                break
            duals = _moved(duals, FIRST * cost / (1 + step / 8), self.sweep.use(some), room)
            climb.take(duals, clock)
        climb.run(clock)
        if climb.paid and not clock.over:
            master.start(None)
            climb.run(clock)
        return climb.duals, climb

    def _bounded(self, duals: Floats, work: int) -> None:
        """Look at all tasks at these multipliers, and keep what they prove."""
        sweep, standing = self.sweep, self.standing
        sweep.look(self.every, prices_at(duals), work, standing.clock)
        bound = float(sweep.least.sum() + sweep.room @ duals) + self.fixed_cost
        if bound > self.bound:
            self.bound, self.duals = bound, duals
        proven = bound - MARGIN * max(1.0, abs(bound)) if np.isfinite(bound) else bound
        if (sweep.tasks.cost == np.rint(sweep.tasks.cost)).all():
            proven = next_integer(proven)
        nothing = np.zeros(self.every.size)
        standing.raise_bound(proven, Duals(nothing, duals, nothing, form="sets"))

    def _tilted(self, duals: Floats, some: Ints, steps: Tilt, clock: Clock) -> Floats:
        """Multipliers near those given at which the cheapest sets of some tasks ask least of workers without room.

        Sets that cost about the same are told apart by lot: so small changes of prices move few tasks. The tasks have
        their sets at the multipliers returned afterwards.
        """
        hands, cost = self.sweep.hands, float(self.sweep.tasks.cost.mean())
        room = self.sweep.room.astype(np.float64) * (some.size / self.every.size)
        best, least_over, step = duals, np.inf, steps.first * cost
        kept = hands.sets[some], hands.sizes[some]
        for _ in range(steps.number):
            self.sweep.look(some, prices_at(duals, DITHER * cost), QUICK, clock)
            if clock.over:
                break
            used = self.sweep.use(some)
            over = float(np.maximum(0.0, used - room).sum())
            if over < least_over:
                best, least_over, kept = duals, over, (hands.sets[some], hands.sizes[some])
            if over < 1.0 or self.standing.done:
                break
            duals = _moved(duals, step, used, room)
            step *= steps.cooled
        hands.sets[some], hands.sizes[some] = kept
        return best

    def _settle_long(self, clock: Clock) -> bool:
        """Give tasks that need longer sets than are followed their best workers with room; whether all have some."""
        sweep, hands = self.sweep, self.sweep.hands
        long = np.flatnonzero((hands.sizes < 0) & np.isfinite(sweep.least))
        if not long.size or long.size > LONG:
            return not long.size
        part = of_tasks(sweep.instance, long)
        fewest = fewest_exact(part)
        sweep.tasks.fewest[long] = np.maximum(
            sweep.tasks.fewest[long], fewest - np.bincount(part.fixed[:, 0], minlength=long.size)
        )
        self._bounded(self.duals, QUICK)
        for k, task in enumerate(long.tolist()):
            labels = self._best_of(part, k, int(sweep.tasks.fewest[task])) if not clock.over else None
            if labels is None:
                continue
            hands.room[labels] -= 1
            hands.held[task], hands.sizes[task] = True, 0
            new = np.column_stack([np.full(labels.size, task), labels])
            self.settled = np.concatenate([self.settled, new])
        self.open = np.setdiff1d(self.every, long)
        return bool(hands.held[long].all())

    def _best_of(self, part: AssignmentInstance, task: int, fewest: int) -> Ints | None:
        """The best workers with room for a task, as many as it needs."""
        known = part.fixed[part.fixed[:, 0] == task, 1]
        held = part.collected[part.collected[:, 0] == task, 1][: None if not part.observed else 0]
        worth = np.where(self.sweep.hands.room > 0, part.evidence[part.task_type[task]], 0.0)
        worth[np.concatenate([known, part.barred[part.barred[:, 0] == task, 1]])] = 0.0
        best = np.argsort(-worth, kind="stable")[: int((worth > 0).sum())]
        for size in range(fewest, best.size + 1):
            hand = np.concatenate([held, known, best[:size]])
            if errors_of(part, np.array([task]), [hand])[0] <= part.epsilon[task] + CERTAIN:
                return best[:size]
        return None

    def _in_parts(self, loop: Callable[..., None], some: Ints, duals: Floats, *given: Any) -> None:
        """A compiled loop over some tasks in turn, with looks at the clock."""
        sweep, laws = self.sweep, self.sweep.laws()
        for part in np.array_split(some, -(-some.size // IN_TURN)) if some.size else []:
            if self.standing.clock.over:
                return
            loop(sweep.tasks, part, prices_at(duals), *given, sweep.beside, QUICK, laws, sweep.hands)

    def _deal(self, duals: Floats) -> None:
        """A plan at some prices, those first whose sets are dear."""
        from crowdopt.assign.engine import kind_kernels as kernels

        sweep = self.sweep
        order = self.open[np.argsort(-sweep.least[self.open], kind="stable")]
        kernels.keep_tasks(order, sweep.hands)
        for dear in (self._dear / DEAR, self._dear):
            self._in_parts(kernels.trade_tasks, np.flatnonzero(~sweep.hands.held), duals, dear)
            self._in_parts(kernels.serve_tasks, np.flatnonzero(~sweep.hands.held), duals)
        self._offer()

    @property
    def _dear(self) -> float:
        """More than any set should cost for want of room."""
        return DEAR * float(self.sweep.tasks.cost.max() - self.duals.min())

    def _offer(self) -> None:
        if self.sweep.hands.held.all():
            self.standing.offer(self.sweep.pairs(self.settled))

    def _choose(self, climb: SampleClimb) -> None:
        """The best choice of the sets known, where the sample is all tasks."""
        standing, master = self.standing, climb.master
        if master.size > WHOLE_COLUMNS or standing.done:
            return
        options = replace(standing.options, time_limit=standing.clock.part(WHOLE).left, gap=0.0)
        chosen = master.in_whole(standing.solvers, options)
        if len(chosen) < self.every.size:
            return
        hands = self.sweep.hands
        hands.held[:] = True
        for k, labels in chosen:
            hands.sizes[k] = labels.size
            hands.sets[k, : labels.size] = labels
        hands.room[:] = self.sweep.room - self.sweep.use(self.every)
        self._offer()

    def _renew(self, soon: Clock) -> None:
        """Tasks anew at prices between the best ones and none, in any order, while there is time and a gap."""
        from crowdopt.assign.engine import kind_kernels as kernels

        standing = self.standing
        last = 0  # turn with a better plan
        for turn in count():
            if standing.done or turn - last > IDLE or (standing.best is None and soon.over):
                return
            value = standing.value
            duals = self.duals * LESS[turn % len(LESS)]
            some = self.rng.permutation(self.open)
            self._in_parts(kernels.serve_tasks, some, duals)
            self._in_parts(kernels.trade_tasks, some, duals, self._dear / DEAR)
            self._offer()
            last = turn if standing.value < value else last


def _moved(duals: Floats, step: float, used: Floats | Ints, room: Floats) -> Floats:
    """Multipliers a step further down where more is asked of a worker than there is, and up where less is."""
    return np.minimum(0.0, duals - step * np.clip(np.log((1 + used) / (1 + room)), *REACH))


def solve_many_kinds(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan:
    """The plan of an instance of which this module :func:`accepts` the limits."""
    clock, known = Clock(options.time_limit), Certificate(None, 0.0, "certificate", None, None)
    nothing = np.zeros(instance.n_tasks)
    standing = Standing(
        instance=instance,
        solvers=solvers,
        options=options,
        clock=clock,
        listener=listener,
        duals=Duals(nothing, np.zeros(instance.n_workers), nothing, form="sets"),
        certified=0.0,
        known=known,
    )
    try:
        ManyKinds(TaskSweep(instance), standing).run()
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing.plan()
