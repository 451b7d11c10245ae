"""The master over sets of labels: it grows by columns, and says what labels are worth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.engine.prepared import Labels, Prepared
from crowdopt.assign.standing import Solvers
from crowdopt.core.master import MakeMaster, Master, MasterPoint
from crowdopt.core.program import Program
from crowdopt.core.solution import Options
from crowdopt.programs import set_choice

NOISE = 1e-7  # in an amount of a row
DEAR = 10.0  # times the dearest set: what a task without one costs the master


@dataclass(frozen=True, eq=False)
class KnownBest:
    """The cheapest set of each kind among those known, at some prices."""

    worth: Floats  # (kinds,): what it costs; infinite where there is none
    which: Ints  # (kinds,): its number
    labels: list[Labels]  # of all sets

    def of(self, kind: int) -> tuple[float, Labels | None]:
        """What the kind's set costs, and the set."""
        worth = float(self.worth[kind])
        return worth, self.labels[self.which[kind]] if worth < np.inf else None


@dataclass(eq=False)
class SetMaster:
    """All sets known, and an LP over them."""

    problem: Prepared
    make_master: MakeMaster
    kind: list[int] = field(default_factory=list)  # of each set
    labels: list[Labels] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    seen: set[tuple[int, bytes]] = field(default_factory=set)
    lp: Master | None = None
    behind: int = 0
    whole: bool = True  # whether the LP is of all tasks, none of which has its set yet
    last: MasterPoint | None = None  # of all tasks
    dear: float = 1.0
    # of each row: whether what is short costs what labels do that serve no need
    is_price: Bools = field(default_factory=lambda: np.zeros(0, bool))  # (rows,)

    def add(self, kind: int, labels: Labels) -> bool:
        """Keep a set; whether it is new."""
        key = kind, labels.tobytes()
        if key in self.seen:
            return False
        self.seen.add(key)
        self.kind.append(kind)
        self.labels.append(labels)
        self.cost.append(float(self.problem.coupling.cost[self.problem.row_of[kind], labels].sum()))
        return True

    @property
    def has_sets(self) -> bool:
        """Whether a set is known for every kind of task."""
        there = np.bincount(np.array(self.kind, np.int64), minlength=self.problem.count.size) > 0
        return bool(there[self.problem.count > 0].all())

    def start(self, slack: Floats | None = None) -> None:
        """A new LP of the sets so far; slack (rows,): how far from 0 multipliers of rows are at most."""
        self.lp = self.make_master(self._program(slack))
        self.behind, self.whole, self.last = len(self.kind), True, None

    def _program(self, slack: Floats | None = None) -> Program:
        coupling = self.problem.coupling
        self.dear = DEAR * max(1e-6, max(self.cost, default=1.0))
        room = np.full(coupling.lower.size, self.dear) if slack is None else slack
        short = room.copy()
        short[: coupling.workers] = np.minimum(short[: coupling.workers], coupling.spare)
        self.is_price = np.append(short[: coupling.workers] == coupling.spare, np.zeros(coupling.ties, bool))
        sides = coupling.lower, coupling.upper
        return set_choice.of_sets(sides, self.problem.count, *self._columns(0), self.dear, (short, room))

    @property
    def size(self) -> int:
        """Entries of the LP, about."""
        return len(self.kind) * (1 + self.problem.coupling.lower.size)

    def in_whole(self, solvers: Solvers, options: Options) -> list[tuple[int, Labels]]:
        """The best choice of whole numbers of the sets known that a search finds: a set for each task, or for most."""
        program = self._program()
        first = set_choice.before_sets(self.problem.count.size, self.problem.coupling.lower.size)
        whole = np.arange(program.cost.size) >= first
        solution = solvers.solve(replace(program, integer=whole), solvers.backend, options)
        if solution.primal is None:
            return []
        left, chosen = self.problem.count.copy(), []
        for s in np.flatnonzero(solution.primal[first:] > 0.5).tolist():
            number = min(round(float(solution.primal[first + s])), int(left[self.kind[s]]))
            left[self.kind[s]] -= number
            chosen += [(self.kind[s], self.labels[s])] * number
        return chosen

    def solve(self, seconds: float) -> MasterPoint | None:
        """The LP with all sets."""
        assert self.lp is not None
        if self.behind < len(self.kind):
            cost, matrix = self._columns(self.behind)
            self.lp.add_columns(cost, matrix)
            self.behind = len(self.kind)
        point = self.lp.solve(seconds)
        if point is not None and self.whole:
            self.last = point
        return point

    def ask(self, left: Ints, lower: Floats, upper: Floats) -> None:
        """Tasks of each kind that still want a set, and what the rows have left."""
        assert self.lp is not None
        self.whole = bool((left == self.problem.count).all())
        free = np.full(left.size, np.inf)
        self.lp.set_rows(np.concatenate([left.astype(np.float64), lower]), np.concatenate([free, upper]))

    def amounts(self, point: MasterPoint) -> Floats:
        """Tasks that the point gives each set."""
        return point.primal[set_choice.before_sets(self.problem.count.size, self.problem.coupling.lower.size) :]

    def paid(self, point: MasterPoint) -> bool:
        """Whether the point pays for what rows are short of or over, as prices were not let go far enough."""
        kinds, rows = self.problem.count.size, self.problem.coupling.lower.size
        short, over = np.split(point.primal[kinds : kinds + 2 * rows], 2)
        return bool(max(short[~self.is_price].max(initial=0.0), over.max(initial=0.0)) > NOISE)

    def duals(self, point: MasterPoint) -> tuple[Floats, Floats]:
        """Multipliers of the kinds and of the rows."""
        kinds = self.problem.count.size
        return point.dual[:kinds], self.problem.coupling.valid(point.dual[kinds:])

    def known_at(self, duals: Floats) -> KnownBest:
        """The cheapest set of each kind at these multipliers of the rows."""
        problem, kinds = self.problem, self.problem.count.size
        prices = np.array([problem.coupling.prices(row, duals) for row in range(len(problem.rows))])
        kind, size = np.array(self.kind, np.int64), np.array([one.size for one in self.labels], np.int64)
        row = np.repeat(problem.row_of[kind], size)
        paid = np.bincount(
            np.repeat(np.arange(kind.size), size),
            prices[row, np.concatenate([*self.labels, np.zeros(0, np.int64)])],
            kind.size,
        )
        order = np.lexsort((paid, kind))
        first = np.searchsorted(kind[order], np.arange(kinds))
        there = np.bincount(kind, minlength=kinds) > 0
        which = np.full(kinds, -1)
        which[there] = order[first[there]]
        worth = np.full(kinds, np.inf)
        worth[there] = paid[which[there]]
        return KnownBest(worth, which, self.labels)

    def _columns(self, start: int) -> tuple[Floats, sparse.csc_array]:
        kind = np.array(self.kind[start:], np.int64)
        use = self.problem.coupling.use(self.problem.row_of[kind], self.labels[start:])
        return np.array(self.cost[start:]), set_choice.columns(self.problem.count.size, kind, use)
