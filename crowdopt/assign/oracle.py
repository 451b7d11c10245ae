"""Every kind of a problem priced at multipliers of what ties tasks: the bound, and sets."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, parts_of
from crowdopt.assign.problem import Problem
from crowdopt.assign.standing import alarm
from crowdopt.core.clock import Clock

Brought: TypeAlias = tuple[Ints, Ints, Ints]  # labels of sets, where each ends, and the kind of each
NOTHING = 1e-9  # of the least price of a label


@dataclass(frozen=True)
class EffortParams:
    """How hard kinds are looked at in one sweep."""

    nodes: int = 400  # of the search for a kind's cheapest set
    quick: int = 400  # the same, before a table is made for one kind alone
    kinds: int = 4  # of a row, from which a table serves all of them
    least_cells: int = 300  # of evidence in a table of completions
    most_cells: int = 8_000
    counted: int = 16  # labels up to which a most is counted in the table
    searched: int = 64  # kinds of a row up to which completions prove what a search has left open
    kept: int = 3  # sets of a search
    for_each: int = 40  # sets through other workers for a kind, about
    close: float = 2e-6  # how far its bound may stay below the set, relatively
    numbers: int = 4_000_000  # in the table of completions of one row
    every: int = 200_000_000  # in the tables of all rows
    through: int = 0  # sets through other workers, of all kinds together
    each: int = 20  # of a row at least, else none
    turn: int = 0  # of which kinds, by turns
    varied: int = 0  # sets at prices that chance moves, for kinds whose row has few
    spread: float = 0.5  # how far it moves them, relatively
    slack: float = 0.03  # of a kind's price: sets that much dearer are still of interest
    exact: float = 1e-6  # the same, where only the cheapest is asked for


GREEDY = EffortParams(nodes=0, kinds=1 << 40, varied=1, spread=0.0)  # one set for each kind, soon


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of labels s: of which row, and the classes of workers, as CSR."""

    row: Ints  # (S,)
    at: Ints  # (S + 1,)
    label: Ints

    @property
    def owner(self) -> Ints:
        """The set of each label."""
        return np.repeat(np.arange(self.row.size), np.diff(self.at))

    def some(self, which: Ints) -> Sets:
        """Some of them."""
        return Sets(self.row[which], *parts_of(self.at, which, self.label))

    @classmethod
    def joined(cls, parts: list[Sets]) -> Sets:
        """All sets one after another."""
        sizes = np.concatenate([np.diff(part.at) for part in parts])
        row, label = (np.concatenate(of) for of in zip(*((part.row, part.label) for part in parts), strict=True))
        return cls(row, np.append(0, np.cumsum(sizes)), label)


@dataclass(frozen=True, eq=False)
class Swept:
    """What pricing all kinds brought."""

    duals: Floats
    bound: float  # infinite: some kind has no set at all
    value: Floats  # (K,): what a set of each kind costs at least
    cost: Floats  # (K,): the cheapest one found
    rate: Floats  # (K,)
    sets: Sets
    kind: Ints  # (S,): for which each was found


@dataclass(frozen=True, eq=False)
class Oracle:
    """The pricing problem of all kinds."""

    problem: Problem
    threads: int

    def sweep(
        self,
        duals: Floats,
        effort: EffortParams,
        clock: Clock,
        known: Floats | None = None,
        room: Ints | None = None,
        some: Bools | None = None,
    ) -> Swept | None:
        """Price the kinds; None where the time ends before the last one.

        duals (rows of the coupling,): made valid here.
        known (K,): what a set of each kind costs at these multipliers; sets much dearer are then not looked at.
        room (G,): labels that classes have left; default: any.
        some (K,): kinds that are priced; default: all.
        """
        from crowdopt.assign import oracle_kernels as kernels

        problem, kinds = self.problem, self.problem.kinds.need.size
        rows, duals = problem.rows, problem.coupling.valid(duals)
        price = problem.coupling.prices(duals)
        nothing = NOTHING * float(rows.cost[rows.cost > 0].min(initial=1.0))
        lifted = np.abs(price) < nothing  # a label for nothing is taken where it is needed, and not everywhere
        price = np.where(lifted, nothing, price)
        room = np.where(problem.room > 0, rows.size, 0) if room is None else room
        known = np.full(kinds, np.inf) if known is None else known
        known = known if problem.short is None else np.minimum(known, problem.short)
        cuts = np.ones(kinds, bool) if some is None else some
        found = kernels.Found(np.zeros(kinds), np.full(kinds, np.inf), np.zeros(kinds))
        limited = int((~rows.free).sum())
        numbers = min(effort.numbers, effort.every // max(1, limited))
        parts = self._parts()
        through = effort.through // rows.type.size
        through = through if through >= effort.each else 0  # where rows are many, each round brings sets enough
        hair = 1e-9 * float(np.abs(price).max(initial=0.0)) + 1e3 * nothing
        slack = effort.slack if through or effort.varied else effort.exact
        with alarm(clock) as rung:
            taken: dict[str, Any] = {name: getattr(effort, name, None) for name in kernels.Effort._fields}
            taken |= {"numbers": numbers, "through": through, "slack": slack, "hair": hair, "rung": rung}
            each = kernels.Effort(**taken)

            def price_part(begin: int, end: int) -> Brought:
                if problem.votes is None:
                    return kernels.sweep_rows(begin, end, rows, problem.kinds, price, room, known, each, found, cuts)
                from crowdopt.assign.vote_kernels import sweep_votes

                law, asked = problem.votes.law, (problem.sides, price, room, known, each)
                brought = sweep_votes(begin, end, rows, problem.kinds, law, *asked, found, cuts)
                if problem.votes.poorer is not None:  # what workers know is more than votes make of it
                    law, twin = problem.votes.poorer, kernels.Found(*(one.copy() for one in found))
                    brought = sweep_votes(begin, end, rows, problem.kinds, law, *asked, twin, cuts)
                    mine = slice(*problem.kinds.at[[begin, end]])
                    found.cost[mine] = twin.cost[mine]
                return brought

            brought = self._each(price_part, parts)
            if rung[0] or clock.over:
                return None
        if problem.short is not None:  # a task that is left short may have labels all the same
            without = problem.short + (np.minimum(price, 0.0) @ rows.size)[rows.type[problem.row_of]]
            found = kernels.Found(np.minimum(found.value, without), np.minimum(found.cost, problem.short), found.rate)
        sizes = np.concatenate([np.diff(ends, prepend=0) for _, ends, _ in brought])
        kind = np.concatenate([of for _, _, of in brought])
        label = np.concatenate([labels for labels, _, _ in brought])
        sets = Sets(problem.row_of[kind], np.append(0, np.cumsum(sizes)), label)
        bound = float(problem.count @ found.value) + problem.coupling.pull(duals) + problem.constant
        bound -= nothing * float(problem.count @ (lifted @ rows.size)[rows.type[problem.row_of]])
        return Swept(duals, bound, *found, sets, kind)

    def _parts(self) -> list[tuple[int, int]]:
        """Rows in stretches of about as many kinds, so that threads have work."""
        at, size = self.problem.kinds.at, self.problem.rows.worth.shape[1]
        count = min(at.size - 1, max(1, int(at[-1]) * size // 500_000))
        cuts = np.searchsorted(at, np.linspace(0, at[-1], count + 1))
        cuts = np.unique(np.append(cuts[:-1], at.size - 1))
        return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))

    def _each(self, price: Callable[[int, int], Brought], parts: list[tuple[int, int]]) -> list[Brought]:
        if self.threads == 1 or len(parts) == 1:
            return [price(*part) for part in parts]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(lambda part: price(*part), parts))
