"""The joint law of votes and classes, what a policy comes to under it, and the least price of a task, by recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance

ROUNDED = 1e-9  # relative; rounding of float64
Counts = tuple[tuple[int, ...], ...]  # votes of each asker for each class


@dataclass(frozen=True, eq=False)
class ToldLaw:
    """Tasks of one type of the plan: how votes fall, what they cost, which may be asked for."""

    prior: Floats  # (branches, classes)
    chance: Floats  # (branches, classes, askers, labels)
    price: Floats  # (askers,)
    members: Ints  # (askers,): how many workers each asker stands for; 0 where their votes tell nothing of these tasks
    barred: Bools  # (askers,)
    most: int  # labels of a task
    groups: tuple[tuple[tuple[int, ...], int], ...]  # askers of a group, and the most labels of theirs
    wanted: tuple[
        tuple[tuple[int, ...], int], ...
    ] = ()  # askers, and the fewest labels of theirs that a task must have
    surest: float = 1.0  # given the votes an answer may be wrong with this chance at most
    at_once: float | None = None  # an answer, or what is answered after a set, before its votes are seen; None: any

    def weight(self, votes: Counts) -> Floats:
        """P(these votes in one order, class), (classes,)."""
        told = self.prior.copy()
        for asker, labels in enumerate(votes):
            for label, number in enumerate(labels):
                for _ in range(number):
                    told = told * self.chance[:, :, asker, label]
        return np.asarray(told.sum(axis=0))

    def allows(self, number: Sequence[int], new: Sequence[int]) -> bool:
        """Whether a task may have so many votes of each asker, so many of them new: bars are about new ones."""
        within = all(count <= size for count, size in zip(number, self.members.tolist(), strict=True))
        is_open = not any(count and barred for count, barred in zip(new, self.barred.tolist(), strict=True))
        in_groups = all(sum(number[g] for g in some) <= limit for some, limit in self.groups)
        return within and is_open and sum(number) <= self.most and in_groups

    def is_enough(self, number: Sequence[int]) -> bool:
        """Whether so many votes of each asker are all that a task must have before it stops."""
        return all(sum(number[g] for g in some) >= least for some, least in self.wanted)

    def is_sure(self, wrong: Floats, whole: Floats) -> Bools:
        """Whether an answer is sure enough; whole: chance of the votes, wrong: of them and another class."""
        return np.asarray(wrong <= self.surest * whole * (1 + ROUNDED))

    def keeps_at_once(self, wrong: Floats | float, whole: Floats | float) -> Bools:
        """The same of what is wrong before the first votes are seen."""
        limit = np.inf if self.at_once is None else self.at_once * (1 + ROUNDED)
        return np.asarray((wrong <= limit * np.asarray(whole)) | (np.asarray(whole) <= 0))


def asks_for_labels(instance: AssignmentInstance) -> bool:
    """Whether a limit can ask for labels that tell nothing."""
    groups = any(one.max_share < 1 or one.min_share > 0 or one.min_per_task > 0 for one in instance.groups)
    pairs = len(instance.fixed) > 0 or instance.own_rows is not None
    return groups or pairs or bool((instance.min_labels > 0).any() or (instance.min_load > 0).any())


def _wanted(
    instance: AssignmentInstance, task: int, askers: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Askers and the fewest labels of theirs: of all, of a group, of those whose pair with the task is fixed."""
    fixed = set(instance.fixed[instance.fixed[:, 0] == task, 1].tolist())
    found = [(tuple(range(len(askers))), int(instance.min_labels[task]))]
    found += [((g,), sum(j in fixed for j in workers)) for g, workers in enumerate(askers)]
    for group in instance.groups:
        mine = tuple(g for g, workers in enumerate(askers) if workers[0] in group.members)
        found.append((mine, group.min_per_task))
    return tuple((some, least) for some, least in found if least > 0)


def _branches(instance: AssignmentInstance) -> list[float]:
    """Chance of each state that a task may be in: easy and hard, or those of the law of its votes."""
    if instance.vote_law is not None:
        return [float(part) for part in instance.vote_law.share]
    share = instance.difficulty.share
    return [1 - share, share] if share else [1.0]


def _right(instance: AssignmentInstance, kind: int, worker: int, branch: int) -> float:
    if instance.vote_law is not None:
        return float(instance.vote_law.accuracy[branch, worker])
    right = float(instance.accuracy[kind, worker])
    if not instance.difficulty.share:
        return right
    return 0.5 + (1.0, instance.difficulty.left)[branch] * (right - 0.5)


def _chances(instance: AssignmentInstance, kind: int, askers: Sequence[Sequence[int]], branch: int) -> Floats:
    """What each asker says of a task of the type in that state, (classes, askers, classes): true class first."""
    classes = int(instance.classes)
    chance = np.empty((classes, len(askers), classes))
    for g, workers in enumerate(askers):
        if instance.confusion is not None:
            chance[:, g] = instance.confusion[kind, workers[0]]
            continue
        right = _right(instance, kind, workers[0], branch)
        for true in range(classes):
            chance[true, g] = (1 - right) / (classes - 1)
            chance[true, g, true] = right
    return chance


def told_law(instance: AssignmentInstance, task: int, askers: Sequence[Sequence[int]]) -> ToldLaw:
    """The law of one task; askers: the workers that each stands for, who are alike."""
    kind = int(instance.task_type[task])
    prior = instance.prior if instance.prior.ndim == 1 else instance.prior[task]
    weights = _branches(instance)
    chance = np.stack([_chances(instance, kind, askers, branch) for branch in range(len(weights))])
    any_label = asks_for_labels(instance)
    telling = [any_label or (chance[:, :, g] != chance[:, :1, g]).any() for g in range(len(askers))]
    mine = set(instance.forbidden[instance.forbidden[:, 0] == task, 1].tolist())
    groups = tuple(
        (tuple(g for g, workers in enumerate(askers) if workers[0] in group.members), int(group.max_per_task))
        for group in instance.groups
        if group.max_per_task is not None
    )
    return ToldLaw(
        np.array([weight * prior for weight in weights]),
        chance,
        np.array([instance.cost[kind, workers[0]] for workers in askers]),
        np.array([len(workers) if tells else 0 for workers, tells in zip(askers, telling, strict=True)], np.int64),
        np.array([workers[0] in mine for workers in askers]),
        int(min(instance.max_labels[task], 2**62)),
        groups,
        _wanted(instance, task, askers),
    )


Number = tuple[int, ...]  # votes of each asker


@cache
def ways(votes: int, classes: int) -> tuple[tuple[int, ...], ...]:
    """Every way in which so many votes can fall: labels of each class."""
    every = combinations_with_replacement(range(classes), votes)
    return tuple(tuple(labels.count(k) for k in range(classes)) for labels in every)


@cache
def _with_one_more(votes: int, classes: int) -> Ints:
    """Where each way leads with one more label of each class, (ways, classes)."""
    place = {way: k for k, way in enumerate(ways(votes + 1, classes))}
    more = [
        [place[tuple(n + (k == label) for k, n in enumerate(way))] for label in range(classes)]
        for way in ways(votes, classes)
    ]
    return np.array(more, np.int64)


@dataclass
class Recursion:
    """Least prices of a law's tasks; ``error`` (classes,) of a wrong answer where a class is true, ``asking`` (askers,)
    of a vote, an expert's.
    """

    law: ToldLaw
    error: Floats
    asking: Floats
    expert: float | None
    rounds: int | None
    _least: dict[Number, Floats] = field(default_factory=dict)

    def value(self, votes: Counts) -> float:
        """The least price of a task that has these votes, with all rounds to come."""
        number = tuple(sum(labels) for labels in votes)
        classes = self.law.prior.shape[1]
        place = tuple(ways(n, classes).index(labels) for n, labels in zip(number, votes, strict=True))
        weight = float(self.law.weight(votes).sum())
        return float(self._start()[number][place]) / weight

    def _start(self) -> dict[Number, Floats]:
        if not self._least:
            self._least = self._one_by_one() if self.rounds is None else self._by_rounds(self.rounds)
        return self._least

    def _numbers(self) -> list[Number]:
        """All numbers of votes that a task may have, the most first."""
        every = product(*(range(int(size) + 1) for size in self.law.members))
        return sorted(every, key=sum, reverse=True)

    def _joint(self, number: Number) -> Floats:
        """The chance of each way and each class: a tensor, an axis for each asker and one for the classes."""
        law, classes = self.law, self.law.prior.shape[1]
        shape = [len(ways(n, classes)) for n in number]
        joint = np.zeros((*shape, classes))
        for b in range(len(law.prior)):
            part = law.prior[b].reshape([1] * len(number) + [classes])
            for g, n in enumerate(number):
                counts = np.array(ways(n, classes), np.int64)
                chance = (law.chance[b, :, g][None] ** counts[:, None]).prod(axis=2)
                side = [1] * len(number)
                side[g] = len(counts)
                part = part * chance.reshape([*side, classes])
            joint += part
        return joint

    def _stop(self, number: Number) -> tuple[Floats, Floats]:
        """The price of stopping, and the chance of each way: tensors, an axis for each asker."""
        law, joint = self.law, self._joint(number)
        whole = joint.sum(axis=-1)
        priced = joint * self.error
        price = priced.sum(axis=-1) - priced.max(axis=-1)
        price = np.where(law.is_sure(whole - joint.max(axis=-1), whole), price, np.inf)
        if not law.is_enough(number):
            return np.where(whole > 0, np.inf, 0.0), whole
        return (price if self.expert is None else np.minimum(price, self.expert * whole)), whole

    def _one_by_one(self) -> dict[Number, Floats]:
        least: dict[Number, Floats] = {}
        for number in self._numbers():
            price, whole = self._stop(number)
            for asker in range(len(number)):
                after = (*number[:asker], number[asker] + 1, *number[asker + 1 :])
                if self._may_add(number, after):
                    asked = float(self.asking[asker]) * whole + self.summed(least[after], asker, number[asker])
                    price = np.minimum(price, asked)
            least[number] = price
        return least

    def _may_add(self, number: Number, after: Number) -> bool:
        """Whether the votes between two numbers may be asked for."""
        return self.law.allows(after, [b - a for a, b in zip(number, after, strict=True)])

    def _by_rounds(self, rounds: int) -> dict[Number, Floats]:
        stops = {number: self._stop(number) for number in self._numbers()}
        least = {number: price for number, (price, _) in stops.items()}
        for _ in range(min(rounds, int(self.law.members.sum()))):  # each asks for a vote at least
            later, wrong = _Later(self, least, {}), _Later(self, self._wrong, {})
            least = {number: self._asked_at_once(number, stops[number], later, wrong) for number in stops}
        return least

    @cached_property
    def _wrong(self) -> dict[Number, Floats]:
        """By numbers of votes, where sets are held against the target: chance of each way and a class less likely."""
        if self.law.at_once is None:
            return {}
        joint = {number: self._joint(number) for number in self._numbers()}
        return {number: law.sum(axis=-1) - law.max(axis=-1) for number, law in joint.items()}

    def _asked_at_once(self, number: Number, stop: tuple[Floats, Floats], later: _Later, wrong: _Later) -> Floats:
        """The least of stopping and of every set of votes asked for at once."""
        price, whole = stop
        if wrong.least:
            price = np.where(self.law.keeps_at_once(wrong.least[number], whole), price, np.inf)
        for after in product(*(range(n, int(size) + 1) for n, size in zip(number, self.law.members, strict=True))):
            if after != number and self._may_add(number, after):
                votes = float(sum((b - a) * c for a, b, c in zip(number, after, self.asking.tolist(), strict=True)))
                asked = votes * whole + later.seen_from(after, number)
                if wrong.least:
                    asked = np.where(self.law.keeps_at_once(wrong.seen_from(after, number), whole), asked, np.inf)
                price = np.minimum(price, asked)
        return price

    def summed(self, tensor: Floats, asker: int, votes: int) -> Floats:
        """The tensor of one vote more of an asker, added up over that vote's labels."""
        more = _with_one_more(votes, self.law.prior.shape[1])
        taken = np.take(tensor, more.reshape(-1), axis=asker)
        shape = [*tensor.shape[:asker], *more.shape, *tensor.shape[asker + 1 :]]
        return np.asarray(taken.reshape(shape).sum(axis=asker + 1))


@dataclass
class _Later:
    """The tensors of the next round, added up over the votes in between, each once."""

    recursion: Recursion
    least: dict[Number, Floats]
    known: dict[tuple[Number, Number], Floats]

    def seen_from(self, after: Number, number: Number) -> Floats:
        """What the next round costs after these votes, as it looks before them."""
        if after == number:
            return self.least[after]
        if (after, number) not in self.known:
            asker = next(g for g, (a, b) in enumerate(zip(number, after, strict=True)) if a < b)
            nearer = (*number[:asker], number[asker] + 1, *number[asker + 1 :])
            tensor = self.seen_from(after, nearer)
            self.known[after, number] = self.recursion.summed(tensor, asker, number[asker])
        return self.known[after, number]


NOTHING = 1e-15  # tasks; fewer need no row of the policy


@dataclass(frozen=True)
class Move:
    """A row of policy.csv: its place in the table; ``what`` is votes of each asker, or a class."""

    row: int
    action: str
    what: tuple[int, ...]
    share: float


@dataclass
class Figures:
    """Expected loads, wrong answers, answers of the expert and cost; tasks that take each row; what went wrong."""

    loads: Floats
    wrong: float = 0.0
    expert: float = 0.0
    cost: float = 0.0
    of_class: dict[int, float] = field(default_factory=dict)  # wrong answers by true class
    tasks: dict[int, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def expected_figures(
    law: ToldLaw,
    standing: dict[Counts, int],
    moves: dict[tuple[int, Counts], list[Move]],
    rounds: int | None,
    expert: float | None,
) -> Figures:
    """Follow the moves; standing: tasks by their votes; moves: by rounds over and votes.

    ``paths`` is the tasks that come to votes over the chance of those votes in one order: shares alone make it.
    """
    figures = Figures(np.zeros(law.members.size))
    paths: dict[tuple[int, Counts], float] = {}
    for votes, count in standing.items():
        paths[0, votes] = count / float(law.weight(votes).sum())
    while paths:
        at = min(paths, key=lambda key: (key[0], sum(map(sum, key[1])), key[1]))
        path, weight = paths.pop(at), law.weight(at[1])
        tasks = path * float(weight.sum())
        if at not in moves:
            if tasks > NOTHING:
                figures.problems.append(f"{tasks:.6g} tasks come to votes that policy.csv has no row for")
                return figures
            continue
        for move in moves[at]:
            figures.tasks[move.row] = tasks * move.share
            for onward, more in _moved(law, figures, at, move, path * move.share, weight, rounds, expert):
                paths[onward] = paths.get(onward, 0.0) + more
    return figures


def _moved(
    law: ToldLaw,
    figures: Figures,
    at: tuple[int, Counts],
    move: Move,
    path: float,
    weight: Floats,
    rounds: int | None,
    expert: float | None,
) -> Iterator[tuple[tuple[int, Counts], float]]:
    tasks, (over, votes) = path * float(weight.sum()), at
    if move.action != "ask" and tasks > NOTHING and not law.is_enough([sum(labels) for labels in votes]):
        figures.problems.append(f"policy.csv, row {move.row + 1}: stops before a task has the labels that it must have")
        return
    if move.action == "answer":
        wrong = weight.sum() - weight[move.what[0]]
        if not law.is_sure(wrong, weight.sum()) and tasks > NOTHING:
            figures.problems.append(
                f"policy.csv, row {move.row + 1}: answers where votes leave more than {law.surest:.6g} of error"
            )
            return
        figures.wrong += path * float(wrong)
        for k in range(weight.size):
            if k != move.what[0]:
                figures.of_class[k] = figures.of_class.get(k, 0.0) + path * float(weight[k])
    elif move.action == "expert":
        if expert is None:
            figures.problems.append(f"policy.csv, row {move.row + 1}: ends with the expert, and there is none")
            return
        figures.expert += tasks
        figures.cost += tasks * expert
    else:
        number = [sum(labels) + more for labels, more in zip(votes, move.what, strict=True)]
        late = over + 1 > rounds if rounds is not None else sum(move.what) != 1
        if late or not law.allows(number, move.what):
            figures.problems.append(f"policy.csv, row {move.row + 1}: asks for votes that the limits do not allow")
            return
        figures.cost += tasks * float((law.price * np.array(move.what)).sum())
        figures.loads += tasks * np.array(move.what)
        yield from fallen(votes, move.what, over + (rounds is not None), path)


def fallen(votes: Counts, what: tuple[int, ...], over: int, path: float) -> Iterator[tuple[tuple[int, Counts], float]]:
    """Every way in which votes can fall, and the paths that lead there: one for each order."""
    classes = len(votes[0])
    for fall in product(*(ways(number, classes) for number in what)):
        orders = prod(factorial(sum(labels)) // prod(map(factorial, labels)) for labels in fall)
        after = tuple(tuple(a + b for a, b in zip(old, new, strict=True)) for old, new in zip(votes, fall, strict=True))
        yield (over, after), path * orders


HIGHEST = 18.0  # log-odds of the last knot
FREE = 1e-6  # of the dearest answer; votes cheaper than this are counted one by one instead
ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class BeliefRecursion:
    """Votes of one type of tasks; ``likely`` (workers, 2): chance to say the second class where each is true."""

    likely: Floats
    asking: Floats  # (workers,): what a vote costs, capacities and money included
    error: float  # what a wrong answer costs
    expert: float | None
    step: float  # of log-odds
    labels: int  # of a task at most

    @cached_property
    def knots(self) -> Floats:
        """Beliefs, certainty at both ends."""
        odds = np.arange(1, int(HIGHEST / self.step) + 1) * self.step
        below = 1 / (1 + np.exp(odds[::-1]))
        return np.concatenate([[0.0], below, [0.5], 1 - below[::-1], [1.0]])

    @cached_property
    def _votes(self) -> list[tuple[Floats, Ints, Floats]]:
        """Of each label: its chance, the knot below where it leads, and the part that lies there, (workers, knots)."""
        found = []
        for given in (1 - self.likely, self.likely):
            joint = self.knots * given[:, 1:]
            chance = joint + (1 - self.knots) * given[:, :1]
            after = np.where(chance > 0, joint / np.where(chance > 0, chance, 1.0), 0.0)
            below = np.clip(np.searchsorted(self.knots, after, side="right") - 1, 0, self.knots.size - 2)
            part = (self.knots[below + 1] - after) / (self.knots[below + 1] - self.knots[below])
            found.append((chance, below, np.clip(part, 0.0, 1.0)))
        return found

    @cached_property
    def _stop(self) -> Floats:
        price = self.error * np.minimum(self.knots, 1 - self.knots)
        return price if self.expert is None else np.minimum(price, self.expert)

    def _asked(self, value: Floats) -> Floats:
        """What it costs to ask each worker at each knot, (workers, knots)."""
        total = np.repeat(self.asking[:, None], self.knots.size, axis=1)
        for chance, below, part in self._votes:
            total += chance * (part * value[below] + (1 - part) * value[below + 1])
        return total

    @cached_property
    def prices(self) -> Floats:
        """Prices at the knots that no policy goes below, (knots,)."""
        least = float(self.asking.min())
        if least <= FREE * max(1e-9, float(self._stop.max())):
            return self._counted()
        value = self._stop
        for _ in range(ITERATIONS):
            asked = self._asked(value)
            worker = asked.argmin(axis=0)
            goes_on = asked[worker, np.arange(self.knots.size)] < self._stop
            after = self._followed(worker, goes_on)
            if (value - after).max() <= 1e-13 * self._stop.max():
                break
            value = after
        # where the prices are above what asking costs by no more than this, shrunk a little they are below it
        above = float(np.maximum(0.0, value - np.minimum(self._stop, self._asked(value).min(axis=0))).max())
        return value * (1 - above / (least + above))

    def _followed(self, worker: Ints, goes_on: Bools) -> Floats:
        """What it costs to ask these workers at the knots that go on, and to stop elsewhere."""
        here, count = np.flatnonzero(goes_on), self.knots.size
        value = self._stop.copy()
        if not here.size:
            return value
        rows, columns, weights = [], [], []
        for chance, below, part in self._votes:
            c, b, p = (some[worker[here], here] for some in (chance, below, part))
            rows += [here, here]
            columns += [b, b + 1]
            weights += [c * p, c * (1 - p)]
        moves = sparse.csr_array(
            (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(count, count)
        )
        side = np.where(goes_on, self.asking[worker], self._stop)
        return np.asarray(spsolve(sparse.csc_array(sparse.eye_array(count) - moves), side))

    def _counted(self) -> Floats:
        """The price with at most so many labels, one after another: where votes cost nothing or less."""
        value = self._stop
        for _ in range(self.labels):
            after = np.minimum(self._stop, self._asked(value).min(axis=0))
            if np.array_equal(after, value):
                break
            value = after
        return value

    def at(self, belief: float) -> float:
        """The price at a belief, from those at the knots beside it."""
        return float(np.interp(belief, self.knots, self.prices))
