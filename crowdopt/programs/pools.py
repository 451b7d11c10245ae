"""Workers of equal skill pooled, tasks of one kind counted: what programs over patterns are written for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Floats, Ints, alike
from crowdopt.crowd.alike import refuse_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import CLIP
from crowdopt.crowd.vote_errors import at_best


@dataclass(frozen=True, eq=False)
class Pools:
    """Kinds t of tasks (equal type, target, prior, label limits) and pools g of workers (equal skill and price).

    Unlike in :class:`Classes`, workers of a pool may differ in capacity, and between two classes an accuracy below 1/2
    is the same skill as its complement: a vote by log-odds turns it round.
    """

    instance: AssignmentInstance
    # kind of each task; pool of each worker, -1 for those who are of no use
    kind: Ints  # (tasks,)
    pool: Ints  # (workers,)
    tasks_in: Ints  # (T,)
    sizes: Ints  # (G,): workers in each pool, the most labels of it that one task can have
    # chance of a right label, in [1/K, 1), and its price
    skill: Floats  # (T, G)
    cost: Floats  # (T, G)
    epsilon: Floats  # (T,): target
    prior: Floats  # (T,) or (T, K): probability of class 1 of two, or of each of more classes
    # limits on new labels
    fewest: Ints  # (T,)
    most: Ints  # (T,)

    @cached_property
    def members(self) -> list[Ints]:
        """The workers of each pool, those with most room first."""
        order = np.argsort(-self.room_of, kind="stable")
        return [order[self.pool[order] == g] for g in range(self.sizes.size)]

    @property
    def room_of(self) -> Ints:
        """Tasks each worker can take at most: no worker labels a task twice."""
        return np.minimum(self.instance.capacity, self.instance.n_tasks)

    @cached_property
    def rows(self) -> tuple[Ints, Ints, Floats]:
        """Supply rows: pool g, depth h, and the room of all its workers but the h with most, ``M_(h+1) + ... + M_(s)``.

        Labels a_i of tasks i can be dealt to the workers of a pool, to each at most M_j and no task twice, exactly if
        ``sum_i max(0, a_i - h)`` is at most that for every h >= 0 (Gale 1957, Ryser 1957: the a_i are weakly majorised
        by the conjugate of the M_j). Where all M_j are equal, h = 0 implies the rest.
        """
        rows: list[tuple[int, int, int]] = []
        for g, workers in enumerate(self.members):
            room = self.room_of[workers]
            count = 1 if (room == room[0]).all() else max(1, int(self.sizes[g]))
            tails = np.cumsum(room[::-1])[::-1][:count]
            rows += [(g, depth, tail) for depth, tail in enumerate(tails.tolist())]
        pool, depth, supply = np.array(rows, np.int64).reshape(-1, 3).T
        return pool, depth, supply.astype(np.float64)


def pools_of(instance: AssignmentInstance) -> Pools:
    """Pool the workers: those of equal skill and price."""
    refuse_joint_limits(
        instance, "the program over patterns", "it plans for pools of equally skilled workers of any group"
    )
    skill, (fewest, most) = folded(instance), instance.new_label_limits
    useful = (instance.capacity > 0) & ((skill > 1 / instance.classes).any(axis=0) | bool(instance.min_labels.any()))
    who = np.flatnonzero(useful)
    price, known = instance.cost[:, who].T, skill[:, who].T
    number = np.unique(np.column_stack([price, known]), axis=0, return_inverse=True)[1].reshape(-1)
    pool = np.full(instance.n_workers, -1)
    pool[who] = number
    prior: Floats = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    prior = prior[:, 1] if instance.classes == 2 else prior
    kind, task = alike(instance.task_type, instance.epsilon, prior, fewest, most)
    first, sizes = np.unique(number, return_index=True, return_counts=True)[1:]
    types = instance.task_type[task]
    return Pools(
        instance=instance,
        kind=kind,
        pool=pool,
        tasks_in=np.bincount(kind),
        sizes=sizes,
        skill=skill[types][:, who[first]],
        cost=instance.cost[types][:, who[first]],
        epsilon=instance.epsilon[task],
        prior=prior[task],
        fewest=fewest[task],
        most=most[task],
    )


def folded(instance: AssignmentInstance, up: bool = False) -> Floats:
    """Skills as a vote by log-odds sees them, clipped: of two classes the larger of p and 1 - p; 1/K without evidence.

    up: among more classes a worker who is mostly wrong counts as one who names another class than theirs,
    ``(1 - p) / (K - 1)``, which is no more than they know; or, if ``up``, as the skill of
    :func:`crowdopt.crowd.vote_errors.at_best`; -> (types, workers): in [1/K, 1).
    """
    p, classes = instance.accuracy, int(instance.classes)
    turned = at_best(p, classes) if up else np.where(p * classes < 1, (1 - p) / (classes - 1), p)
    return np.where(instance.evidence > 0, np.minimum(turned, 1 - CLIP), 1 / classes)
