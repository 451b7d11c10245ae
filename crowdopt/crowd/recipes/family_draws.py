"""Errors of workers who err together, drawn: one number for a task and a family decides for all its members.

A member who is right with chance p is right where the family's number is below p. So each has the accuracy that the
campaign says, and a worse worker errs wherever a better one of the family does: of all laws with these accuracies the
one under which they err together most often (Fréchet 1951). A second number says which wrong class: those who err name
the same one, but for what confusion tables say.

Labels that are in confine both numbers to intervals: those in which every member says what they said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Labels already in, with which draws must agree."""

    pairs: Ints  # (k, 2): task and worker
    label: Ints  # (k,): class

    def of(self, chosen: Bools) -> KnownLabels:
        """The labels that a mask chooses."""
        return KnownLabels(self.pairs[chosen], self.label[chosen])


def share_draws(
    instance: AssignmentInstance,
    pairs: Ints,
    truth: Ints,
    draws: tuple[Floats, Floats],
    rng: np.random.Generator,
    known: KnownLabels | None = None,
) -> None:
    """Replace the draws of family members, in place, by those that their families share.

    pairs (k, 2): task and worker of each label to be drawn; truth (tasks,); draws two (k,) arrays: in [0, 1): whether a
    worker is right, and which wrong class they say; known: the family's numbers are drawn given what they say; those of
    which the law knows no way to happen are let be.
    """
    n = instance.n_tasks
    for group in instance.groups:
        if not group.dependent:
            continue
        mine = np.isin(pairs[:, 1], group.members)
        other, number = rng.random(n), rng.random(n)
        if known is not None:
            first, second = _intervals(instance, group, known, truth)
            number, other = _inside(first, number), _inside(second, other)
        draws[0][mine], draws[1][mine] = number[pairs[mine, 0]], other[pairs[mine, 0]]


def family_posteriors(instance: AssignmentInstance, known: KnownLabels) -> Floats:
    """``P(class | labels)`` of each task by the law that families are drawn by.

    Where no class explains a task's labels by that law, as if its workers erred independently.

    -> (tasks, classes): each row adds up to 1.
    """
    alone = instance.posterior(known.pairs, known.label)
    families = [group for group in instance.groups if group.dependent]
    if not families or instance.difficulty.share:  # hard tasks have one label of a family at most
        return alone
    apart = known.of(~np.isin(known.pairs[:, 1], [worker for group in families for worker in group.members]))
    chance = instance.posterior(apart.pairs, apart.label)
    for group in families:
        for k in range(int(instance.classes)):
            numbers = _intervals(instance, group, known, np.full(instance.n_tasks, k))
            for low, high in numbers:
                chance[:, k] *= np.maximum(0.0, high - low)
    total = chance.sum(axis=1, keepdims=True)
    return np.where(total > 0, chance / np.where(total > 0, total, 1.0), alone)


Interval = tuple[Floats, Floats]  # of a number of each task


def _intervals(
    instance: AssignmentInstance, group: Group, known: KnownLabels, truth: Ints
) -> tuple[Interval, Interval]:
    """Where a family's two numbers lie, given its members' labels and the truth."""
    had = known.of(np.isin(known.pairs[:, 1], group.members))
    task, true = had.pairs[:, 0], truth[had.pairs[:, 0]]
    skill, start, end = _said(instance, had, true)
    right = had.label == true
    low, high = np.zeros(instance.n_tasks), np.ones(instance.n_tasks)
    np.minimum.at(high, task[right], skill[right])
    np.maximum.at(low, task[~right], skill[~right])
    least, most = np.zeros(instance.n_tasks), np.ones(instance.n_tasks)
    np.maximum.at(least, task[~right], start[~right])
    np.minimum.at(most, task[~right], end[~right])
    return (low, high), (least, most)


def _said(instance: AssignmentInstance, had: KnownLabels, true: Ints) -> tuple[Floats, Floats, Floats]:
    """Chance to be right of each label's worker, and where the second number lies if that label is wrong."""
    kind, worker = instance.cells(had.pairs)
    of = instance.coins if instance.confusion is None else instance.law
    law, row = of.speech.rows(0, kind, worker, true), np.arange(true.size)
    skill = law[row, true]
    law[row, true] = 0.0
    law /= np.maximum(law.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    end = np.cumsum(law, axis=1)[row, had.label]
    return skill, end - law[row, had.label], end


def _inside(interval: Interval, number: Floats) -> Floats:
    """A number in [0, 1) moved into its interval; as it is where that is empty."""
    low, high = interval
    return np.where(low < high, low + (high - low) * number, number)
