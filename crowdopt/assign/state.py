"""Who has what while a plan is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints, nth_alike
from crowdopt.assign.oracle import Sets
from crowdopt.assign.problem import Problem
from crowdopt.assign.standing import NEVER

CELLS = 1_000_000  # labels for which there is room in all, if nobody asks for more: few tasks may need all workers


@dataclass(eq=False)
class Holding:
    """Labels of classes of workers that tasks have."""

    problem: Problem
    terms: Any  # Terms and State of crowdopt.assign.state_kernels
    state: Any
    jury: Any  # of crowdopt.assign.jury_kernels

    @classmethod
    def empty(cls, problem: Problem, widest: int, seed: int, rung: Bools = NEVER) -> Holding:
        """Nobody has anything."""
        from crowdopt.assign.state_kernels import State, Terms

        n, kind = problem.tasks, problem.kind_of
        wide = max(widest, min(int(problem.rows.size.sum()), CELLS // max(1, n)))
        terms = Terms(problem.rows, problem.row_of[kind], *problem.bars_of(kind))
        state = State(
            np.zeros((n, wide), np.int32),
            np.zeros(n, np.int64),
            -problem.target[kind],
            problem.room.copy(),
            np.array([88172645463325252 + 2654435761 * seed], np.uint64),
            rung,
        )
        return cls(problem, terms, state, problem.jury)

    @classmethod
    def of_sets(cls, problem: Problem, sets: Sets, of: Ints, widest: int, seed: int, rung: Bools = NEVER) -> Holding:
        """Sets that tasks have."""
        size = np.diff(sets.at)
        one = cls.empty(problem, max(widest, int(size.max(initial=0))), seed, rung)
        owner = sets.owner
        place = nth_alike(owner)
        one.state.hands[of[owner], place] = sets.label
        one.state.held[of] = size
        np.subtract.at(one.state.left, sets.label, 1)
        one.state.slack[of] += problem.power(sets.row, owner, sets.label)
        one.weigh(np.setdiff1d(np.arange(problem.tasks), of))
        return one

    @classmethod
    def of_labels(cls, problem: Problem, task: Ints, label: Ints, widest: int, rung: Bools = NEVER) -> Holding:
        """Labels of classes that tasks have."""
        order = np.argsort(task, kind="stable")
        tasks, size = np.unique(task, return_counts=True)
        sets = Sets(problem.row_of[problem.kind_of[tasks]], np.append(0, np.cumsum(size)), label[order])
        return cls.of_sets(problem, sets, tasks, widest, 0, rung)

    def judged(self, problem: Problem) -> Holding:
        """The same labels where votes decide."""
        one = Holding(problem, self.terms, self.state, problem.jury)
        one.weigh(np.arange(problem.tasks))
        return one

    def weigh(self, tasks: Ints) -> None:
        """How much better than they must be the votes of some tasks are."""
        from crowdopt.assign.jury_kernels import weigh

        weigh(tasks, self.terms, self.state, self.jury)

    def labels(self) -> tuple[Ints, Ints]:
        """Task and class of every label."""
        held = self.state.held
        inside = np.arange(self.state.hands.shape[1]) < held[:, None]
        return np.repeat(np.arange(held.size), held), self.state.hands[inside].astype(np.int64)

    def by_type(self) -> list[tuple[int, Ints]]:
        """Tasks of each type that have labels or need some."""
        asking = np.flatnonzero((self.state.held > 0) | (self.state.slack < 0))
        kind = self.problem.rows.type[self.terms.row[asking]]
        order = np.argsort(kind, kind="stable")
        types, starts = np.unique(kind[order], return_index=True)
        order = asking[order]
        return list(zip(types.tolist(), np.split(order, starts[1:]), strict=True)) if types.size else []

    @property
    def short(self) -> Ints:
        """Tasks that have too little."""
        from crowdopt.assign.state_kernels import lacking

        return np.flatnonzero(lacking(self.terms, self.state))

    @property
    def lack(self) -> float:
        """Evidence that is missing, in all."""
        return float(np.maximum(0.0, -self.state.slack).sum())

    def cost(self) -> float:
        """What the labels cost, the fixed ones apart."""
        task, label = self.labels()
        rows = self.problem.rows
        return float(rows.cost[rows.type[self.terms.row[task]], label].sum())

    def deal(self, amounts: Ints, tasks: Ints) -> None:
        """Deal amounts (L, G) to some tasks, the best labels first, those that groups ask for before all others."""
        from crowdopt.assign.state_kernels import deal

        rows, (types, place) = self.problem.rows, self.problem.lots
        of = place[self.terms.row[tasks]]
        order = np.argsort(of, kind="stable")
        at = np.searchsorted(of[order], np.arange(types.size + 1))
        asked = np.zeros((types.size, rows.low.shape[1]), bool)
        np.logical_or.at(asked, place, rows.low > 0)
        for t, kind in enumerate(types.tolist()):
            groups = np.lexsort((-rows.worth[kind], ~asked[t, rows.group]))
            mine, groups = tasks[order[at[t] : at[t + 1]]], groups[amounts[t, groups] > 0]
            deal(mine, groups, amounts[t], rows.worth[kind], self.terms, self.state)

    def share(self, rounds: int, work: int) -> None:
        """Share labels out among tasks of one type until none is short, or so much was tried."""
        from crowdopt.assign.state_kernels import finish, level

        for kind, tasks in self.by_type():
            worth = self.problem.rows.worth[kind]
            if tasks.size > 1 and (self.state.slack[tasks] < 0).any():
                level(tasks, worth, self.terms, self.state, rounds)
                if (self.state.slack[tasks] < 0).any():
                    finish(tasks, worth, self.terms, self.state, work)

    def escalate(self, price: Floats, rounds: int, work: int, allowed: int) -> None:
        """Buy single labels for types of which tasks are short, and share them out."""
        from crowdopt.assign.state_kernels import escalate

        for kind, tasks in self.by_type():
            if tasks.size > 1 and (self.state.slack[tasks] < 0).any():
                worth = self.problem.rows.worth[kind]
                escalate(tasks, price[kind], worth, self.terms, self.state, rounds, work, allowed)

    def complete(self, price: Floats, whole_or_none: bool = False, tasks: Ints | None = None) -> int:
        """Buy what is missing at prices (T, G), for all tasks or some; -> how many of them stay short.

        whole_or_none: those that lack least come first, and those that stay short give back what they bought.
        """
        from crowdopt.assign.jury_kernels import buy

        some = np.arange(self.problem.tasks) if tasks is None else tasks
        slack = self.state.slack[some]
        order = some[np.argsort(-slack if whole_or_none else slack, kind="stable")]
        return int(buy(order, price, self.terms, self.state, self.jury, whole_or_none))

    def spread(self, tasks: Ints, have: Floats, scale: Floats) -> None:
        """Labels to tasks where each lowers ``scale e^{-evidence / 2}`` most for its price, within all that ties tasks.

        have, scale (tasks,): of all tasks; evidence that is there, and what is lowered.
        """
        from crowdopt.assign.state_kernels import spread

        spread(tasks, self.problem.rows.cost, have, scale, self.terms, self.state, self._ties())

    def _ties(self) -> Any:
        """What ties tasks, loads apart, as loops read it."""
        from crowdopt.assign.state_kernels import Ties

        problem, rows = self.problem, self.problem.rows
        coupling, groups = problem.coupling, problem.room.size
        loads, cells = coupling.loads, rows.cost.size
        at, row, part = np.zeros(cells + 1, np.int64), np.zeros(0, np.int64), np.zeros(0)
        if coupling.lower.size > loads:
            kind, label = np.divmod(np.arange(cells), groups)
            use = sparse.csc_array(coupling.use(kind, label, np.arange(cells), cells)[loads:])
            at, row, part = use.indptr.astype(np.int64), use.indices.astype(np.int64), use.data
        task, label = self.labels()
        activity = coupling.activity(rows.type[self.terms.row[task]], label)[loads:]
        return Ties(at, row, part, activity, coupling.lower[loads:], coupling.upper[loads:])

    def mend(self) -> None:
        """Labels for shares and own rows that are not kept, whether anybody needs them or not."""
        from crowdopt.assign.state_kernels import mend

        if self.problem.coupling.ties:
            self._widen(1)
            mend(self.problem.rows.cost, self.terms, self.state, self._ties())

    def _widen(self, more: int) -> None:
        """Room for so many labels more of a task."""
        widest = int(self.state.held.max(initial=0)) + more + 8
        hands = np.zeros((self.problem.tasks, widest), np.int32)
        hands[:, : self.state.hands.shape[1]] = self.state.hands[:, :widest]
        self.state = self.state._replace(hands=hands)

    def fill(self) -> None:
        """Labels for workers who have too few, whether anybody needs them or not."""
        from crowdopt.assign.jury_kernels import fill

        beyond = -self._lacks()
        if (beyond < 0).any():
            self._widen(-int(beyond.min()))
            asked = np.maximum(0, -beyond), np.maximum(0, beyond)
            fill(*asked, self.problem.rows.cost, self.terms, self.state, self.jury)

    def _lacks(self) -> Ints:
        """Labels that classes lack to what they must give, below 0: what they have beyond, (G,)."""
        lower = np.maximum(0.0, self.problem.coupling.lower[: self.problem.room.size])
        return lower.astype(np.int64) - (self.problem.room - self.state.left)

    def thin(self, price: Floats, tasks: Ints | None = None) -> None:
        """Drop what tasks, all of them if none are named, can do without."""
        from crowdopt.assign.jury_kernels import thin

        every = np.arange(self.problem.tasks) if tasks is None else tasks
        thin(every, price, self._lacks(), self.terms, self.state, self.jury)
