"""A crowd that answers from a table of labels that people once gave, and streams of its workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import REFUSED
from crowdopt.crowd.subset import of_workers
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Stream
from crowdopt.online.crowds import EXTRA, GOLD, HELD, ORDER, copies


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
