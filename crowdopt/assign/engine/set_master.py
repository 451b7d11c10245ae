"""The master over sets of labels: it grows by columns, and says what labels are worth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.engine.prepared import Labels, Prepared
from crowdopt.core.master import MakeMaster, Master, MasterPoint
from crowdopt.programs import set_choice

DEAR = 10.0  # times the dearest set: what a task without one costs the master


@dataclass(eq=False)
class SetMaster:
    """All sets known, and an LP over them.

    Parameters
    ----------
    problem : Prepared
    make_master : callable
    kind : list of int
        Of each set.
    labels : list of Labels
    """

    problem: Prepared
    make_master: MakeMaster
    kind: list[int] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    lp: Master | None = None
    behind: int = 0
    dear: float = 1.0

    def add(self, kind: int, labels: Labels) -> bool:
        """Keep a set; whether it is new."""
        key = kind, labels.tobytes()
        if key in self.known:
            return False
        self.known.add(key)
        self.kind.append(kind)
        self.labels.append(labels)
        self.cost.append(float(self.problem.coupling.cost[self.problem.row_of[kind], labels].sum()))
        return True

    def start(self, slack: Floats | None = None) -> None:
        """A new LP of the sets so far.

        Parameters
        ----------
        slack : (rows,) float, optional
            No multiplier of a row is further from 0 than this.
        """
        coupling = self.problem.coupling
        self.dear = DEAR * max(1e-6, max(self.cost, default=1.0))
        room = np.full(coupling.lower.size, self.dear) if slack is None else slack
        self.lp = self.make_master(
            set_choice.of_sets((coupling.lower, coupling.upper), self.problem.count, *self._columns(0), self.dear, room)
        )
        self.behind = len(self.kind)

    def solve(self, seconds: float) -> MasterPoint | None:
        """The LP with all sets."""
        assert self.lp is not None
        if self.behind < len(self.kind):
            cost, matrix = self._columns(self.behind)
            self.lp.add_columns(cost, matrix)
            self.behind = len(self.kind)
        return self.lp.solve(seconds)

    def ask(self, left: Ints, lower: Floats, upper: Floats) -> None:
        """Tasks of each kind that still want a set, and what the rows have left."""
        assert self.lp is not None
        free = np.full(left.size, np.inf)
        self.lp.set_rows(np.concatenate([left.astype(np.float64), lower]), np.concatenate([free, upper]))

    def amounts(self, point: MasterPoint) -> Floats:
        """Tasks that the point gives each set."""
        amounts: Floats = point.primal[
            set_choice.before_sets(self.problem.count.size, self.problem.coupling.lower.size) :
        ]
        return amounts

    def duals(self, point: MasterPoint) -> tuple[Floats, Floats]:
        """Multipliers of the kinds and of the rows."""
        kinds = self.problem.count.size
        return point.dual[:kinds], self.problem.coupling.valid(point.dual[kinds:])

    def _columns(self, start: int) -> tuple[Floats, sparse.csc_array]:
        kind = np.array(self.kind[start:], np.int64)
        use = self.problem.coupling.use(self.problem.row_of[kind], self.labels[start:])
        return np.array(self.cost[start:]), set_choice.columns(self.problem.count.size, kind, use)
