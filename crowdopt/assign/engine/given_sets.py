"""Plans: whole numbers of tasks get their sets, prices follow what is left, and parts of a plan are made anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.engine.cheapest_sets import PricedRow
from crowdopt.assign.engine.cheapest_votes import PricedVotes
from crowdopt.assign.engine.prepared import ANY, Labels, Prepared
from crowdopt.assign.engine.set_master import SetMaster
from crowdopt.assign.engine.set_prices import MOMENT, priced_row, sweep
from crowdopt.core.clock import Clock

WHOLE = 1e-6  # noise in a number of tasks, and in what a row has left
AT_ONCE = 0.2  # of the tasks left, at least so many get their sets at a fixing
FRESH = 2  # rounds of new sets between two fixings
SOON = 300  # steps of a search for one task


@dataclass(eq=False)
class Given:
    """How many tasks of each kind have which set, and what that leaves."""

    problem: Prepared
    left: Ints  # (kinds,): tasks without a set
    room: Floats  # (rows,): what the upper sides of the coupling rows have left
    lack: Floats  # (rows,): what the lower sides still ask for
    # one for each task that has one
    sets: list[tuple[int, Labels]] = field(default_factory=list)  # list of (int, Labels)

    @classmethod
    def nothing(cls, problem: Prepared) -> Given:
        """No task has a set."""
        coupling = problem.coupling
        return cls(problem, problem.count.copy(), coupling.upper.copy(), coupling.lower.copy())

    @classmethod
    def of(cls, problem: Prepared, sets: list[tuple[int, Labels]]) -> Given:
        """Some sets, whether they fit or not."""
        given = cls.nothing(problem)
        kind = np.array([k for k, _ in sets], np.int64)
        use = given.use(sets).sum(axis=1)
        given.left -= np.bincount(kind, minlength=given.left.size)
        given.room, given.lack, given.sets = given.room - use, given.lack - use, list(sets)
        return given

    def use(self, sets: list[tuple[int, Labels]]) -> Floats:
        """What sets take from the rows, (rows, sets)."""
        rows = self.problem.row_of[np.array([k for k, _ in sets], np.int64)]
        use: Floats = self.problem.coupling.use(rows, [one for _, one in sets]).toarray()
        return use

    def take(self, kind: int, labels: Labels, use: Floats, number: int) -> int:
        """Give up to so many tasks a set, as far as it fits; how many got it."""
        tight = (use > WHOLE) & self.problem.coupling.spent
        fits = np.floor((self.room[tight] + WHOLE) / use[tight]).min(initial=number)
        number = int(min(number, self.left[kind], max(0.0, fits)))
        self.left[kind] -= number
        self.room -= number * use
        self.lack -= number * use
        self.sets += [(kind, labels)] * number
        return number

    @property
    def labels_left(self) -> Ints:
        """Labels that each class of workers has left, (G,)."""
        room = self.room[: self.problem.coupling.workers]
        return np.clip(np.floor(room + WHOLE), 0, ANY).astype(np.int64)

    @property
    def holds(self) -> bool:
        """Whether every task has a set and every row is kept."""
        return not self.left.any() and bool((self.room >= -WHOLE).all() and (self.lack <= WHOLE).all())

    @property
    def only_loads_lack(self) -> bool:
        """Whether every task has a set and all is kept but that workers have too few labels."""
        short = np.flatnonzero(self.lack > WHOLE)
        served = not self.left.any() and bool((self.room >= -WHOLE).all())
        return served and short.size > 0 and bool((short < self.problem.coupling.workers).all())

    @property
    def worth(self) -> tuple[int, float, float]:
        """Tasks without a set, what rows are over or short, and what the sets cost: the less, the better."""
        off = float(np.maximum(-self.room, 0.0).sum() + np.maximum(self.lack, 0.0).sum())
        return int(self.left.sum()), off if off > WHOLE else 0.0, self.cost

    @property
    def cost(self) -> float:
        """Of the sets."""
        coupling, row_of = self.problem.coupling, self.problem.row_of
        return float(sum(coupling.cost[row_of[k], one].sum() for k, one in self.sets))


def dive(
    master: SetMaster, given: Given, duals: Floats, rng: np.random.Generator, clock: Clock, jitter: float
) -> Given:
    """Fix what the master wants whole, or nearly, and ask it again for the rest; at last task by task.

    master: started; its rows are those of ``given`` afterwards; given: what is fixed already; changed; duals (rows,):
    prices for tasks that no set of the master fits; jitter: of the order in which sets are fixed; -> the one that was
    given.
    """
    while given.left.any() and not clock.over:
        point = None
        for _ in range(1 + FRESH):
            master.ask(given.left, given.lack, given.room)
            point = master.solve(max(MOMENT, clock.left))
            if point is None or clock.over:
                break
            duals = master.duals(point)[1]
            part = _left_of(given)
            swept = sweep(part, duals, steps=SOON, left=given.labels_left, until=clock)
            if not sum(master.add(kind, labels) for kind, labels in swept.sets):
                break
        if point is None or not _fix(master, given, master.amounts(point), rng, jitter):
            break
    return serve(given, duals, clock)


def _left_of(given: Given) -> Prepared:
    return replace(given.problem, count=given.left)


def _fix(master: SetMaster, given: Given, amount: Floats, rng: np.random.Generator, jitter: float) -> int:
    """Give tasks the sets that the master wants whole, and the most wanted others; how many tasks got one."""
    whole = np.floor(amount + WHOLE).astype(np.int64)
    part = amount - whole + jitter * rng.random(amount.size) * (amount > WHOLE)
    wanted = int(AT_ONCE * given.left.sum()) + 1 - int(whole.sum())
    nearly = np.argsort(-part, kind="stable")[: max(0, wanted)]
    nearly = nearly[(amount - whole)[nearly] > WHOLE]
    chosen = np.concatenate([np.flatnonzero(whole), nearly])
    if not chosen.size:
        return 0
    number = np.concatenate([whole[whole > 0], np.ones(nearly.size, np.int64)])
    use = given.use([(master.kind[s], master.labels[s]) for s in chosen.tolist()])
    return sum(
        given.take(master.kind[s], master.labels[s], use[:, c], n)
        for c, (s, n) in enumerate(zip(chosen.tolist(), number.tolist(), strict=True))
    )


def serve(given: Given, duals: Floats, clock: Clock) -> Given:
    """Every task without a set the cheapest at these prices of workers with room, one after the other.

    given: changed; duals (rows,); -> the one that was given.
    """
    problem = given.problem
    for number, row in enumerate(problem.rows):
        at: PricedRow | PricedVotes | None = None
        for place in range(row.kinds.size - 1, -1, -1):
            k, fresh = int(row.kinds[place]), False
            while given.left[k] and not clock.over:
                if at is None:
                    at, fresh = priced_row(row, problem.coupling.prices(number, duals), given.labels_left), True
                found = at.cheapest(place, SOON, 1e-4)[1]
                use = given.use([(k, one) for one in found]) if found else np.zeros((0, 0))
                if any(given.take(k, one, use[:, c], int(given.left[k])) for c, one in enumerate(found)):
                    fresh = False
                elif fresh:
                    break
                else:
                    at = None  # some of the labels that the table counts with are gone
    return given


def without_some(given: Given, duals: Floats, part: float, rng: np.random.Generator) -> Given:
    """The plan without the sets of some tasks: those dearest at the prices, more or less.

    duals (rows,); part: of the tasks; -> another one.
    """
    problem = given.problem
    prices = [problem.coupling.prices(row, duals) for row in range(len(problem.rows))]
    kind = np.array([k for k, _ in given.sets], np.int64)
    paid = np.array([prices[problem.row_of[k]][one].sum() for k, one in given.sets])
    least = np.full(problem.count.size, np.inf)
    np.minimum.at(least, kind, paid)
    regret = (paid - least[kind] + 1e-3 * max(1e-9, float(np.abs(paid).sum()) / max(1, paid.size))) * rng.exponential(
        size=paid.size
    )
    out = np.argsort(-regret, kind="stable")[: max(3, int(part * paid.size))]
    kept = np.ones(paid.size, bool)
    kept[out] = False
    return Given.of(problem, [given.sets[s] for s in np.flatnonzero(kept).tolist()])
