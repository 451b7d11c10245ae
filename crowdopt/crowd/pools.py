"""Workers of equal skill pooled, tasks of one kind counted: what the true minimum depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.alike import alike
from crowdopt.crowd.group_limits import refuse_joint_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.law import CLIP
from crowdopt.crowd.vote_errors import at_best


@dataclass(frozen=True, eq=False)
class Pools:
    """Kinds t of tasks (equal type, target, prior, label limits) and pools g of workers (equal skill and price).

    Unlike in :class:`crowdopt.crowd.alike.Classes`, workers of a pool may differ in capacity, and between two classes
    an accuracy below 1/2 is the same skill as its complement: a vote by log-odds turns it round.
    """

    instance: AssignmentInstance
    # kind of each task; pool of each worker, -1 for those who are of no use
    kind: Ints  # (tasks,)
    pool: Ints  # (workers,)
    tasks_in: Ints  # (T,)
    # chance of a right label, in [1/K, 1), and its price
    skill: Floats  # (T, G)
    cost: Floats  # (T, G)
    epsilon: Floats  # (T,): target
    prior: Floats  # (T,) or (T, K): probability of class 1 of two, or of each of more classes
    # limits on new labels
    fewest: Ints  # (T,)
    most: Ints  # (T,)
    deepest: Ints | None = None  # (G,): labels of a pool beyond which no task needs more of it; default: all there are

    @cached_property
    def members(self) -> list[Ints]:
        """The workers of each pool, those with most room first."""
        room = -self.room_of
        order = np.argsort(room, kind="stable")
        return [order[self.pool[order] == g] for g in range(self.skill.shape[1])]

    @property
    def room_of(self) -> Ints:
        """Tasks each worker can take at most: no worker labels a task twice."""
        return np.minimum(self.instance.capacity, self.instance.n_tasks)

    @cached_property
    def sizes(self) -> Ints:
        """Workers in each pool, the most labels of a pool that one task can have, (G,)."""
        return np.array([len(one) for one in self.members], dtype=np.int64)

    @cached_property
    def rows(self) -> tuple[Ints, Ints, Floats]:
        """Supply rows: pool g, depth h, and the room of all its workers but the h with most, ``M_(h+1) + ... + M_(s)``.

        Labels a_i of tasks i can be dealt to the workers of a pool, to each at most M_j and no task twice, exactly if
        ``sum_i max(0, a_i - h)`` is at most that for every h >= 0 (Gale 1957, Ryser 1957: the a_i are weakly majorised
        by the conjugate of the M_j). Where all M_j are equal, h = 0 implies the rest.
        """
        pool: list[int] = []
        depth: list[int] = []
        supply: list[float] = []
        deepest = self.sizes if self.deepest is None else self.deepest
        for g, workers in enumerate(self.members):
            room = self.room_of[workers]
            tails = np.cumsum(room[::-1])[::-1]
            count = 1 if (room == room[0]).all() else max(1, min(len(room), int(deepest[g])))
            pool += [g] * count
            depth += range(count)
            supply += tails[:count].tolist()
        return np.array(pool, np.int64), np.array(depth, np.int64), np.array(supply, np.float64)


def pools_of(instance: AssignmentInstance, pools: int | None = None, up: bool = False) -> Pools:
    """Pool the workers: those of equal skill and price, or at most so many pools for each price.

    pools: skills inside a pool are rounded: down to the least for each type, so that a plan for the pools holds for the
    workers; or ``up`` to the greatest, so that a bound for the pools is one for the workers.
    """
    refuse_joint_limits(instance, "method patterns", "it plans for pools of equally skilled workers of any group")
    skill = folded(instance, up)
    useful = (instance.capacity > 0) & ((skill > 1 / instance.classes).any(axis=0) | bool(instance.min_labels.any()))
    who = np.flatnonzero(useful)
    table = np.column_stack([instance.cost[:, who].T, skill[:, who].T])
    _, number = np.unique(table, axis=0, return_inverse=True)
    number = number.reshape(-1)
    if pools is not None and number.size and number.max() + 1 > pools:
        number = _merged(instance.cost[:, who].T, skill[:, who].T, pools)
    pool = np.full(instance.n_workers, -1)
    pool[who] = number
    kinds, kind = _kinds(instance)
    types = instance.task_type[kinds]
    count = int(number.max() + 1) if number.size else 0
    rounded = np.stack([_rounded(skill[types][:, pool == g], up) for g in range(count)], axis=1) if count else None
    first = [int(np.flatnonzero(pool == g)[0]) for g in range(count)]
    fewest, most = instance.new_label_limits
    return Pools(
        instance=instance,
        kind=kind,
        pool=pool,
        tasks_in=np.bincount(kind),
        skill=np.zeros((kinds.size, 0)) if rounded is None else rounded,
        cost=instance.cost[types][:, first],
        epsilon=instance.epsilon[kinds],
        prior=_priors(instance)[kinds],
        fewest=fewest[kinds],
        most=np.minimum(most[kinds], UNLIMITED),
    )


def _priors(instance: AssignmentInstance) -> Floats:
    prior: Floats = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    return prior[:, 1] if instance.classes == 2 else prior


def folded(instance: AssignmentInstance, up: bool) -> Floats:
    """Skills as a vote by log-odds sees them: p or 1 - p, whichever is larger, clipped; 1/2 without evidence.

    up: among more classes a worker who is mostly wrong counts as one who names another class than theirs,
    ``(1 - p) / (K - 1)``, which is no more than they know; or, if ``up``, as the skill of
    :func:`crowdopt.crowd.vote_errors.at_best`; -> (types, workers): in [1/K, 1).
    """
    if instance.classes > 2:
        p, most = instance.accuracy, instance.classes - 1
        turned = at_best(p, instance.classes) if up else np.where(p * instance.classes < 1, (1 - p) / most, p)
        return np.where(instance.evidence > 0, np.minimum(turned, 1 - CLIP), 1 / instance.classes)
    skill = np.minimum(np.maximum(instance.accuracy, 1 - instance.accuracy), 1 - CLIP)
    return np.where(instance.evidence > 0, skill, 0.5)


def _rounded(skill: Floats, up: bool) -> Floats:
    return skill.max(axis=1) if up else skill.min(axis=1)


def _kinds(instance: AssignmentInstance) -> tuple[Ints, Ints]:
    """One task of each kind, and the kind of each task, in order of first appearance."""
    fewest, most = instance.new_label_limits
    prior = _priors(instance)
    limits = [fewest.astype(np.float64), np.where(most == UNLIMITED, -1, most).astype(np.float64)]
    kind, first = alike(instance.task_type, instance.epsilon, prior, *limits)
    return first, kind


def _merged(price: Floats, skill: Floats, pools: int) -> Ints:
    """At most so many pools for each price: the pool whose log-odds are widest, for its workers, is halved there."""
    odds = np.log(skill) - np.log1p(-skill)
    level = np.unique(price, axis=0, return_inverse=True)[1].reshape(-1)
    number, following = np.zeros(len(price), np.int64), 0
    for same in range(int(level.max()) + 1):
        parts = [np.flatnonzero(level == same)]
        while len(parts) < pools:
            spread = [float(np.ptp(odds[part], axis=0).max() * np.sqrt(part.size)) for part in parts]
            widest = int(np.argmax(spread))
            if spread[widest] <= 0:
                break
            parts[widest : widest + 1] = _halves(odds, parts[widest])
        for part in parts:
            number[part] = following
            following += 1
    return number


def _halves(odds: Floats, part: Ints) -> list[Ints]:
    values = odds[part, int(np.ptp(odds[part], axis=0).argmax())]
    above = values > (values.min() + values.max()) / 2
    return [part[above], part[~above]]
