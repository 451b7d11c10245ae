"""A simulated crowd, and streams of its workers: who comes when, what is true, what each says.

Crowds that break the model in one known way, so that one can see what a policy's claims are worth then.

A crowd that answers from a table of labels that people once gave, and streams of its workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import named_numbers
from crowdopt.crowd.alike import of_workers
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import REFUSED
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Stream

STRETCH = 64  # gold tasks whose chances are drawn together
# What chance is needed for: each has a generator of its own, told from the others of a seed by its number.
ORDER, TRUTH, WORK, GOLD, EXTRA, HELD = range(6)
ANSWERS, GOLD_ORDER, COIN, HARD, CLIQUE, LOOKS = 5, 6, 7, 60, 61, 83


@dataclass(frozen=True, eq=False)
class Simulated:
    """One-coin workers: right with probability p, otherwise wrong uniformly over the other classes.

    On hard tasks, where the instance has some, they are right with what is left of p there.

    Whether worker j gets task i right is drawn from (seed, j) and the task alone: two policies that ask for the same
    label see the same one, which makes trials paired.
    """

    instance: AssignmentInstance  # the workers in their order of arrival, with true skills
    preliminary: AssignmentInstance | None  # workers who may be asked gold before the stream
    truth: Ints  # (tasks,): class of each task
    seed: tuple[int, ...]  # of all labels
    hard: NDArray[np.bool_]  # (tasks,): which are hard for all workers

    def gold(self, arrival: Arrival, counts: Ints) -> tuple[Ints, Ints]:
        """The worker's next gold tasks: the k-th of a type is right by the k-th chance of a sequence of its own."""
        asked = np.asarray(counts, dtype=np.int64)
        done = np.zeros_like(asked) if arrival.gold_done is None else arrival.gold_done
        right = np.zeros_like(asked)
        for kind in np.flatnonzero(asked).tolist():
            last = int(done[kind] + asked[kind])
            chance = _gold_chances((*self.seed, GOLD, int(arrival.preliminary), arrival.number, kind), last)
            accuracy = self.gold_accuracy(arrival, kind, int(asked[kind]))
            right[kind] = np.count_nonzero(chance[done[kind] : last] < accuracy)
        return right, asked

    def label(self, worker: int, tasks: NDArray[np.integer]) -> Ints:
        """Right or wrong by the worker's chances for these tasks."""
        chance, right = self.chances(worker)[tasks], self.accuracy(worker, tasks)
        classes = self.instance.classes
        share = (chance - right) / np.maximum(1 - right, 1e-300)
        miss = 1 + np.clip(share * (classes - 1), 0, classes - 2).astype(int)
        shift: Ints = np.where(chance < right, 0, miss)
        return (self.truth[tasks] + shift) % classes

    def chances(self, worker: int) -> Floats:
        """What a label of the worker is compared with to be right, task by task."""
        return _chances((*self.seed, WORK, int(worker)), self.instance.n_tasks)

    def accuracy(self, worker: int, tasks: NDArray[np.integer]) -> Floats:
        """The worker's accuracies on these tasks, (tasks,)."""
        right: Floats = self.instance.accuracy[self.instance.task_type[tasks], worker]
        if not self.instance.difficulty.share:
            return right
        return np.where(self.hard[tasks], self.instance.difficulty.on_hard(right), right)

    def gold_accuracy(self, arrival: Arrival, kind: int, count: int) -> Floats:
        """The worker's accuracies on their next gold tasks of a type, (count,), which are as often hard as any."""
        pool = self.preliminary if arrival.preliminary else self.instance
        assert pool is not None
        right = pool.accuracy[kind, arrival.number]
        return np.full(count, pool.difficulty.mixed(right, pool.difficulty.on_hard(right)))


@lru_cache(maxsize=4)  # a worker who is asked label by label has all their chances drawn once
def _chances(key: tuple[int, ...], count: int) -> Floats:
    return np.random.default_rng(key).random(count)


@lru_cache(maxsize=64)  # of the workers and types that are tested now
def _gold_stretch(key: tuple[int, ...], stretch: int) -> Floats:
    return np.random.default_rng([*key, stretch]).random(STRETCH)


def _gold_chances(key: tuple[int, ...], count: int) -> Floats:
    """The first ``count`` of a sequence that does not depend on how many are wanted."""
    return np.concatenate([_gold_stretch(key, k) for k in range(-(-count // STRETCH))])


def simulated_stream(
    instance: AssignmentInstance,
    seed: tuple[int, ...],
    preliminary: int = 0,
    draw: Callable[[np.random.Generator, int], AssignmentInstance] | None = None,
    shuffle: bool = True,
    prices: Floats | None = None,
) -> Stream:
    """A random order of the workers, a random truth, one-coin labels, and a preliminary crowd of the same kind.

    seed: everything follows from it: order, truth, labels, preliminary workers; preliminary: how many preliminary
    workers to have at hand; draw: (generator, number) -> an instance of so many preliminary workers; default: the
    stream's own, with replacement; shuffle: whether the workers come in random order; else in the instance's;
    prices (tasks,): clairvoyant prices, for the policy that uses them.
    """
    n, m = instance.n_tasks, instance.n_workers
    order = np.random.default_rng([*seed, ORDER]).permutation(m) if shuffle else np.arange(m)
    arriving = of_workers(instance, order)
    truth = np.random.default_rng([*seed, TRUTH]).integers(0, instance.classes, n)
    extra = _extra(instance, seed, preliminary, draw)
    hard = np.random.default_rng([*seed, HARD]).random(n) < instance.difficulty.share
    return Stream(arriving, Simulated(arriving, extra, truth, seed, hard), truth, extra, prices)


def _extra(
    instance: AssignmentInstance,
    seed: tuple[int, ...],
    count: int,
    draw: Callable[[np.random.Generator, int], AssignmentInstance] | None,
) -> AssignmentInstance | None:
    if count == 0:
        return None
    rng = np.random.default_rng([*seed, EXTRA])
    return draw(rng, count) if draw else copies(instance, rng.integers(0, instance.n_workers, count))


def copies(instance: AssignmentInstance, workers: Ints) -> AssignmentInstance:
    """Workers k like ``workers[k]``, some several times, with all tasks of the instance and no pairs of their own."""
    no_pairs = np.zeros((0, 2), np.int64)
    bare = replace(instance, forbidden=no_pairs, collected=no_pairs)
    return of_workers(bare, workers)


@dataclass(frozen=True)
class Misspecification:
    """How far a crowd departs from independent workers of one accuracy each; all 0: not at all."""

    # share of tasks that are hard: all workers guess. The others are so much easier that each worker's mean accuracy
    # stays what it is, as far as certainty allows; labels of a task are no longer independent
    difficulty: float = 0.0
    # share of workers who collude: they all say the same of each task, right as often as guesses are. Gold shows it,
    # agreement shows the contrary
    clique: float = 0.0
    # what a worker's accuracy loses from the first label to the last one, gold included, but never below a guess
    drift: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) < 1:
                raise InputError(f"{field.name} must lie in [0, 1), not {getattr(self, field.name)}")

    @property
    def is_none(self) -> bool:
        """Whether the model holds."""
        return not (self.difficulty or self.clique or self.drift)

    def __str__(self) -> str:
        sizes = [f"{field.name}={value:g}" for field in fields(self) if (value := getattr(self, field.name))]
        return ",".join(sizes)


def breach(text: str) -> Misspecification:
    """A breach as it is written: ``difficulty=.3``, ``clique=.2,drift=.1``, or nothing."""
    return Misspecification(**named_numbers(text, Misspecification, "a breach", "difficulty=.3"))


@dataclass(frozen=True, eq=False)
class Breached(Simulated):
    """A simulated crowd under a breach: the same chances for the same pairs, held against other accuracies.

    With ``drift`` a label depends on how many the worker has given before; such a run is not resumed but begun anew.
    """

    breach: Misspecification
    member: NDArray[np.bool_]  # (workers,)
    given: Ints  # (workers,): labels of each worker so far, gold included

    def chances(self, worker: int) -> Floats:
        """What the worker's labels are compared with; members of the clique share theirs."""
        if self.member[worker]:
            return np.random.default_rng([*self.seed, CLIQUE, 1]).random(self.instance.n_tasks)
        return super().chances(worker)

    def accuracy(self, worker: int, tasks: NDArray[np.integer]) -> Floats:
        """Accuracy now, on these tasks."""
        mean = self._drifted(super().accuracy(worker, tasks), worker, self._count(worker, tasks.size))
        if not self.breach.difficulty:
            return mean
        guess = 1 / self.instance.classes
        return np.where(self.hard[tasks], guess, _eased(mean, self.breach.difficulty, guess))

    def gold_accuracy(self, arrival: Arrival, kind: int, count: int) -> Floats:
        """Accuracy on the worker's next gold tasks, which are as often hard as any."""
        told = super().gold_accuracy(arrival, kind, count)
        if arrival.preliminary:
            return told
        return self._drifted(told, arrival.number, self._count(arrival.number, count))

    def _count(self, worker: int, labels: int) -> Ints:
        before = int(self.given[worker]) + np.arange(labels)
        self.given[worker] += labels
        return before

    def _drifted(self, accuracy: Floats, worker: int, before: Ints) -> Floats:
        if not self.breach.drift:
            return accuracy
        share = np.minimum(1.0, before / max(1, int(self.instance.capacity[worker]) - 1))
        return np.minimum(accuracy, np.maximum(1 / self.instance.classes, accuracy - self.breach.drift * share))


def _eased(accuracy: Floats, share: float, guess: float) -> Floats:
    """``b + (p - b) / (1 - share)``, within [0, 1]: accuracy on easy tasks if a share is hard; b is a guess's."""
    return np.clip(guess + (accuracy - guess) / (1 - share), 0.0, 1.0)


def breached(stream: Stream, how: Misspecification) -> Stream:
    """The stream with its crowd under a breach; without any, the stream itself.

    The instance's accuracies become the workers' mean accuracies under the breach (with drift, those of a first label).
    """
    if how.is_none:
        return stream
    crowd = stream.crowd
    if not isinstance(crowd, Simulated):
        raise InputError("recorded labels break the model in their own way; take the breach out")
    instance = crowd.instance
    if how.difficulty and instance.difficulty.share:
        raise InputError(
            "the campaign has hard tasks itself; take difficulty out of the breach, or out of the campaign"
        )
    share = how.difficulty or instance.difficulty.share
    hard = np.random.default_rng([*crowd.seed, HARD]).random(instance.n_tasks) < share
    member = np.random.default_rng([*crowd.seed, CLIQUE]).random(instance.n_workers) < how.clique
    arriving = replace(instance, accuracy=_mean(instance, how, member))
    given = np.zeros(instance.n_workers, np.int64)
    crowd = Breached(arriving, crowd.preliminary, crowd.truth, crowd.seed, hard, how, member, given)
    return replace(stream, instance=arriving, crowd=crowd)


def _mean(instance: AssignmentInstance, how: Misspecification, member: NDArray[np.bool_]) -> Floats:
    share, guess = how.difficulty, 1 / instance.classes
    mean = (1 - share) * _eased(instance.accuracy, share, guess) + share * guess if share else instance.accuracy
    return np.where(member, guess, mean)


class GivenLabels(Protocol):
    """Labels that were given once, in an instance's own indices, such as crowdopt.io.campaign reads."""

    @property
    def task(self) -> Ints:
        """Task of each label, (k,)."""
        ...

    @property
    def worker(self) -> Ints:
        """Worker of each label, (k,)."""
        ...

    @property
    def label(self) -> Ints:
        """Class, (k,)."""
        ...

    @property
    def truth(self) -> Ints:
        """True classes, (tasks,); -1 where unknown."""
        ...


@dataclass(frozen=True, eq=False)
class Recorded:
    """Labels that were given once: a pair without one is refused. Gold is taken from tasks held out for that."""

    tasks: int
    key: Ints  # (k,): ``worker * tasks + task`` of each recorded label, ascending
    label_of: Ints  # (k,): its class
    # tallies on the held-out tasks, in the order of the stream's workers; asked for more, they do what there is
    gold_right: Ints  # (types, workers)
    gold_asked: Ints  # (types, workers)
    # tallies of the preliminary workers
    extra_right: Ints  # (types, preliminary)
    extra_asked: Ints  # (types, preliminary)
    seed: tuple[int, ...]  # of the order in which held-out tasks are asked

    def gold(self, arrival: Arrival, counts: Ints) -> tuple[Ints, Ints]:
        """As many held-out labels as are wanted, or as are left: the next ones in the worker's own random order."""
        right, asked = (
            (self.extra_right, self.extra_asked) if arrival.preliminary else (self.gold_right, self.gold_asked)
        )
        good, there = right[:, arrival.number], asked[:, arrival.number]
        before = np.zeros_like(there) if arrival.gold_done is None else arrival.gold_done
        done = np.minimum(counts, there - before)
        correct = np.zeros_like(there)
        for kind in np.flatnonzero(done):
            key = [*self.seed, GOLD, int(arrival.preliminary), arrival.number, int(kind)]
            order = np.random.default_rng(key).permutation(there[kind])
            correct[kind] = np.count_nonzero(order[before[kind] : before[kind] + done[kind]] < good[kind])
        return correct, done

    def label(self, worker: int, tasks: NDArray[np.integer]) -> Ints:
        """The recorded label of each task, or REFUSED."""
        wanted = worker * self.tasks + np.asarray(tasks, dtype=np.int64)
        if not self.key.size:
            return np.full(wanted.shape, REFUSED)
        place = np.minimum(np.searchsorted(self.key, wanted), self.key.size - 1)
        return np.where(self.key[place] == wanted, self.label_of[place], REFUSED)


def recorded_stream(
    instance: AssignmentInstance,
    record: GivenLabels,
    seed: tuple[int, ...],
    held: NDArray[np.bool_],
    preliminary: int = 0,
    prices: Floats | None = None,
) -> Stream:
    """Recorded labels in a random order of the workers.

    Preliminary workers are drawn with replacement from the workers, with their held-out labels.

    record: the table, in the instance's indices; seed: order and preliminary workers follow from it; held (tasks,):
    tasks of known truth that serve as gold; :func:`hold_out` takes their need away; preliminary: how many
    preliminary workers to have at hand; prices (tasks,): clairvoyant prices, for the policy that uses them.
    """
    task, worker, label, truth = record.task, record.worker, record.label, record.truth
    if task.size == 0:
        raise InputError("the label table is empty; there is nothing to replay")
    n, m = instance.n_tasks, instance.n_workers
    order = np.random.default_rng([*seed, ORDER]).permutation(m)
    place = np.empty(m, np.int64)
    place[order] = np.arange(m)
    chosen = np.random.default_rng([*seed, EXTRA]).integers(0, m, preliminary)
    arriving = of_workers(instance, order)
    right, asked = _held_out(instance, task, worker, label == truth[task], held)
    key = place[worker] * n + task
    sort = np.argsort(key, kind="stable")
    crowd = Recorded(
        n,
        key[sort],
        label[sort],
        right[:, order],
        asked[:, order],
        right[:, chosen],
        asked[:, chosen],
        seed,
    )
    extra = copies(instance, chosen) if preliminary else None
    return Stream(arriving, crowd, np.where(held, -1, truth), extra, prices)


def hold_out(
    instance: AssignmentInstance, truth: Ints, share: float, seed: int
) -> tuple[AssignmentInstance, NDArray[np.bool_]]:
    """A share of the tasks of known truth (-1: unknown) as gold, without need; -> instance, held (tasks,)."""
    held = (np.random.default_rng([seed, HELD]).random(instance.n_tasks) < share) & (truth >= 0)
    return replace(instance, demand=np.where(held, 0.0, instance.demand)), held


def _held_out(
    instance: AssignmentInstance, task: Ints, worker: Ints, right: NDArray[np.bool_], held: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    kinds, m = instance.n_types, instance.n_workers
    cell, there = instance.task_type[task] * m + worker, held[task]
    size = kinds * m
    correct = np.bincount(cell[there & right], minlength=size).reshape(kinds, m)
    return correct, np.bincount(cell[there], minlength=size).reshape(kinds, m)
