"""What an instance with a linear rule asks, as flat arrays: rows of tasks, kinds of need, classes of workers, coupling.

A *row* is everything of a task but its need: evidence, prices, limits, who is barred where many tasks share that. A
*kind* is a row, a need, and who else is barred. Twenty thousand rows of one task and ten rows of ten thousand tasks are
the same object.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints, alike, parts_of, same_entries
from crowdopt.assign.boxstep import pays
from crowdopt.assign.plan import Duals
from crowdopt.assign.votes import SPARE, Votes, hardness, skills, votes_of
from crowdopt.core.program import Program
from crowdopt.crowd.alike import bounds_know_overlaps, labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN, errors_of_sets
from crowdopt.programs import masters
from crowdopt.programs.assignment import shares_of

ANY = 1 << 40  # labels: so many are no limit
SCALE = 1e3  # of errors in a row of a program: solvers' tolerances are absolute


@dataclass(frozen=True)
class ProblemParams:
    """What is told apart."""

    enough: int = 12  # workers of a class whom a task may have, beyond which they are told apart as they are seated
    left: int = 30  # workers of a class who are not barred to a task, beyond which it does not matter who is
    told: int = 120  # classes of workers up to which they are told apart by their loads
    few: int = 400  # pairs up to which other bars make other rows of tasks, and other classes of workers
    apart: bool = False  # whether each worker is a class
    rows: int = 60_000  # rows x classes of workers up to which amounts are of rows


class Rows(NamedTuple):
    """Rows r of tasks, as compiled loops read them."""

    type: Ints  # (R,): row of ``worth`` and ``cost``
    fewest: Ints  # (R,): labels of a task
    most: Ints  # (R,)
    # labels of groups that share nobody; the last one is of everybody else
    low: Ints  # (R, A)
    top: Ints  # (R, A); ANY: there is no most
    group: Ints  # (G,): which of them a class of workers is in
    # labels of groups beside those
    member: Bools  # (H, G)
    proven: bool  # whether bounds know them too: whoever proves them again can only do so where they are few
    low_beside: Ints  # (R, H)
    top_beside: Ints  # (R, H)
    worth: Floats  # (T, G): evidence of a label
    cost: Floats  # (T, G)
    size: Ints  # (G,): workers of a class
    # classes of whom some are barred to all tasks of a row, and the labels of each that a task may have all the same
    shut_at: Ints  # (R + 1,)
    shut: Ints
    shut_left: Ints
    free: Bools  # (R,): whether the row has no limit but its need


class Kinds(NamedTuple):
    """Kinds k of tasks, one row after another, needs ascending."""

    at: Ints  # (R + 1,): where the kinds of each row begin
    need: Floats  # (K,): evidence
    # the same of the kind alone
    bar_at: Ints  # (K + 1,)
    bar: Ints
    bar_left: Ints


@dataclass(frozen=True, eq=False)
class Coupling:
    """Rows that tie tasks together: loads of the classes of workers, shares of groups, own rows, money."""

    rows: Rows
    weight: Floats  # (shares, G): what a label counts in each row of shares
    # entries of own rows: row, type, class, coefficient
    own: tuple[Ints, Ints, Ints, Floats]
    owns: int  # own rows; where an average is promised the last one has errors of sets, in units of 1 / SCALE
    has_budget: bool  # whether money is the last row
    lower: Floats  # (G + shares + own rows + budget,)
    upper: Floats
    averages: bool = False  # whether there is a row of errors
    goal: float = 1.0  # what money counts in what is minimised, and an error
    wrong: float = 0.0

    @cached_property
    def loads(self) -> int:
        """So many rows, the first ones, are loads."""
        return self.rows.size.size

    @property
    def ties(self) -> bool:
        """Whether more than loads ties tasks, and labels alone decide whether it is kept."""
        return self.lower.size > self.loads and not self.averages

    @property
    def last_own(self) -> int:
        """The place of the last own row: of errors, where an average is promised."""
        return self.loads + len(self.weight) + self.owns - 1

    @cached_property
    def spare(self) -> Floats:
        """What a label costs at least that is given for a load's sake alone, (G,)."""
        return self.rows.cost[np.unique(self.rows.type)].min(axis=0)

    def pulls(self, duals: Floats) -> tuple[float, Floats, Floats]:
        """What a label costs at multipliers: its price times the first, less its class's pull, less own rows'."""
        g, shares = self.loads, len(self.weight)
        money = float(duals[-1]) if self.has_budget else 0.0
        pull: Floats = duals[:g] + duals[g : g + shares] @ self.weight
        own = duals[g + shares : g + shares + self.owns].copy()
        own[self.owns - 1 :] -= self.wrong
        return self.goal - money, pull, own

    def spare_prices(self, duals: Floats) -> Floats:
        """The price at multipliers of a label that is given for a load's sake alone, (G,)."""
        pay, pull, _ = self.pulls(duals)
        return pay * self.spare - pull

    def prices(self, duals: Floats) -> Floats:
        """``(1 - b) c_tg - w_g - s_tg``: labels at multipliers, (T, G)."""
        pay, pull, own = self.pulls(duals)
        table: Floats = pay * self.rows.cost - pull
        return table - (self._own_table @ own).reshape(table.shape) if own.size else table

    def pull(self, duals: Floats) -> float:
        """What the sides of the rows are worth: ``sum l [d]+ - u [d]-``."""
        up, down = duals > 0, duals < 0
        return float(self.lower[up] @ duals[up] + self.upper[down] @ duals[down])

    def valid(self, duals: Floats) -> Floats:
        """Multipliers without those that pull at a side that is not there, or pay more for a load than it costs."""
        duals = np.where(np.isfinite(self.upper), duals, np.maximum(duals, 0.0))
        duals = np.where(np.isfinite(self.lower), duals, np.minimum(duals, 0.0))
        lifted = duals[: self.loads] > 0
        duals[: self.loads] += np.where(lifted, np.minimum(0.0, self.spare_prices(duals)), 0.0)
        duals[: self.loads] = np.where(lifted, np.maximum(0.0, duals[: self.loads]), duals[: self.loads])
        return duals

    def own_use(self, kind: Ints, label: Ints, owner: Ints, owners: int) -> sparse.csr_array:
        """What labels of classes to tasks of types bring to own rows, by their owners, (owners, own rows)."""
        if not self.owns:
            return sparse.csr_array((owners, 0))
        cells = kind * self.loads + label
        labels = sparse.csr_array((np.ones(label.size), (owner, cells)), shape=(owners, self.rows.worth.size))
        return sparse.csr_array(labels @ self._own_table)

    @cached_property
    def _own_table(self) -> sparse.csr_array:
        """What a label of each type and class brings to own rows, (T G, own rows)."""
        row, kind, place, coefficient = self.own
        cells = kind * self.loads + place
        return sparse.csr_array((coefficient, (cells, row)), shape=(self.rows.worth.size, self.owns))

    def use(self, kind: Ints, label: Ints, owner: Ints, owners: int, error: Floats | None = None) -> sparse.csc_array:
        """What labels of classes to tasks of types take from the rows, by their owners, (rows, owners).

        error (owners,): where an average is promised, what their votes err with.
        """
        parts = [sparse.csr_array((np.ones(label.size), (label, owner)), shape=(self.loads, owners))]
        parts += [sparse.csr_array(np.bincount(owner, weight[label], owners)[None]) for weight in self.weight]
        own = self.own_use(kind, label, owner, owners).T
        parts.append(sparse.csr_array(own if error is None else sparse.vstack([own[:-1], SCALE * error[None]])))
        if self.has_budget:
            parts.append(sparse.csr_array(np.bincount(owner, self.rows.cost[kind, label], owners)[None]))
        return sparse.csc_array(sparse.vstack(parts))

    def activity(self, kind: Ints, label: Ints, error: float | None = None) -> Floats:
        """What labels of classes to tasks of types take from the rows in all, (rows,)."""
        wrong = None if error is None else np.array([error])
        return self.use(kind, label, np.zeros(label.size, np.int64), 1, wrong).toarray().reshape(-1)


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance as the engine sees it; labels that are fixed are taken for granted."""

    instance: AssignmentInstance
    rows: Rows
    kinds: Kinds
    count: Ints  # (K,): tasks of each kind
    row_of: Ints  # (K,)
    kind_of: Ints  # (tasks,): of all tasks of the instance
    # (K,): evidence that a plan gives, a hair more than the need; where votes decide, the power of their sets
    target: Floats
    votes: Votes | None
    worker_class: Ints  # (workers,)
    # of workers: labels that each can give, and must give, beside the fixed ones
    each_room: Ints  # (workers,)
    each_least: Ints  # (workers,)
    room: Ints  # (G,): labels that a class has to give
    coupling: Coupling
    constant: float  # what the fixed labels cost
    params: ProblemParams
    short: Floats | None = None  # (K,): price of leaving a task of each kind short; none may be

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return self.kind_of.size

    def power(self, row: Ints, owner: Ints, label: Ints) -> Floats:
        """How hard the kinds are that sets serve, (S,); owner, label: set and class of workers of each label."""
        if self.coupling.averages:
            return np.zeros(row.size)
        worth = self.rows.worth[self.rows.type[row[owner]], label]
        evidence: Floats = np.bincount(owner, worth, row.size).astype(np.float64)
        return evidence if self.votes is None else self.votes.power(row, owner, label, self.kinds.at, evidence)

    def errors(self, row: Ints, owner: Ints, label: Ints) -> Floats | None:
        """What votes over sets err with, (S,), where their average is promised; else None."""
        if not self.coupling.averages:
            return None
        assert self.votes is not None
        pairs = self.votes.with_held(row, owner, label)
        return errors_of_sets(self.votes.instance, self.votes.task[row], pairs)

    def by_evidence(self, need: Floats) -> Problem:
        """The same where evidence decides, so much for each kind (K,), or more."""
        hard = np.maximum(need, self.kinds.need) + 2 * float(need.max(initial=0.0)) * self.row_of
        hard = np.maximum.accumulate(hard) - 2 * float(need.max(initial=0.0)) * self.row_of  # rises along each row
        return replace(self, votes=None, kinds=self.kinds._replace(need=hard), target=hard)

    def multipliers(self, duals: Floats, rate: Floats | None = None) -> Duals:
        """Duals of the coupling as the instance's, each class's for each of its members; rate (K,): of evidence.

        Where money is not what is minimised they are in money all the same.
        """
        coupling, instance, start, joint = self.coupling, self.instance, self.coupling.loads, {}
        pay, _, own = coupling.pulls(duals)
        unit = 1.0 if coupling.goal else pay
        for name, _, bound in shares_of(instance):
            joint[name] = duals[start : start + len(bound)] / unit
            start += len(bound)
        if instance.own_rows is not None:
            joint["own"] = duals[start : start + len(instance.own_rows.names)] / unit
        beyond = float(instance.cost.max()) * instance.n_workers  # a set costs less, and time that is not there nothing
        worker = np.where(self.room == 0, -beyond, duals[: coupling.loads] / unit)[self.worker_class]
        nothing, budget = np.zeros(self.tasks), float(duals[-1]) if coupling.has_budget and coupling.goal else 0.0
        task = nothing if rate is None else rate[self.kind_of]
        return Duals(task, worker, nothing, budget, SCALE * float(own[-1]) / unit if coupling.averages else 0.0, joint)

    @cached_property
    def jury(self) -> Any:
        """Who says whether a task's labels are enough, as the loops of crowdopt.assign.jury_kernels read it."""
        if self.votes is not None:
            return self.votes.jury(self.kind_of)
        from crowdopt.assign.jury_kernels import Jury

        none, table = np.empty(0), np.empty((0, 2))
        cubes, at = np.empty((0, 0, 0)), np.zeros(1, np.int64)
        worth = np.ascontiguousarray(self.rows.worth)
        need = np.ascontiguousarray(self.target)
        return Jury(cubes, table, worth, none, table, none, at, table, none, none, need, self.kind_of)

    @cached_property
    def sides(self) -> Ints:
        """A number for each class of workers by the groups that limits of tasks know, (G,)."""
        return alike(self.rows.group, self.rows.member.T)[0] if self.rows.member.size else alike(self.rows.group)[0]

    @cached_property
    def unit(self) -> float:
        """What a label costs, about; where tasks may be left short, what that costs; or a tenth of an error."""
        if self.coupling.wrong:
            return 0.1 * SCALE
        return (float(self.rows.cost.mean()) if self.short is None else float(self.short.max())) or 1.0

    @cached_property
    def lots(self) -> tuple[Ints, Ints]:
        """Lots of tasks that amounts are of: the type of each, and the lot of each row, (R,).

        Rows themselves; where these are many, all rows of a type together.
        """
        if self.rows.type.size * self.room.size <= self.params.rows:
            return self.rows.type, np.arange(self.rows.type.size)
        types, place = np.unique(self.rows.type, return_inverse=True)
        return types, place.reshape(-1)

    @cached_property
    def lot_of(self) -> Ints:
        """The lot of each kind, (K,)."""
        return self.lots[1][self.row_of]

    @cached_property
    def tasks_in(self) -> Ints:
        """Tasks of each lot, (L,)."""
        return np.bincount(self.lot_of, self.count).astype(np.int64)

    @cached_property
    def needed(self) -> Floats:
        """Evidence that the tasks of each lot need in all, (L,)."""
        return np.bincount(self.lot_of, self.count * self.kinds.need).astype(np.float64)

    @cached_property
    def most(self) -> Ints:
        """Labels of each class that the tasks of each lot can have in all, (L, G)."""
        rows, kinds = self.rows, self.kinds
        most = self.tasks_in[:, None] * rows.size
        tasks, row = np.bincount(self.row_of, self.count), np.repeat(np.arange(rows.type.size), np.diff(rows.shut_at))
        np.subtract.at(most, (self.lots[1][row], rows.shut), (tasks[row] * (rows.size[rows.shut] - rows.shut_left)))
        kind = np.repeat(np.arange(self.count.size), np.diff(kinds.bar_at))
        np.subtract.at(most, (self.lot_of[kind], kinds.bar), self.count[kind] * (rows.size[kinds.bar] - kinds.bar_left))
        return most

    def every_set(self, most: int, in_part: bool = False) -> tuple[Ints, Ints, Ints, Bools] | None:
        """All sets of labels that tasks of each row may have: rows, where labels begin, labels; None: more than that.

        Nor where some kind is barred from whom others of its row are not. ``in_part``: and those with fewer labels, in
        all or of a group, than a task needs; last, whether a set has as many.
        """
        rows, found, left = self.rows, [], most
        if self.kinds.bar.size:
            return None
        member = np.vstack([rows.group == np.arange(rows.low.shape[1])[:, None], rows.member]).astype(np.int64)
        for r in range(rows.type.size):
            tops = np.minimum(np.append(rows.top[r], rows.top_beside[r]), self.tasks * rows.size.sum())
            copies = np.minimum(rows.size, np.where(self.room > 0, rows.most[r], 0))
            for s in range(rows.shut_at[r], rows.shut_at[r + 1]):
                copies[rows.shut[s]] = min(copies[rows.shut[s]], rows.shut_left[s])
            left -= int(np.exp(np.minimum(np.log(copies + 1.0).sum(), np.log(2.0 * most))) + 0.5)
            if left < 0:
                return None
            times = up_to(copies)
            inside, size = times @ member.T, times.sum(axis=1)
            able = (inside <= tops).all(axis=1) & (size <= rows.most[r])
            whole = (inside >= np.append(rows.low[r], rows.low_beside[r])).all(axis=1) & (size >= rows.fewest[r])
            able &= whole | in_part
            found.append((np.full(int(able.sum()), r), times[able], whole[able]))
        row, times, whole = (np.concatenate(part) for part in zip(*found, strict=True))
        label = np.tile(np.arange(self.room.size), row.size).repeat(times.reshape(-1))
        return row, np.append(0, np.cumsum(times.sum(axis=1))), label, whole

    @property
    def is_boxed(self) -> bool:
        """Whether nothing but needs and capacities is asked for, of so many workers that box-steps pay."""
        coupling = self.coupling
        plain = self.rows.free.all() and coupling.lower.size == self.room.size and not (coupling.lower > 0).any()
        return bool(plain) and self.short is None and pays(self.tasks_in.size, self.room.size)

    @cached_property
    def amounts(self) -> Program:
        """The linear program over lots: labels of each class for the tasks of each lot together."""
        worth, cost = self.rows.worth[self.lots[0]], self.rows.cost[self.lots[0]]
        ties, most = masters.Side(self._ties(), self.coupling.lower, self.coupling.upper), self.most.astype(float)
        whole = masters.of_rows(worth, cost, most, self.needed, self._limits(), ties)
        if self.short is None:
            return whole
        return masters.in_part(whole, np.bincount(self.lot_of, self.count * self.short).astype(np.float64))

    def _limits(self) -> masters.Side:
        """``sum low <= labels of a group <= sum top`` over the tasks of each lot, all labels among them."""
        rows, groups, lots = self.rows, self.room.size, self.tasks_in.size
        apart = rows.group == np.arange(rows.low.shape[1])[:, None]
        member = np.vstack([np.ones((1, groups), bool), apart, rows.member])
        low = np.column_stack([rows.fewest, rows.low, rows.low_beside])
        top = np.column_stack([rows.most, rows.top, rows.top_beside])
        of_row = sparse.csr_array((np.bincount(self.row_of, self.count), (self.lots[1], np.arange(rows.type.size))))
        open_ended = (of_row @ (top >= ANY)) > 0
        low, top = of_row @ low, of_row @ np.minimum(top, self.instance.n_workers)
        t, h = np.nonzero((low > 0) | ~open_ended)
        at, g = np.nonzero(member[h])
        matrix = sparse.csc_array((np.ones(at.size), (at, t[at] * groups + g)), shape=(t.size, lots * groups))
        return masters.Side(matrix, low[t, h], np.where(open_ended, np.inf, top)[t, h])

    def _ties(self) -> sparse.csc_array:
        """What labels take from the coupling rows, (rows, L G)."""
        coupling, rows, groups = self.coupling, self.rows, self.room.size
        types, count = self.lots[0], self.lots[0].size
        parts = [sparse.kron(np.ones((1, count)), sparse.eye_array(groups), format="csr")]
        parts += [sparse.csr_array(np.tile(weight, count)[None]) for weight in coupling.weight]
        if coupling.owns:
            row, kind, place, coefficient = coupling.own
            order = np.argsort(types, kind="stable")
            begin, end = (np.searchsorted(types[order], kind, side=side) for side in ("left", "right"))
            entry = np.repeat(np.arange(kind.size), end - begin)
            lot = order[begin[entry] + np.arange(entry.size) - np.cumsum(end - begin)[entry] + (end - begin)[entry]]
            where = row[entry], lot * groups + place[entry]
            parts.append(sparse.csr_array((coefficient[entry], where), shape=(coupling.owns, count * groups)))
        if coupling.has_budget:
            parts.append(sparse.csr_array(rows.cost[types].reshape(1, -1)))
        return sparse.csc_array(sparse.vstack(parts, format="csc"))

    def part(self, kinds: Ints, share: float) -> Problem:
        """Some of the kinds, ascending, with a share of what ties tasks: for prices alone."""
        row, place = np.unique(self.row_of[kinds], return_inverse=True)
        rows = self.rows
        fields = {name: getattr(rows, name)[row] for name in ("type", "fewest", "most", "low", "top", "free")}
        beside = {name: getattr(rows, name)[row] for name in ("low_beside", "top_beside")}
        shut = parts_of(rows.shut_at, row, rows.shut, rows.shut_left)
        at = np.searchsorted(place, np.arange(row.size + 1))
        mine = rows._replace(**fields, **beside, shut_at=shut[0], shut=shut[1], shut_left=shut[2])
        coupling = replace(
            self.coupling, rows=mine, lower=share * self.coupling.lower, upper=share * self.coupling.upper
        )
        return replace(
            self,
            room=np.floor(share * self.room).astype(np.int64),
            rows=mine,
            kinds=Kinds(at, self.kinds.need[kinds], *self.bars_of(kinds)),
            count=self.count[kinds],
            row_of=place,
            target=self.target[kinds],
            votes=None,
            coupling=coupling,
            short=None if self.short is None else self.short[kinds],
        )

    def bars_of(self, kinds: Ints) -> tuple[Ints, Ints, Ints]:
        """Classes of whom some are barred to kinds, as Kinds has them."""
        return parts_of(self.kinds.bar_at, kinds, self.kinds.bar, self.kinds.bar_left)

    def pairs(self, task: Ints, label: Ints, rung: Bools) -> tuple[Ints, Ints]:
        """Labels of classes as sorted pairs of the instance, with the fixed ones; tasks for which nobody is left."""
        members, many = np.argsort(self.worker_class, kind="stable"), self.worker_class.size
        lost = np.zeros(0, np.int64)
        if members.size == self.rows.size.size:
            key = task * many + members[label]
        else:
            worker = self._seated(task, label, members, rung)
            lost, found = np.unique(task[worker < 0]), worker >= 0
            key = task[found] * many + worker[found]
        key = np.concatenate([key, self.instance.pair_keys(self.instance.fixed)])
        key.sort()
        return np.column_stack(np.divmod(key, many)), lost

    def _seated(self, task: Ints, label: Ints, members: Ints, rung: Bools) -> Ints:
        """The worker of each label, by turns in a class whose workers are all alike; -1: nobody is left."""
        from crowdopt.assign.state_kernels import seat

        instance, room, least = self.instance, self.each_room.copy(), self.each_least.copy()
        barred = np.concatenate([instance.barred, instance.fixed])
        bar_at, bar = _by_owner(barred[:, 0], barred[:, 1], instance.n_tasks)
        times = np.zeros(self.tasks, np.int64)
        worker, first = np.empty(task.size, np.int64), np.append(0, np.cumsum(self.rows.size))
        order = np.argsort(label, kind="stable")
        ends = np.searchsorted(label[order], np.arange(self.rows.size.size + 1))
        for g in range(self.rows.size.size):
            mine, who = order[ends[g] : ends[g + 1]], members[first[g] : first[g + 1]]
            tasks = task[mine]
            if not mine.size or who.size == 1:
                worker[mine] = who[0]
                continue
            np.add.at(times, tasks, 1)
            mine = mine[np.lexsort((tasks, bar_at[tasks] - bar_at[tasks + 1], -times[tasks]))]
            times[tasks] = 0
            if np.ptp(room[who]) == 0 and np.ptp(least[who]) == 0 and not self._has_bars(who, barred):
                worker[mine] = who[np.arange(mine.size) % who.size]
            else:
                worker[mine] = seat(task[mine], who, room, least, bar_at, bar, rung)
        return worker

    def _has_bars(self, who: Ints, barred: Ints) -> bool:
        return bool(np.isin(barred[:, 1], who).any())


def up_to(most: Ints) -> Ints:
    """All whole numbers of times from none to so many of each, a row for each choice."""
    some = np.flatnonzero(most)
    times = np.zeros((int(np.prod(most + 1)), most.size), np.int64)
    if some.size:
        times[:, some] = np.stack(np.unravel_index(np.arange(len(times)), most[some] + 1), axis=1)
    return times


def problem_of(instance: AssignmentInstance, params: ProblemParams = ProblemParams()) -> Problem:
    """Rows, kinds and coupling of an instance whose rule promises something of each task."""
    n, m, fixed, own = instance.n_tasks, instance.n_workers, instance.fixed, instance.own_rows
    by_votes = instance.the_rule.checked
    skill = [instance.accuracy] if by_votes and instance.classes > 2 else []  # evidence does not tell them apart
    task_type = alike(instance.evidence, instance.cost, *skill)[0][instance.task_type]
    if own is not None:
        signed = same_entries(n, own.pairs[:, 0], own.pairs[:, 1], own.row, own.coefficient)
        task_type = alike(task_type, signed)[0]
    types, first_task = np.unique(task_type, return_index=True)
    given = np.bincount(fixed[:, 0], minlength=n)
    load = np.bincount(fixed[:, 1], minlength=m)
    room = np.maximum(0, np.minimum(instance.capacity - load, n))
    least = np.maximum(0, instance.min_load - load)
    inside = membership(instance)
    limited, low, top = task_limits(instance)
    of_fixed = np.array([np.bincount(fixed[inside[g, fixed[:, 1]], 0], minlength=n) for g in limited], np.int64)
    of_fixed = of_fixed.reshape(len(limited), n)
    low = np.maximum(0, low - of_fixed)
    top = np.where(top == UNBOUNDED, ANY, np.maximum(0, top - of_fixed))

    barred = np.concatenate([instance.barred, fixed])
    alone = np.arange(1, m + 1) if params.apart else np.zeros(m, np.int64)
    if own is not None:
        alone[own.pairs[:, 1]] = 1 + own.pairs[:, 1]
    tied = inside[[group.has_limits for group in instance.groups]].T
    told_by = same_entries(m, barred[:, 1], barred[:, 0]) if n * m <= params.few else alone
    each = instance.evidence.T, instance.cost.T, *(one.T for one in skill)
    worker_class, _ = alike(*each, room > 0, alone, told_by, tied)
    # of few, or with few classes in all, loads are heeded; else only as workers are seated
    exact, _ = alike(worker_class, least, room)
    enough = params.enough if exact.max(initial=0) >= params.told else m + 1
    told_apart = np.bincount(worker_class)[worker_class] < enough
    worker_class, worker = alike(worker_class, np.where(told_apart, exact, 0))
    size = np.bincount(worker_class)

    fewest, most = instance.new_label_limits
    fewest = np.maximum(0, fewest - given)
    most = np.where(most >= UNLIMITED, ANY, np.maximum(0, most - given))
    of_task, of_class, times = _counted(barred[:, 0], worker_class[barred[:, 1]], size.size)
    few = size[of_class] - times
    told = few < np.minimum(size[of_class], params.left)  # else bars are heeded as workers are seated
    of_task, of_class, few = of_task[told], of_class[told], few[told]
    signs = same_entries(n, of_task, of_class, few)
    shared = 4 * int(signs.max(initial=0)) <= n or of_task.size * 10 > n * size.size or n * m <= params.few
    apart, over = _apart(inside[limited], low)
    own_bars = np.zeros(n, np.int64) if shared else signs
    key: list[NDArray[Any]] = [task_type, fewest, most, low.T, top.T, signs if shared else own_bars[:0]]
    given_labels = fixed
    if by_votes:
        given_labels = np.concatenate([instance.collected[: 0 if instance.observed else None], fixed])
        same = alike(instance.evidence.T, *(one.T for one in skill))[0]
        prior = -np.sort(-np.broadcast_to(instance.prior, (n, instance.classes)), axis=1)
        heard = same_entries(n, given_labels[:, 0], same[given_labels[:, 1]])
        key += [prior, np.broadcast_to(instance.demand, n), heard]
    row_of_task, first = alike(*(column for column in key if column.size))
    supply = instance.supply(fixed)
    floor = np.maximum(0.0, instance.floor - supply)
    target = np.maximum(0.0, np.maximum(0.0, instance.residual_need - supply) - COVERAGE / 2)
    hard = floor
    if by_votes:
        floor = np.maximum(0.0, np.maximum(0.0, instance.residual_need - supply) - SPARE)
        hard = target = hardness(instance.epsilon + CERTAIN)
    order = np.lexsort((own_bars, hard, row_of_task))
    new = np.any([np.diff(column[order], prepend=-1.0) != 0 for column in (own_bars, hard, row_of_task)], axis=0)
    kind_of = np.empty(n, np.int64)
    kind_of[order] = np.cumsum(new) - 1
    head = order[new]
    bars = _by_owner(of_task, of_class, n, few)
    none = np.zeros(0, np.int64)
    shut = parts_of(bars[0], first, *bars[1:]) if shared else (np.zeros(first.size + 1, np.int64), none, none)
    bar = (np.zeros(head.size + 1, np.int64), none, none) if shared else parts_of(bars[0], head, *bars[1:])
    group = np.full(worker.size, len(apart), np.int64)
    for a, g in enumerate(apart):
        group[inside[limited[g], worker]] = a
    some = np.append(low[apart][:, first], np.zeros((1, first.size), np.int64), axis=0).T
    tops = np.append(top[apart][:, first], np.full((1, first.size), ANY), axis=0).T
    free = (fewest[first] == 0) & (most[first] >= ANY)
    free &= (low[:, first] == 0).all(axis=0) & (top[:, first] >= ANY).all(axis=0)
    kinds_of_type = instance.task_type[first_task]
    evidence = instance.evidence[kinds_of_type][:, worker]
    if skill:
        evidence = EXACT_ERROR.evidence(skills(instance, worker, kinds_of_type, True)[0], int(instance.classes))
    rows = Rows(
        type=task_type[first]
        if types.size == task_type.max(initial=0) + 1
        else np.searchsorted(types, task_type[first]),
        fewest=fewest[first],
        most=most[first],
        low=np.ascontiguousarray(some),
        top=np.ascontiguousarray(tops),
        group=group,
        member=np.ascontiguousarray(inside[[limited[g] for g in over]][:, worker]).reshape(len(over), worker.size),
        proven=bounds_know_overlaps(instance),
        low_beside=np.ascontiguousarray(low[over][:, first].T),
        top_beside=np.ascontiguousarray(top[over][:, first].T),
        worth=np.ascontiguousarray(evidence),
        cost=np.ascontiguousarray(instance.cost[kinds_of_type][:, worker]),
        size=size,
        shut_at=shut[0],
        shut=shut[1],
        shut_left=shut[2],
        free=free,
    )
    row_of = row_of_task[head]
    kinds = Kinds(np.searchsorted(row_of, np.arange(first.size + 1)), floor[head], *bar)
    paid = float(instance.prices(fixed).sum())
    loads = np.maximum(0, instance.capacity - load), least
    most_load, least_load = (np.bincount(worker_class, side).astype(np.int64) for side in loads)
    known = most_load, least_load, inside[:, worker]
    targets = np.full(head.size, -np.inf)
    np.maximum.at(targets, kind_of, target)
    return Problem(
        instance=instance,
        rows=rows,
        kinds=kinds,
        count=np.bincount(kind_of),
        row_of=row_of,
        kind_of=kind_of,
        target=targets,
        votes=votes_of(instance, first, head, kinds_of_type, worker, given_labels) if by_votes else None,
        worker_class=worker_class,
        each_room=room,
        each_least=least,
        room=np.bincount(worker_class, room).astype(np.int64),
        coupling=_coupling(instance, rows, known, (task_type, worker_class, paid)),
        constant=paid,
        params=params,
    )


def _coupling(
    instance: AssignmentInstance, rows: Rows, known: tuple[Ints, Ints, Bools], of: tuple[Ints, Ints, float]
) -> Coupling:
    (room, least, member), (task_type, worker_class, paid) = known, of
    had, fixed, own = labels_had(instance).sum(axis=1), instance.fixed, instance.own_rows
    lower, upper = [np.where(least > 0, least, -np.inf)], [room.astype(np.float64)]
    weight, inside = [np.zeros((0, room.size))], membership(instance)
    for name, share, bound in shares_of(instance):
        of_fixed = inside[bound][:, fixed[:, 1]].sum(axis=1)
        side = share * (len(instance.collected) + len(fixed)) - had[bound] - of_fixed
        weight.append(member[bound].astype(np.float64) - share[:, None])
        lower.append(np.full(len(bound), -np.inf) if name == "most_share" else side)
        upper.append(side if name == "most_share" else np.full(len(bound), np.inf))
    none = np.zeros(0, np.int64)
    entries: tuple[Ints, Ints, Ints, Floats] = (none, none, none, np.zeros(0))
    owns = 0 if own is None else len(own.names)
    if own is not None:
        at = sparse.csr_array((np.ones(len(fixed)), fixed.T), shape=(instance.n_tasks, instance.n_workers))
        taken = np.asarray(at[own.pairs[:, 0], own.pairs[:, 1]]).reshape(-1)
        known_side = np.bincount(own.row, own.coefficient * taken, owns)
        lower.append(own.lower - known_side)
        upper.append(own.upper - known_side)
        first = np.zeros(instance.n_tasks, bool)
        first[np.unique(task_type, return_index=True)[1]] = True
        one = first[own.pairs[:, 0]]
        kind, label = task_type[own.pairs[one, 0]], worker_class[own.pairs[one, 1]]
        entries = own.row[one], kind, label, own.coefficient[one]
    if instance.budget is not None:
        lower.append(np.array([-np.inf]))
        upper.append(np.array([float(instance.budget) - paid]))
    sides = np.concatenate(lower), np.concatenate(upper)
    return Coupling(rows, np.vstack(weight), entries, owns, instance.budget is not None, *sides)


def _apart(member: Bools, low: Ints) -> tuple[list[int], list[int]]:
    """Groups that share nobody, those of which tasks need labels first; and the others."""
    apart: list[int] = []
    taken = np.zeros(member.shape[1], bool)
    for k in np.argsort(~low.any(axis=1), kind="stable").tolist():
        if not (taken & member[k]).any():
            apart.append(k)
            taken |= member[k]
    return apart, [k for k in range(len(member)) if k not in apart]


def _counted(owner: Ints, what: Ints, kinds: int) -> tuple[Ints, Ints, Ints]:
    """Each owner's each thing, and how often it has it."""
    key, times = np.unique(owner * kinds + what, return_counts=True)
    owners, things = np.divmod(key, kinds)
    return owners, things, times


def _by_owner(owner: Ints, what: Ints, owners: int, *beside: Ints) -> tuple[Ints, ...]:
    """Where each owner's things begin, the things, one owner after another, and what belongs to them."""
    order = np.lexsort((what, owner))
    return np.append(0, np.cumsum(np.bincount(owner, minlength=owners))), what[order], *(one[order] for one in beside)
