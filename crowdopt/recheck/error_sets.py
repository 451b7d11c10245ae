"""The cheapest set of labels of each task by exact errors and within all limits of one task, found anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import CLIP
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN

if TYPE_CHECKING:
    from crowdopt.recheck.error_kernels import CountNodes, LabelMenu, SearchRoom, WorkerCells

ALLOWED = 1.001 * CERTAIN  # error above a target: as much as plans may have, and a hair for rounding
WIDEST = 100  # labels of a set that is looked at; larger ones are only bounded
WORK, LEAST_WORK = 10_000_000_000, 10_000_000  # chances looked at for all tasks; for each that differs, at least
CASES = 1 << 14  # combinations of answers that are told apart; beyond, skills are raised until they are so few
NODES, CELLS, PLACES = 400_000, 20_000, 4_000_000  # of a search
ROWS = 4_000_000  # numbers in a law of answers
ROUNDED = 2e-9  # evidence; how short of its need a planned task may be, and rounding
GIVEN = 1 << 10  # combinations of answers of labels already in that are told apart


class Search(NamedTuple):
    """What sets are looked for with."""

    wrong: float = 0.0  # what an error costs
    cases: int = CASES
    work: int = WORK  # chances looked at, at most


@dataclass(frozen=True, eq=False)
class TaskLimits:
    """What a task asks of its new labels, beside its target."""

    member: Bools  # (groups, workers): groups that share nobody
    # fewest and most labels, in all and of each group
    low: Ints  # (1 + groups,)
    high: Ints  # (1 + groups,)
    barred: tuple[int, ...]  # workers the task may not have
    forced: tuple[int, ...]  # those it must have
    held: tuple[int, ...]  # those whose labels count that are in


@dataclass(frozen=True, eq=False)
class TypeSkills:
    """Skills of the workers for one type of task, and what is left of them where tasks are hard."""

    had: Floats  # (workers,): chance that a label which every set has is right
    own: Floats  # (workers,): what they know at most
    able: Bools  # (workers,): who may have another task
    worth: Callable[[Floats], Floats]  # evidence of labels of such skills
    classes: int
    share: float  # chance that a task is hard
    left: float  # the edge over guessing that is left there

    @classmethod
    def of(cls, instance: AssignmentInstance, kind: int) -> TypeSkills:
        """The skills for a type."""
        own, able, had = known_skills(instance, kind), instance.capacity > 0, instance.accuracy[kind]
        had = own if instance.classes == 2 else np.where(had * instance.classes < 1, np.maximum(had, CLIP), own)
        hard = instance.difficulty

        def worth(skill: Floats) -> Floats:
            return instance.the_rule.evidence(skill, instance.classes)

        return cls(had, own, able, worth, instance.classes, hard.share, hard.left if hard.share else 1.0)

    def branches(self, skill: Floats) -> Floats:
        """These skills on easy tasks and on hard ones, (branches, k)."""
        hard = 0.5 + self.left * (skill - 0.5)
        return np.stack([skill, hard]) if self.share else skill[None]

    def odds(self, skill: Floats) -> Floats:
        """Log-odds against a guess."""
        return np.log(skill) - np.log1p(-skill)


def known_skills(instance: AssignmentInstance, kind: int) -> Floats:
    """What each worker knows of a type, as a chance of at least 1/K to be right; kind: the type; -> (workers,)."""
    p, guess = instance.accuracy[kind], 1 / instance.classes
    turned = 1 - (instance.classes - 1) * p  # whoever names another class than such a worker's knows no more
    best = np.where(p < guess, turned, p) if instance.classes > 2 else np.maximum(p, 1 - p)
    return np.where(instance.evidence[kind] > 0, np.minimum(best, 1 - CLIP), guess)


def least_by_error(
    instance: AssignmentInstance, prices: Floats, row_of: Ints, limits: list[TaskLimits], how: Search
) -> Floats:
    """The least set of each task; tasks that differ in their targets alone are solved together, equal ones once.

    Where the rule promises something of the average alone each task may err as it likes, at the price of an error.

    prices (rows, workers): of labels, of any sign; row_of (tasks,): the row of each task; tasks of a row are of one
    type; -> (tasks,): lower bounds; infinite where no set will do.
    """
    together: dict[tuple[object, ...], list[int]] = {}
    demand = np.broadcast_to(instance.demand, instance.n_tasks)
    prior = np.sort(np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes)), axis=1)
    for task, row in enumerate(row_of.tolist()):
        one = limits[task]
        own = one.low.tobytes(), one.high.tobytes(), one.barred, one.forced, one.held, float(demand[task])
        together.setdefault((row, prior[task].tobytes(), *own), []).append(task)
    rule = instance.the_rule
    asks = not rule.average and (rule.name != EXACT_ERROR.name or (demand > 1).any())  # a vote may do without evidence
    target = np.ones(instance.n_tasks) if rule.average else instance.epsilon
    lack = instance.residual_need - ROUNDED if asks else np.full(instance.n_tasks, -np.inf)
    skills = [TypeSkills.of(instance, kind) for kind in range(instance.n_types)]
    how = how._replace(work=max(LEAST_WORK, how.work // len(together)))
    least = np.empty(instance.n_tasks)

    def solve(tasks: list[int]) -> None:
        first, kind = tasks[0], int(instance.task_type[tasks[0]])
        targets, of, which = np.unique(-target[tasks], return_index=True, return_inverse=True)
        allowed = ALLOWED - targets, lack[tasks][of]
        found = least_of(skills[kind], prices[row_of[first]], limits[first], prior[first], allowed, how)
        least[tasks] = found[which.reshape(-1)]

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # each by itself, so that threads change nothing
        for _ in pool.map(solve, together.values()):
            pass
    return least


def least_of(
    skills: TypeSkills,
    price: Floats,
    limits: TaskLimits,
    prior: Floats,
    asked: tuple[Floats, Floats],
    how: Search,
) -> Floats:
    """A lower bound on what the cheapest set costs with which the best vote errs no more than each target.

    price (workers,): of any sign; prior (K,); asked (targets,): targets, the largest first, and the evidence that new
    labels must have for each; work: chances looked at, at most; -> (targets,): infinite where no set will do.
    """
    targets, needs = asked
    given = list(limits.forced)
    inside = np.vstack([np.ones((1, price.size), bool), limits.member])
    group = np.vstack([limits.member, np.ones((1, price.size), bool)]).argmax(axis=0)
    free, unaware = skills.able.copy(), bool(skills.share)
    free[[*limits.barred, *given]] = False
    room, had = inside[:, free].sum(axis=1), inside[:, given].sum(axis=1)
    low, high = np.maximum(limits.low - had, 0), limits.high - had
    if (high < 0).any() or (low > np.minimum(room, high)).any():
        return np.full(targets.size, np.inf)
    if high[0] >= room[0]:  # nothing stops labels that cost less than nothing, but for groups with a most
        taken = free & (price < 0) & np.append(high[1:] >= room[1:], True)[group]
        given, free = given + np.flatnonzero(taken).tolist(), free & ~taken
        unaware &= not taken.any()  # such a vote may err more for a label more
        low, room = np.maximum(low - inside[:, taken].sum(axis=1), 0), inside[:, free].sum(axis=1)
    start, whole = _law(skills, [*limits.held, *given], prior)
    unaware &= whole
    needs = np.maximum.accumulate(needs - float(skills.worth(skills.own[given]).sum()))
    rules = group, low, np.where(high >= room, -1, high)
    found = _search(skills, price, np.flatnonzero(free), rules, start, (targets, needs, unaware), how)
    return float(price[given].sum()) + found


def _law(skills: TypeSkills, workers: list[int], prior: Floats) -> tuple[Floats, bool]:
    """Chances of what these workers' labels say together with each class, (branches, K, cases); zeros if too many.

    Exact where cases are few; else a worker who is mostly wrong counts as one who knows more, and skills are raised.

    -> with whether no skill was raised.
    """
    from crowdopt.recheck.answer_kernels import LONGEST, coarsened, laws

    share = np.array([1 - skills.share, skills.share] if skills.share else [1.0])
    start = share[:, None, None] * prior[:, None]
    for known in (skills.had[workers], skills.own[workers]):
        distinct, count = np.unique(-known[known != 1 / skills.classes], return_counts=True)
        distinct, level, count = -distinct, np.arange(distinct.size), count.astype(np.int64)
        size = coarsened(skills.odds(distinct), skills.classes, GIVEN, level, count, distinct.size)
        if size == distinct.size:
            break
    if not distinct.size:
        return start, True
    if size < 0 or count[:size].max() > LONGEST:
        return 0 * start, False
    rooms = np.empty((2, skills.classes, GIVEN))
    each = []
    for one, skill in zip(start, skills.branches(distinct), strict=True):
        law, cases = laws(one, skill, level, count, size, *rooms)
        each.append(law[:, :cases].copy())
    return np.stack(each), size == distinct.size


def _search(
    skills: TypeSkills,
    price: Floats,
    free: Ints,
    rules: tuple[Ints, Ints, Ints],
    start: Floats,
    allowed: tuple[Floats, Floats, bool],
    how: Search,
) -> Floats:
    from crowdopt.recheck.error_kernels import LabelMenu, SetQuestion, cheapest

    (group, low, high), (targets, needs, unaware) = rules, allowed
    fewest = max(int(low[0]), int(low[1:].sum()))
    size = np.bincount(group[free], minlength=low.size)  # the last one: of no group
    open_ = np.append(high[1:], -1)
    most = int(np.where(open_ < 0, size, np.minimum(open_, size)).sum())
    most = most if high[0] < 0 else min(most, int(high[0]))
    if fewest > most:
        return np.full(targets.size, np.inf)
    distinct, level = np.unique(-skills.own[free], return_inverse=True)
    order = np.lexsort((level.reshape(-1), price[free]))
    paid = price[free][order]
    labels = LabelMenu(
        paid,
        level.reshape(-1)[order],
        group[free][order],
        skills.branches(-distinct),
        skills.odds(-distinct),
        skills.worth(-distinct),
        start,
        np.append(low[1:], 0),
        np.append(high[1:], -1),
        np.flatnonzero(low[1:]),
    )
    sums = np.append(np.append(0.0, np.cumsum(paid))[fewest : most + 1], np.inf)
    ahead = np.minimum.accumulate(sums[::-1])[::-1]
    sizes = min(ahead.size - 1, max(1, WIDEST + 1 - fewest))
    value = np.empty(targets.size)
    asked = SetQuestion(targets, needs, fewest, ahead[: sizes + 1].copy(), how.work, how.wrong, unaware)
    cheapest(labels, *_rooms(labels, fewest + sizes - 1, how.cases), asked, value)
    return value


def _rooms(labels: LabelMenu, wide: int, cases: int) -> tuple[WorkerCells, CountNodes, SearchRoom]:
    from crowdopt.recheck.answer_kernels import Scratch
    from crowdopt.recheck.error_kernels import SLOTS, CountNodes, SearchRoom, WorkerCells

    wide, many, classes = max(1, wide), labels.price.size, labels.start.shape[1]
    cells, rows = min(CELLS, PLACES // wide), min(cases, max(1, ROWS // classes))

    def whole(*shape: int) -> Ints:
        return np.empty(shape, np.int64)

    def small(*shape: int) -> Ints:
        return np.empty(shape, np.int32)

    made = WorkerCells(
        used=np.zeros(3, np.int64),
        items=small(PLACES),
        start=whole(cells),
        size=whole(cells),
        top=whole(cells),
        bottom=whole(cells),
        only=whole(cells),
        sums=np.empty((cells, wide + 1)),
        picks=small(cells, wide),
        many=whole(cells),
        tops=small(cells, wide),
        has=small(cells, labels.asking.size),
        above=whole(cells),
        below=whole(cells),
        first=whole(cells),
        cuts=whole(cells, 4),
    )
    nodes = CountNodes(
        used=np.zeros(3, np.int64),
        bound=np.empty(NODES),
        error=np.empty(NODES),
        width=whole(NODES),
        cell=small(NODES, SLOTS),
        amount=small(NODES, SLOTS),
        heap=whole(NODES),
        spare=whole(NODES),
        weighed=small(NODES),
    )
    room = SearchRoom(
        level=whole(wide + 1),
        amount=whole(wide + 1),
        some=whole(max(1, many)),
        had=np.zeros(labels.low.size, np.int64),
        fresh=whole(wide + 1),
        scratch=Scratch(np.empty((classes, rows)), np.empty((classes, rows)), np.zeros(1, np.int64)),
    )
    return made, nodes, room
