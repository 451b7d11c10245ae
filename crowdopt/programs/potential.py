"""The best potential over beliefs: how many labels any policy needs, causal or not, for a mean error.

A task's belief is the chance that it is of class 1, given everything seen; a label of a worker of known accuracy p
moves it by Bayes' rule. A *potential* V says how far a task at a belief is from done. If no label can lower it by
more than c(p) in expectation, then one who wants to be done needs labels whose c adds up to the potential they start
with: that bounds every policy, however clever (crowdopt.online.limits).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import refuse_joint_limits
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.errors import InputError

FEWEST, ENTRIES = 48, 3840  # knots at least; knots times levels, about
FARTHEST = 9.0  # log-odds of the last knot before certainty
KNOTS = 160  # at most
MOST = 1e5  # what a wrong answer may cost at most, in units of the highest price


def grid(knots: int) -> Floats:
    """Beliefs from 1/2 to 1, (knots,), evenly spaced in log-odds but for the last one, which is certainty."""
    return np.append(1 / (1 + np.exp(-np.linspace(0.0, FARTHEST, knots - 1))), 1.0)


@dataclass(frozen=True, eq=False)
class Potential:
    """``V(b)``, linear between knots, and ``V(b) = V(1 - b)``."""

    knots: Floats  # (k,): beliefs, ascending, from 1/2 to 1
    value: Floats  # (k,): V there

    def at(self, belief: ArrayLike) -> Floats:
        """V of beliefs of any shape."""
        b = np.asarray(belief, dtype=np.float64)
        return np.interp(np.maximum(b, 1 - b), self.knots, self.value)

    def most_gained(self, accuracy: ArrayLike) -> Floats:
        """``c(p) = max over b of V(b) - E_p V(b')``: the most that one label lowers the potential in expectation.

        Exact over all beliefs: between two neighbours of :func:`turning_points` the difference is linear.

        accuracy: p, of any shape; p and 1 - p tell equally much.
        """
        p = np.asarray(accuracy, dtype=np.float64)
        distinct, place = np.unique(np.maximum(p, 1 - p), return_inverse=True)
        best = np.zeros(distinct.size)
        for k, one in enumerate(distinct.tolist()):
            before, chance, right, wrong = turning_points(self.knots, one)
            lowered = self.at(before) - chance * self.at(right) - (1 - chance) * self.at(wrong)
            best[k] = max(0.0, lowered.max())
        return best[place.reshape(-1)].reshape(p.shape)


def turning_points(knots: Floats, p: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Beliefs of at least 1/2 where ``V(b) - E_p V(b')`` may turn, for a potential with these knots.

    ``E_p V(b')`` is a sum of ``P(label) V(b')``, and ``P(label) (a + d b')`` is linear in b: it turns only where b or
    one of the two b' is a knot, or the mirror image of one.

    knots (m,): ascending beliefs from 1/2 to 1; p: at least 1/2; -> (k,) each: b, ascending, the knots among them; the
    chance that a label speaks for class 1; b' after it does, and after it speaks against.
    """
    b = knots
    if 0.5 < p < 1:
        inner, factor = knots[knots < 1] / (1 - knots[knots < 1]), p / (1 - p)
        turning = np.concatenate([inner / factor, inner * factor, factor / inner])
        turning = turning[turning >= 1]
        b = np.unique(np.concatenate([knots, turning / (1 + turning)]))
    says = b * p + (1 - b) * (1 - p)
    wrong = np.divide(b * (1 - p), 1 - says, out=np.ones(b.size), where=says < 1)
    return b, says, b * p / says, wrong


def reading(knots: Floats, belief: Floats, weight: Floats) -> sparse.csr_array:
    """The matrix that takes values at the knots to ``weight * V(belief)``, one row per belief.

    knots (m,): ascending beliefs; belief, weight (k,): where V is read, and what it is multiplied by; -> (k, m) sparse
    array.
    """
    folded = np.maximum(belief, 1 - belief)
    left = np.minimum(np.searchsorted(knots, folded, side="right") - 1, knots.size - 2)
    share = (folded - knots[left]) / (knots[left + 1] - knots[left])
    row = np.arange(belief.size)
    entries = np.concatenate([weight * (1 - share), weight * share])
    place = (np.concatenate([row, row]), np.concatenate([left, left + 1]))
    return sparse.csr_array((entries, place), shape=(belief.size, knots.size))


def steps(knots: Floats, p: float) -> sparse.csr_array:
    """The matrix that takes values at the knots to ``V(b) - E_p V(b')`` at every turning point b.

    knots (m,): ascending beliefs; -> (turning points, m) sparse array.
    """
    before, chance, right, wrong = turning_points(knots, max(p, 1 - p))
    lowered = reading(knots, before, np.ones(before.size)) - reading(knots, right, chance)
    return sparse.csr_array(lowered - reading(knots, wrong, 1 - chance))


def bending(knots: Floats) -> sparse.csr_array:
    """Rows that are at most 0 where V, mirrored at 1/2, is concave: neighbours' chord at each knot, less V.

    knots (m,): ascending beliefs; -> (m - 1, m) sparse array: a row for each knot but certainty.
    """
    before = np.concatenate([[1 - knots[1]], knots[:-2]])  # the first knot's other neighbour is its mirror image
    wide = knots[1:] - before
    left, right = (knots[1:] - knots[:-1]) / wide, (knots[:-1] - before) / wide
    right[0] += left[0]
    parts = [left[1:], np.full(left.size, -1.0), right]
    return sparse.csr_array(sparse.diags_array(parts, offsets=[-1, 0, 1], shape=(left.size, knots.size)))


@dataclass(frozen=True, eq=False)
class ErrorTarget:
    """Tasks of which so many may be answered wrongly, and kinds of labels that could be had."""

    knots: Floats  # (k,): where potentials may bend
    # number of tasks of each type at each knot, a task between two knots shared out between them
    start: Floats  # (types, k)
    errors: float  # the most wrong answers, in expectation: the sum of the error targets
    # kinds of labels: on tasks of which type, right how often
    level_type: Ints  # (levels,)
    level_accuracy: Floats  # (levels,)
    price: float  # the highest price of a label

    @property
    def types(self) -> int:
        """Types of task, T."""
        return int(self.start.shape[0])


@dataclass(frozen=True, eq=False)
class Rules:
    """What workers may do: each rule is one way in which a worker of a group may spend their time."""

    size: Ints  # (groups,): workers in each group
    group: Ints  # (rules,)
    labels: Floats  # (rules, levels): labels of each kind that a rule expects of a worker
    paid: Floats  # (rules,): what they cost

    def with_more(self, others: Rules) -> Rules:
        """These rules and others of the same groups."""
        group, labels = np.concatenate([self.group, others.group]), np.concatenate([self.labels, others.labels])
        return Rules(self.size, group, labels, np.concatenate([self.paid, others.paid]))


def of_rules(target: ErrorTarget, rules: Rules) -> Program:
    """``max  sum_i V(b_i) - mu sum_i eps_i - sum_g s_g w_g`` as a minimum, subject to

    ``V(b) - E_p V(b') <= c_p`` at every belief, ``V(b) <= mu min(b, 1 - b)``, ``w_g >= sum_p N_rp c_p - paid_r``,
    V concave.

    For whatever a policy does, ``sum_i V(b_i)`` falls from its start to at most ``mu`` times the expected number of
    wrong answers, by at most ``c`` per label; workers' labels bring at most ``w`` more than they cost. So every point
    bounds the cost from below, if all rules are there that a worker could follow; with some missing, the point's
    potential has to be held against those (crowdopt.online.limits does). V is linear between knots,
    symmetric, and one for each type; ``steps`` has the beliefs at which the first rows can be tight, so they hold at
    all others.
    The best V is concave anyway; asking for it makes c grow with skill, so that rows for p hold for less skill.

    Columns: ``potential`` (T, knots), ``mu`` (1,), ``gain`` (levels,), ``earn`` (groups,).
    Rows: ``step`` (beliefs,), ``stop`` (T, knots), ``bend`` (T, knots - 1), ``rule`` (rules,).
    """
    width, levels, groups = target.start.size, target.level_type.size, rules.size.size
    # rows of V(b) - E_p V(b') in the columns of the level's type
    moves = [
        sparse.kron(np.eye(target.types)[[kind]], steps(target.knots, p), format="csr")
        for kind, p in zip(target.level_type.tolist(), target.level_accuracy.tolist(), strict=True)
    ]
    each = np.repeat(np.arange(levels), [part.shape[0] for part in moves])
    gained = sparse.csr_array((np.ones(each.size), (np.arange(each.size), each)), shape=(each.size, levels))
    error = np.tile(1 - target.knots, target.types)[:, None]
    bends = sparse.block_diag([bending(target.knots)] * target.types, format="csr")
    # w_g stands in the row of each rule of its group
    earning = np.zeros((rules.group.size, groups))
    earning[np.arange(rules.group.size), rules.group] = 1.0
    matrix = sparse.block_array(
        [
            [sparse.vstack(moves), None, -gained, None],
            [sparse.eye_array(width), sparse.csr_array(-error), None, None],
            [bends, None, None, None],
            [None, None, sparse.csr_array(-rules.labels), sparse.csr_array(earning)],
        ],
        format="csc",
    )
    columns = stack([("potential", target.start.shape), ("mu", (1,)), ("gain", (levels,)), ("earn", (groups,))])
    parts = [("step", (each.size,)), ("stop", target.start.shape), ("bend", (target.types, target.knots.size - 1))]
    rows = stack([*parts, ("rule", (rules.group.size,))])
    free = np.full(rows[-1].start, -np.inf)
    return Program(
        name="potential",
        cost=np.concatenate([-target.start.reshape(-1), [target.errors], np.zeros(levels), rules.size.astype(float)]),
        matrix=sparse.csc_array(matrix),
        row_lower=np.concatenate([free, -rules.paid]),
        row_upper=np.concatenate([np.zeros(free.size), np.full(rules.group.size, np.inf)]),
        lower=np.zeros(columns[-1].stop),
        upper=np.repeat(_box(target, rules), [block.size for block in columns]),
        integer=np.zeros(columns[-1].stop, bool),
        columns=columns,
        rows=rows,
    )


def _box(target: ErrorTarget, rules: Rules) -> list[float]:
    """The highest potential, mu, gain and earning: far beyond any that is of use, near enough for exact multipliers."""
    most = MOST * target.price
    return [most / 2, most, most / 2, most / 2 * float(rules.labels.sum(axis=1).max(initial=1.0))]


def error_target(instance: AssignmentInstance, most: int) -> tuple[ErrorTarget, Ints]:
    """The instance's tasks that need labels, its skills as about ``most`` levels, and each pair's level.

    Where there are more skills than levels a level is as good as its best: more than the crowd can do, so a bound
    stays one.

    instance: of two classes; most: levels of skill in all, about; -> level (types, workers): place of each pair's level
    in the target. Raises InputError for more than two classes, and for labels already in that the prior does not know.
    """
    refuse_joint_limits(instance, "a lower bound over beliefs", "it looks at one task at a time")
    if instance.classes != 2:
        raise InputError(
            f"lower bounds over beliefs are for 2 classes, not {instance.classes}: a belief among more is no single "
            "number that a potential could be drawn over; information alone bounds those too"
        )
    if instance.collected.size and not instance.observed:
        raise InputError("lower bounds over beliefs start from a prior; labels already in are not in it")
    accuracy = np.maximum(instance.accuracy, 1 - instance.accuracy)
    levels = [_levels(row, instance.capacity, max(3, most // instance.n_types)) for row in accuracy]
    sizes = [best.size for best, _ in levels]
    first = np.cumsum([0, *sizes[:-1]])
    knots = grid(min(KNOTS, max(FEWEST, ENTRIES // sum(sizes))))
    target = ErrorTarget(
        knots,
        _start(instance, knots),
        float(instance.epsilon[instance.need > COVERAGE].sum()),
        np.repeat(np.arange(instance.n_types), sizes),
        np.concatenate([best for best, _ in levels]),
        float(max(instance.cost.max(), 1e-3)),
    )
    return target, np.stack([place + offset for (_, place), offset in zip(levels, first, strict=True)])


def _start(instance: AssignmentInstance, knots: Floats) -> Floats:
    wanted = instance.need > COVERAGE
    belief = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[:, 1]
    start = np.zeros((instance.n_types, knots.size))
    for kind in range(instance.n_types):
        mine = wanted & (instance.task_type == kind)
        start[kind] = reading(knots, belief[mine], np.ones(int(mine.sum()))).sum(axis=0)
    return start


def _levels(accuracy: Floats, capacity: Ints, most: int) -> tuple[Floats, Ints]:
    """At most so many levels with equal shares of what the crowd could tell, each as good as its best."""
    distinct, place = np.unique(accuracy, return_inverse=True)
    if distinct.size <= most:
        return distinct, place
    told = np.bincount(place, weights=np.maximum(capacity, 1e-9)) * (2 * distinct - 1) ** 2
    share = np.cumsum(told) / told.sum()
    level = np.minimum((share * most * (1 - 1e-12)).astype(np.int64), most - 1)
    _, level = np.unique(level, return_inverse=True)
    best = np.zeros(int(level.max()) + 1)
    np.maximum.at(best, level, distinct)
    return best, level[place]


def alike(instance: AssignmentInstance, level: Ints) -> tuple[Ints, Ints]:
    """One worker of each group of equal levels, prices and capacity, and how many there are of them.

    level (types, workers): level of skill of each pair; -> worker, size (groups,).
    """
    key = np.vstack([level, instance.cost, instance.capacity])
    _, worker, size = np.unique(key, axis=1, return_index=True, return_counts=True)
    return worker.astype(np.int64), size.astype(np.int64)


def wanted_in(instance: AssignmentInstance) -> Ints:
    """Tasks of each type that need labels; -> (types,)."""
    wanted = instance.need > COVERAGE
    return np.bincount(instance.task_type[wanted], minlength=instance.n_types)


def rules_of(instance: AssignmentInstance, level: Ints, worker: Ints, amount: Floats, size: Ints) -> Rules:
    """The rules by which a worker of each group, represented by ``worker``, does ``amount`` (groups, types).

    level (types, workers): level of skill of each pair; worker (groups,): one worker of each group; amount (groups,
    types): labels that the rule expects of a worker; size (groups,): workers in each group; -> one for each group.
    """
    group, levels = np.arange(worker.size), int(level.max()) + 1
    labels = np.zeros((worker.size, levels))
    for kind in range(instance.n_types):
        labels[group, level[kind, worker]] += amount[:, kind]
    return Rules(size, group, labels, (amount * instance.cost[:, worker].T).sum(axis=1))


def everything(instance: AssignmentInstance, level: Ints) -> Rules:
    """Rules of workers of known skill who do all they can: one type first, then the others; a rule for each first type.

    level (types, workers): level of skill of each pair; -> one for each group and first type.
    """
    worker, size = alike(instance, level)
    wanted, rules = wanted_in(instance), []
    for first in range(instance.n_types):
        amount, room = np.zeros((worker.size, wanted.size)), instance.capacity[worker].astype(np.float64)
        for kind in np.roll(np.arange(wanted.size), -first).tolist():
            amount[:, kind] = np.minimum(room, wanted[kind])
            room -= amount[:, kind]
        rules.append(rules_of(instance, level, worker, amount, size))
    return reduce(Rules.with_more, rules)


def build(instance: AssignmentInstance, levels: int = 24) -> Program:
    """The program of an instance whose skills are known: the least labels of a policy that knows them beforehand.

    With one type of tasks the rules are all there are, and with at most ``levels`` different skills the bound is the
    crowd's own; see :func:`of_rules`.
    """
    target, level = error_target(instance, levels)
    return of_rules(target, everything(instance, level))
