"""A simulated crowd, and streams of its workers: who comes when, what is true, what each says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.subset import of_workers
from crowdopt.online.arrivals import Arrival, Stream

STRETCH = 64  # gold tasks whose chances are drawn together
# What chance is needed for: each has a generator of its own, told from the others of a seed by its number.
ORDER, TRUTH, WORK, GOLD, EXTRA, HELD = range(6)
ANSWERS, GOLD_ORDER, COIN, HARD, CLIQUE, AUDIT, LOOKS = 5, 6, 7, 60, 61, 71, 83


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
