"""A hedge against a method's own certainty: half of each chance is the method's, half the share of the labels.

A method that knows labels alone takes shared errors for skill, and is then far too sure. Which half is right no label
tells, so both count the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels


@dataclass(frozen=True, eq=False)
class Hedge:
    """``(s_ik + P_i(k)) / 2``: s the shares of a task's labels, with one label spread over all classes."""

    tally: Floats  # (tasks, classes): labels by class
    known: Ints  # (tasks,): the class where the answer is known, -1 elsewhere

    @classmethod
    def of(cls, labels: Labels, truth: Ints | None = None) -> Hedge:
        """Of a table; truth (tasks,): known classes, -1 where unknown."""
        shape = (len(labels.tasks), len(labels.classes))
        cell = labels.task * shape[1] + labels.label
        tally = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
        return cls(tally, np.full(shape[0], -1) if truth is None else truth)

    def posterior(self, by_method: Floats) -> Floats:
        """The mean of both, (tasks, classes); what is known is certain."""
        shares = (self.tally + 1 / self.tally.shape[1]) / (self.tally.sum(axis=1, keepdims=True) + 1)
        mean: Floats = (shares + by_method) / 2
        sure = np.flatnonzero(self.known >= 0)
        mean[sure] = 0.0
        mean[sure, self.known[sure]] = 1.0
        return mean

    def with_labels(self, task: Ints, label: Ints) -> Hedge:
        """With new labels added, each (k,)."""
        tally = self.tally.copy()
        np.add.at(tally, (task, label), 1.0)
        return replace(self, tally=tally)
