"""Where a stream's labels come from: a simulated crowd, or a table of labels that people once gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.online.arrivals import REFUSED, Arrival, Stream

STRETCH = 64  # gold tasks whose chances are drawn together
ORDER, TRUTH, WORK, GOLD, EXTRA, HELD = range(6)  # what chance is needed for; each has a stream of its own


@dataclass(frozen=True, eq=False)
class Simulated:
    """One-coin workers: right with probability p, otherwise wrong uniformly over the other classes.

    Whether worker j gets task i right is drawn from (seed, j) and the task alone: two policies that ask for the same
    label see the same one, which makes trials paired.
    """

    instance: AssignmentInstance
    preliminary: AssignmentInstance | None
    truth: Ints
    seed: tuple[int, ...]

    def gold(self, arrival: Arrival, counts: Ints) -> tuple[Ints, Ints]:
        """Her next gold tasks: the k-th of a type is right by the k-th chance of a sequence of its own."""
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
        label: Ints = (self.truth[tasks] + shift) % classes
        return label

    def chances(self, worker: int) -> Floats:
        """What a label of hers is compared with to be right, task by task."""
        return _chances((*self.seed, WORK, int(worker)), self.instance.n_tasks)

    def accuracy(self, worker: int, tasks: NDArray[np.integer]) -> Floats:
        """P of the worker on these tasks."""
        right: Floats = self.instance.accuracy[self.instance.task_type[tasks], worker]
        return right

    def gold_accuracy(self, arrival: Arrival, kind: int, count: int) -> Floats:
        """P of the worker on her next gold tasks of a type, (count,)."""
        pool = self.preliminary if arrival.preliminary else self.instance
        assert pool is not None
        return np.full(count, pool.accuracy[kind, arrival.number])


@dataclass(frozen=True, eq=False)
class Recorded:
    """Labels that were given once: a pair without one is refused. Gold is taken from tasks held out for that.

    Parameters
    ----------
    key : (k,) int
        ``worker * tasks + task`` of each recorded label, ascending; ``label`` has its class.
    gold_right, gold_asked : (types, workers) int
        Tallies on the held-out tasks, in the order of the stream's workers; asked for more, she does what there is.
    gold_extra : pair of (types, preliminary) int
        The same of the preliminary workers.
    """

    tasks: int
    key: Ints
    label_of: Ints
    gold_right: Ints
    gold_asked: Ints
    extra_right: Ints
    extra_asked: Ints
    seed: tuple[int, ...]

    def gold(self, arrival: Arrival, counts: Ints) -> tuple[Ints, Ints]:
        """As many of her held-out labels as are wanted, or as are left: the next ones of a random order of her own."""
        right, asked = (
            (self.extra_right, self.extra_asked) if arrival.preliminary else (self.gold_right, self.gold_asked)
        )
        good, there = right[:, arrival.number], asked[:, arrival.number]
        before = np.zeros_like(there) if arrival.gold_done is None else arrival.gold_done
        done = np.minimum(counts, there - before)
        found = np.zeros_like(there)
        for kind in np.flatnonzero(done):
            key = [*self.seed, GOLD, int(arrival.preliminary), arrival.number, int(kind)]
            order = np.random.default_rng(key).permutation(there[kind])
            found[kind] = np.count_nonzero(order[before[kind] : before[kind] + done[kind]] < good[kind])
        return found, done

    def label(self, worker: int, tasks: NDArray[np.integer]) -> Ints:
        """What was recorded, or REFUSED."""
        wanted = worker * self.tasks + np.asarray(tasks, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.key, wanted), self.key.size - 1)
        return np.where(self.key[place] == wanted, self.label_of[place], REFUSED)


@lru_cache(maxsize=4)  # a worker who is asked label by label has all her chances drawn once
def _chances(key: tuple[int, ...], count: int) -> Floats:
    return np.random.default_rng(key).random(count)


@lru_cache(maxsize=64)  # of the workers and types that are tested now
def _gold_stretch(key: tuple[int, ...], stretch: int) -> Floats:
    return np.random.default_rng([*key, stretch]).random(STRETCH)


def _gold_chances(key: tuple[int, ...], count: int) -> Floats:
    """The first ``count`` of a sequence that does not depend on how many are wanted."""
    return np.concatenate([_gold_stretch(key, k) for k in range(-(-count // STRETCH))])


def reordered(instance: AssignmentInstance, workers: Ints) -> AssignmentInstance:
    """The instance with some of its workers, in that order, or with one several times over; ids are left out."""
    place = np.full(instance.n_workers, -1, np.int64)
    place[workers] = np.arange(workers.size)
    pairs: dict[str, Any] = {}
    for name in ("forbidden", "fixed", "collected"):
        moved = getattr(instance, name).copy()
        moved[:, 1] = place[moved[:, 1]]
        pairs[name] = moved[moved[:, 1] >= 0]
    return replace(
        instance,
        accuracy=instance.accuracy[:, workers],
        capacity=instance.capacity[workers],
        cost=instance.cost[:, workers],
        min_load=instance.min_load[workers],
        workers=None,
        **pairs,
    )


def simulated_stream(
    instance: AssignmentInstance,
    seed: tuple[int, ...],
    preliminary: int = 0,
    draw: Callable[[np.random.Generator, int], AssignmentInstance] | None = None,
    shuffle: bool = True,
    prices: Floats | None = None,
) -> Stream:
    """A random order of the workers, a random truth, one-coin labels, and a preliminary crowd of the same kind.

    Parameters
    ----------
    seed : tuple of int
        Everything follows from it: order, truth, labels, preliminary workers.
    preliminary : int
        How many preliminary workers to have at hand; drawn with replacement from the instance's own unless ``draw``
        (a generator and their number -> an instance of that many workers) says better.
    """
    n, m = instance.n_tasks, instance.n_workers
    order = np.random.default_rng([*seed, ORDER]).permutation(m) if shuffle else np.arange(m)
    arriving = reordered(instance, order)
    truth = np.random.default_rng([*seed, TRUTH]).integers(0, instance.classes, n)
    extra = _extra(instance, seed, preliminary, draw)
    return Stream(arriving, Simulated(arriving, extra, truth, seed), truth, extra, prices)


def _extra(
    instance: AssignmentInstance,
    seed: tuple[int, ...],
    count: int,
    draw: Callable[[np.random.Generator, int], AssignmentInstance] | None,
) -> AssignmentInstance | None:
    if count == 0:
        return None
    rng = np.random.default_rng([*seed, EXTRA])
    return draw(rng, count) if draw else _copies(instance, rng.integers(0, instance.n_workers, count))


def _copies(instance: AssignmentInstance, workers: Ints) -> AssignmentInstance:
    """Workers like these, without pairs of their own."""
    nobody = np.zeros((0, 2), np.int64)
    bare = replace(instance, forbidden=nobody, collected=nobody)
    return reordered(bare, workers)


def recorded_stream(
    instance: AssignmentInstance,
    task: Ints,
    worker: Ints,
    label: Ints,
    truth: Ints,
    seed: tuple[int, ...],
    held: NDArray[np.bool_],
    preliminary: int = 0,
    prices: Floats | None = None,
) -> Stream:
    """Recorded labels in a random order of the workers.

    Preliminary workers are drawn with replacement from the workers, with their held-out labels.

    Parameters
    ----------
    task, worker, label : (k,) int
        The table, in the instance's indices.
    truth : (tasks,) int
        -1 where unknown.
    held : (tasks,) bool
        Tasks of known truth that serve as gold; :func:`hold_out` takes their need away.
    """
    if task.size == 0:
        raise InputError("the label table is empty; there is nothing to replay")
    n, m = instance.n_tasks, instance.n_workers
    order = np.random.default_rng([*seed, ORDER]).permutation(m)
    place = np.empty(m, np.int64)
    place[order] = np.arange(m)
    chosen = np.random.default_rng([*seed, EXTRA]).integers(0, m, preliminary)
    arriving = reordered(instance, order)
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
    extra = _copies(instance, chosen) if preliminary else None
    return Stream(arriving, crowd, np.where(held, -1, truth), extra, prices)


def hold_out(
    instance: AssignmentInstance, truth: Ints, share: float, seed: int
) -> tuple[AssignmentInstance, NDArray[np.bool_]]:
    """Set a share of the tasks of known truth aside as gold: they need no labels any more."""
    held = (np.random.default_rng([seed, HELD]).random(instance.n_tasks) < share) & (truth >= 0)
    return replace(instance, demand=np.where(held, 0.0, instance.demand)), held


def _held_out(
    instance: AssignmentInstance, task: Ints, worker: Ints, right: NDArray[np.bool_], held: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Tallies on the held-out tasks, (types, workers)."""
    kinds, m = instance.n_types, instance.n_workers
    cell, there = instance.task_type[task] * m + worker, held[task]
    size = kinds * m
    correct = np.bincount(cell[there & right], minlength=size).reshape(kinds, m)
    return correct, np.bincount(cell[there], minlength=size).reshape(kinds, m)
