"""Plans: whole numbers of tasks get their sets, prices follow what is left, and parts of a plan are made anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.engine.cheapest_votes import PricedVotes, priced_votes
from crowdopt.assign.engine.prepared import ANY, Labels, Prepared
from crowdopt.assign.engine.set_master import SetMaster
from crowdopt.assign.engine.set_prices import FEW_ROWS, MOMENT, sweep
from crowdopt.core.clock import Clock

WHOLE = 1e-6  # noise in a number of tasks, and in what a row has left
AT_ONCE = 0.2, 0.5  # of the tasks left, at least so many get their sets at a fixing; where the LP is large
DIVING = 0.7  # of the time, after which what is left is served task by task
REPAIRS, REPAIRED, REPAIR = 8, 0.05, 0.01  # tries, part of the tasks, and of a label's price, the first step
FEW = 0.05  # times the tasks with sets, of those without, at most
FAST = 0.05  # of a dive's time: a large LP that takes longer gets no new sets
FRESH = 2  # rounds of new sets between two fixings
LARGE = 3_000_000  # entries of the LP, about, from which on a dive looks for the cheapest sets only
SOON = 300  # steps of a search for one task
BATCH, BATCHES = 50, 60  # tasks served at the same prices, about; batches at most
IN_TIME = 0.7  # of the time left, for the batches to come
OFFSET = 7  # of the batches of one kind against those of the kind before
LABELS = 5  # of a task, about
SPARE = 3e-3  # of a share: what is aimed at beyond its side
STEP = 1.0  # of a label's price: how far prices move where a row has given twice its part


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
        return self.problem.coupling.use(rows, [one for _, one in sets]).toarray()

    def use_of(self, kind: int, labels: Labels) -> Floats:
        """What one set takes from the rows, (rows,)."""
        coupling, row = self.problem.coupling, self.problem.row_of[kind]
        parts = [np.bincount(labels, minlength=coupling.workers), coupling.weight[:, labels].sum(axis=1)]
        parts.append(coupling.own[:, row, labels].sum(axis=1))
        if coupling.has_budget:
            parts.append(coupling.cost[row, labels].sum(keepdims=True))
        return np.concatenate(parts)

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
        """Tasks without a set, what rows are over or short, and what all costs: the less, the better."""
        lack, spare = np.maximum(self.lack, 0.0), self.problem.coupling.spare
        paid = np.append(np.isfinite(spare), np.zeros(lack.size - spare.size, bool))  # short, but labels make up for it
        off = float(np.maximum(-self.room, 0.0).sum() + lack[~paid].sum())
        more = float(lack[paid] @ spare[paid[: spare.size]])
        return int(self.left.sum()), off if off > WHOLE else 0.0, self.cost + more

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
    soon, large = clock.part(DIVING), master.size > LARGE
    while given.left.any() and not soon.over:
        point = None
        for fresh in range(1 + FRESH):
            before = soon.left
            if given.sets or master.last is None or fresh:
                master.ask(given.left, given.lack, given.room)
                point = master.solve(max(MOMENT, soon.left))
            else:
                point = master.last  # nothing is fixed yet: the climb's last point
            if point is None or soon.over:
                break
            duals = master.duals(point)[1]
            if large and before - soon.left > FAST * before:
                break  # those whom no set of the LP fits are served at its prices
            part = replace(given.problem, count=given.left)
            swept = sweep(part, duals, steps=SOON, left=given.labels_left, until=soon)
            if not sum(master.add(kind, labels) for kind, labels in swept.sets):
                break
        if point is None or not _fix(master, given, master.amounts(point), rng, jitter):
            break
    return repaired(serve(given, duals, clock), duals, rng, clock)


def repaired(given: Given, duals: Floats, rng: np.random.Generator, clock: Clock) -> Given:
    """Other sets for some tasks: room for those without, and prices that pay for rows that are broken.

    given: changed or left behind; -> with a set for every task and no row broken, or the best one that was met.
    """
    coupling = given.problem.coupling
    step, part = REPAIR * float(coupling.cost.mean()), REPAIRED
    for _ in range(REPAIRS):
        broken = ((given.lack > WHOLE).astype(np.float64) - (given.room < -WHOLE)) * ~coupling.spent
        if not (given.left.any() or broken.any()) or given.left.sum() > FEW * len(given.sets) or clock.over:
            break
        duals, step = coupling.valid(duals + step * broken), 2 * step
        again = without_some(given, duals, part, rng)
        _serve_down_to(again, again.left - given.left, duals, clock)  # those without a set come first
        again = serve(again, duals, clock)
        given, part = (again, part) if again.worth < given.worth else (given, min(0.5, 2 * part))
    return given


def _fix(master: SetMaster, given: Given, amount: Floats, rng: np.random.Generator, jitter: float) -> int:
    """Give tasks the sets that the master wants whole, and the most wanted others; how many tasks got one."""
    whole = np.floor(amount + WHOLE).astype(np.int64)
    part = amount - whole + jitter * rng.random(amount.size) * (amount > WHOLE)
    share = AT_ONCE[master.size > LARGE]
    wanted = int(share * given.left.sum()) + 1 - int(whole.sum())
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
    """Every task without a set the cheapest at prices of workers with room, which follow what was handed out.

    Tasks come in batches, kinds side by side, so that none finds all that it could use gone; after each the prices of
    rows that give more than their share so far rise, as in online dual descent.

    given: changed; duals (rows,): the first prices; -> the one that was given.
    """
    wanted = given.left.copy()
    batches = _batches(given)
    pace = _Pace(given, duals)
    turn, began = 0, clock.left
    while turn < batches:
        each = (began - clock.left) / max(1, turn)  # seconds of a batch; larger ones where the clock asks for that
        turn = min(batches, turn + max(1, int(np.ceil(each * (batches - turn) / (IN_TIME * clock.left)))))
        until = wanted - (wanted * turn + OFFSET * np.arange(wanted.size) % batches) // batches  # left after this turn
        _serve_down_to(given, np.maximum(0, until), duals, clock)
        if clock.over:
            return given
        if batches > 1:
            duals = pace.moved(turn / batches)
    _serve_down_to(given, np.zeros_like(wanted), duals, clock)  # those for whom nothing fit the last prices
    return given


def _batches(given: Given) -> int:
    """How many batches tasks come in."""
    tasks = int(given.left.sum())
    if tasks < 2 * BATCH or given.problem.coupling.lower.size <= FEW_ROWS:
        return 1  # many workers of a class: plans of the master come as soon
    return min(tasks // BATCH, BATCHES)


class _Pace:
    """What each row should have given by the time a part of the tasks is served."""

    def __init__(self, given: Given, duals: Floats) -> None:
        coupling, self.given, self.duals = given.problem.coupling, given, duals
        self.first = self.room, self.lack = given.room.copy(), given.lack.copy()
        sides = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in (self.room, self.lack)]
        labels = LABELS * given.left.sum()
        counts = [np.zeros(coupling.workers), labels * np.abs(coupling.weight).mean(axis=1)]
        counts += [labels * np.abs(coupling.own).mean(axis=(1, 2)), np.zeros(int(coupling.has_budget))]
        size = np.maximum(np.maximum(*sides), np.concatenate(counts))
        price = np.full(size.size, float(coupling.cost.mean()))
        if coupling.has_budget:
            price[-1] = 1.0  # a multiplier of money is a part of each price
        self.step = STEP * price / np.maximum(size, 1.0)
        spare = np.where(coupling.spent, 0.0, SPARE * size)  # a share may be missed by the last labels
        self.room, self.lack = self.room - spare, self.lack + spare

    def moved(self, part: float) -> Floats:
        """Multipliers as far from the first ones as a row is behind or ahead of that part of its sides."""
        with np.errstate(invalid="ignore"):  # sides that are not there
            over = self.given.room - self.first[0] + part * self.room  # what is left beyond what should be
            under = self.given.lack - self.first[1] + part * self.lack
        low = np.where(np.isfinite(under), self.duals + self.step * under, -np.inf)
        high = np.where(np.isfinite(over), self.duals + self.step * over, np.inf)
        return self.given.problem.coupling.valid(np.clip(0.0, low, high))


def _serve_down_to(given: Given, until: Ints, duals: Floats, clock: Clock) -> None:
    """Serve tasks until so many of each kind are left, or no more can be, those in need of most first."""
    problem = given.problem
    for number, row in enumerate(problem.rows):
        at: PricedVotes | None = None
        fresh = False  # whether nothing was handed out since the row was priced
        for place in range(row.kinds.size - 1, -1, -1):
            k = int(row.kinds[place])
            while given.left[k] > until[k] and not clock.over:
                if at is None:
                    price = problem.coupling.prices(number, duals)
                    at, fresh = priced_votes(row, price, given.labels_left), True
                found = at.cheapest(place, SOON, 1e-4)[1]
                if any(given.take(k, one, given.use_of(k, one), int(given.left[k] - until[k])) for one in found):
                    fresh = False
                elif fresh:
                    break
                else:
                    at = None  # some of the labels that the table counts with are gone


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
