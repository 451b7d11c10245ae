"""The joint law of votes and classes, from the campaign alone, for the second opinion on adaptive plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
