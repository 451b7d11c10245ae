"""Tasks whose labels own rows tie one by one, ``y_ij = y_kj`` for every worker: planned as one task.

Who takes a sentence takes its document. A label of the whole costs what its parts cost and takes as much time as they
have labels; it is as good as the strictest of them asks. With multipliers of the rows that tie them, all that a
label of the whole is worth is one part's, and nothing the others'; so each bound of the one instance is one of the
other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr

from crowdopt.arrays import Bools, Ints, alike
from crowdopt.assign.oracle import EffortParams
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.problem import problem_of
from crowdopt.assign.search import Search
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.clock import Clock
from crowdopt.core.solution import PROVEN, Options
from crowdopt.crowd.groups import OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import asks
from crowdopt.errors import InputError

LONG = 60.0  # seconds, for what takes none


def with_tied_tasks(
    instance: AssignmentInstance, solvers: Solvers, solve: Callable[[AssignmentInstance], Plan]
) -> Plan:
    """The plan of the instance, from that of one whose tied tasks are one."""
    tied = _Tied.of(instance)
    try:
        part = None if tied is None else tied.part()
    except InputError:  # wholes have less time than they must give
        part = None
    return solve(instance) if tied is None or part is None else tied.whole(solve(part), solvers)


@dataclass(frozen=True, eq=False)
class _Tied:
    """Which tasks are one."""

    instance: AssignmentInstance
    group_of: Ints  # (tasks,): the number of each task's whole
    first: Ints  # (wholes,): a task of each
    ties: Bools  # (own rows,): whether a row ties two labels
    size: int  # tasks of each whole

    @classmethod
    def of(cls, instance: AssignmentInstance) -> _Tied | None:
        """None where no tasks are tied, or a whole could not be stated as a task."""
        own, n, m = instance.own_rows, instance.n_tasks, instance.n_workers
        if own is None or len(instance.collected) or any(group.has_share_limits for group in instance.groups):
            return None
        count = np.bincount(own.row, minlength=len(own.names))
        ties = (count == 2) & (own.lower == 0) & (own.upper == 0)
        order = np.argsort(own.row, kind="stable")
        pair = order[np.isin(own.row[order], np.flatnonzero(ties))].reshape(-1, 2)
        one, other = own.pairs[pair[:, 0]], own.pairs[pair[:, 1]]
        opposite = (own.coefficient[pair].sum(axis=1) == 0) & (own.coefficient[pair[:, 0]] != 0)
        opposite &= (one[:, 1] == other[:, 1]) & (one[:, 0] != other[:, 0])
        ties[np.flatnonzero(ties)[~opposite]] = False
        if not opposite.any():
            return None
        ends = one[opposite] @ [m, 1], other[opposite] @ [m, 1]
        graph = sparse.coo_array((np.ones(ends[0].size), ends), shape=(n * m, n * m))
        part = connected_components(graph, directed=False)[1].reshape(n, m)
        part[:, instance.capacity == 0] = 0
        group_of, first = alike(part)
        sizes = np.bincount(group_of)
        told = alike(group_of, instance.task_type, *instance.own_priors)[1].size  # parts of a whole are of one kind
        may = asks(instance)
        if first.size == n or np.ptp(sizes) or told > first.size or not may.all():
            return None
        return cls(instance, group_of, first, ties, int(sizes[0]))

    def part(self) -> AssignmentInstance:
        """The instance of wholes."""
        one, first, size = self.instance, self.first, self.size
        least, most = np.full(first.size, 0), np.full(first.size, np.iinfo(np.int64).max)
        np.maximum.at(least, self.group_of, one.min_labels)
        np.minimum.at(most, self.group_of, one.max_labels)
        epsilon, demand = np.full(first.size, np.inf), np.zeros(first.size)
        np.minimum.at(epsilon, self.group_of, one.epsilon)
        np.maximum.at(demand, self.group_of, np.broadcast_to(one.demand, one.n_tasks))
        return replace(
            one,
            task_type=one.task_type[first],
            epsilon=epsilon,
            demand=demand,
            min_labels=least,
            max_labels=most,
            prior=one.prior[first] if one.prior.ndim > 1 else one.prior,
            capacity=one.capacity // size,
            min_load=-(-one.min_load // size),
            cost=size * one.cost,
            forbidden=self._pairs(one.forbidden),
            fixed=self._pairs(one.fixed),
            own_rows=self._others(),
            tasks=[one.task_id(int(i)) for i in first],
        )

    def _pairs(self, pairs: Ints) -> Ints:
        return np.unique(np.column_stack([self.group_of[pairs[:, 0]], pairs[:, 1]]), axis=0)

    def _others(self) -> OwnRows | None:
        """Rows that tie nothing, over wholes."""
        own = self.instance.own_rows
        assert own is not None
        kept = np.flatnonzero(~self.ties)
        if not kept.size:
            return None
        place = np.cumsum(~self.ties) - 1
        mine = ~self.ties[own.row]
        pairs = np.column_stack([self.group_of[own.pairs[mine, 0]], own.pairs[mine, 1]])
        names = [own.names[k] for k in kept.tolist()]
        return OwnRows(names, place[own.row[mine]], pairs, own.coefficient[mine], own.lower[kept], own.upper[kept])

    def whole(self, plan: Plan, solvers: Solvers) -> Plan:
        """A plan of wholes as one of their tasks; what multipliers do not prove of these rests on the search's word."""
        pairs, partial = self._labels(plan.pairs), self._labels(plan.partial)
        value = None if pairs is None else float(self.instance.prices(pairs).sum())
        known = replace(plan.certificate, value=value)
        proven = None if plan.duals is None else self._proven(plan.duals, solvers)
        certified, duals = (-np.inf, None) if proven is None else (proven.certified, proven.duals)
        if plan.proof == "certificate" and certified < plan.bound - PROVEN * abs(plan.bound):
            known = replace(known, proof="solver")
        made = replace(plan, instance=self.instance, pairs=pairs, partial=partial, certificate=known)
        return replace(made, certified_bound=certified, duals=duals)

    def _labels(self, pairs: Ints | None) -> Ints | None:
        if pairs is None:
            return None
        member = np.argsort(self.group_of, kind="stable").reshape(-1, self.size)
        every = np.column_stack([member[pairs[:, 0]].reshape(-1), np.repeat(pairs[:, 1], self.size)])
        return every[np.lexsort((every[:, 1], every[:, 0]))]

    def _proven(self, found: Duals, solvers: Solvers) -> Standing:
        """What the multipliers prove of the tasks; all that a label of a whole is worth is its first part's."""
        one, own = self.instance, self.instance.own_rows
        assert own is not None
        worker, mine = found.worker / self.size, np.zeros(len(own.names))
        mine[~self.ties] = found.joint.get("own", mine[:0])
        price = (1 - found.budget) * one.cost[one.task_type] - worker
        other = ~self.ties[own.row]
        np.subtract.at(price, tuple(own.pairs[other].T), mine[own.row[other]] * own.coefficient[other])
        lifted = price.copy()  # what rows that tie take off: all of the others', and as much is the first one's
        sums = np.zeros((self.first.size, one.n_workers))
        np.add.at(sums, self.group_of, price)
        lifted[self.first] -= sums
        entry = np.flatnonzero(self.ties[own.row])
        used, place = np.unique(own.pairs[entry] @ [one.n_workers, 1], return_inverse=True)
        matrix = sparse.csr_array((own.coefficient[entry], (place, own.row[entry])), shape=(used.size, mine.size))
        mine += lsqr(matrix, lifted.reshape(-1)[used], atol=1e-14, btol=1e-14)[0]
        problem, clock = problem_of(one), Clock(LONG)
        options = Options(time_limit=LONG)
        standing = Standing(instance=one, solvers=solvers, options=options, clock=clock, listener=None)
        search = Search(problem, standing)
        load = np.zeros(problem.room.size)
        load[problem.worker_class] = worker
        budget = [found.budget] * problem.coupling.has_budget
        swept = search.oracle.sweep(np.concatenate([load, mine, budget]), EffortParams(), clock)
        if swept is not None:
            search.hear(swept)
        return standing
