"""Errors of workers who err together, drawn: one number for a task and a family decides for all its members.

A member of accuracy p is right where the family's number is below p. So each has the accuracy that the campaign says,
and whoever is worse errs wherever a better one of the family does: of all laws with these accuracies the one under
which they err together most often (Fréchet 1951). Whoever errs names the same wrong class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Labels that are there already, of which draws for the same families take notice.

    Parameters
    ----------
    pairs : (k, 2) int
        Task and worker.
    label : (k,) int
        Class.
    """

    pairs: Ints
    label: Ints


def share_draws(
    instance: AssignmentInstance,
    pairs: Ints,
    truth: Ints,
    draws: tuple[Floats, Floats],
    rng: np.random.Generator,
    known: KnownLabels | None = None,
) -> None:
    """Replace the draws of family members, in place, by those that their families share.

    Parameters
    ----------
    instance : AssignmentInstance
    pairs : (k, 2) int
        Task and worker of each label to be drawn.
    truth : (tasks,) int
    draws : two (k,) arrays
        In [0, 1): whether a worker is right, and which wrong class they say.
    rng : Generator
    known : KnownLabels, optional
        The family's number is drawn given what they say.
    """
    n = instance.n_tasks
    for group in instance.groups:
        if not group.dependent:
            continue
        mine = np.isin(pairs[:, 1], group.members)
        low, high, shift, other = np.zeros(n), np.ones(n), np.zeros(n), rng.random(n)
        if known is not None:
            had = known.pairs[np.isin(known.pairs[:, 1], group.members)]
            label = known.label[np.isin(known.pairs[:, 1], group.members)]
            wrong = (label - truth[had[:, 0]]) % instance.classes
            skill = instance.accuracy[instance.task_type[had[:, 0]], had[:, 1]]
            np.minimum.at(high, had[wrong == 0, 0], skill[wrong == 0])
            np.maximum.at(low, had[wrong > 0, 0], skill[wrong > 0])
            np.maximum.at(shift, had[wrong > 0, 0], wrong[wrong > 0])
            other = np.where(shift > 0, (shift - 0.5) / (instance.classes - 1), other)
        number = rng.random(n)
        number = np.where(low < high, low + (high - low) * number, number)
        draws[0][mine], draws[1][mine] = number[pairs[mine, 0]], other[pairs[mine, 0]]
