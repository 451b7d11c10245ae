"""What labels say under rules of exact errors: skills, priors and targets of tasks alike but for these two.

Labels of one coin are alike for every class, so only the sizes of a prior's entries matter, and the best vote's error
is a concave function of it that no order of the classes changes: of two priors, the one whose likeliest classes have
the smaller sums (it is majorized) errs more over every set of labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.law import clipped
from crowdopt.crowd.rules import EXACT_ERROR, log_odds
from crowdopt.crowd.vote_errors import CERTAIN, vote_errors
from crowdopt.programs.pools import folded

ANSWERS = 16_500  # combinations of answers to a set, at most: what is followed
SPARE = 1e-7  # evidence; room for rounding where it only saves work


@dataclass(frozen=True, eq=False)
class VoteLaw:
    """Tasks of a row: which answers their labels give, and how much their votes may err."""

    skill: Floats  # (E, G): chance of a right label, at least 1/K: on easy tasks, and on hard ones where there are some
    share: Floats  # (E,): of tasks that are easy, and hard
    left: Floats  # (E,): of a label's evidence there, at most
    held: Floats  # (E, h): the chance that each label that is in is right
    prior: Floats  # (k, K): of each kind, the likeliest class first
    # and evidence that is asked for: by the rule exact-error what every vote has which errs no more
    target: Floats  # (k,)
    need: Floats  # (k,)
    # skills that know all that the workers know: larger where a worker is mostly wrong among more than two classes
    best: Floats  # (E, G)
    # whether votes that do not know hard tasks tell about all tasks of a kind: not where skills or its prior are better
    # than theirs, for which such a vote may err more
    own: Bools  # (k,)

    @property
    def evidence(self) -> Floats:
        """Of one label of each class of workers, (G,)."""
        return EXACT_ERROR.evidence(self.skill[0], self.prior.shape[1])

    def begun(self, given: Ints) -> int:
        """Combinations of answers to the labels that every set has: those in, and those given."""
        known = self.held.shape[1] + given.size
        return int(self.prior.shape[1] ** known) if known < 60 else ANSWERS + 1

    def lacking(self, given: Ints) -> Floats:
        """Evidence that a task of each kind needs beside labels that are in and such that are given, (k,)."""
        known = EXACT_ERROR.evidence(self.held[0], self.prior.shape[1]).sum() + self.evidence[given].sum()
        return np.maximum(0.0, self.need - known)

    def error(self, labels: Ints, place: int) -> float:
        """What a vote over a set of labels errs with, at most, that weighs all tasks as easy ones; two classes."""
        accuracy = clipped(np.hstack([self.held, self.skill[:, labels]]))
        one, chance = np.array([0, accuracy.shape[1]]), self.prior[place, 1:]
        lean = np.log(chance) - np.log(self.prior[place, :1])
        weight = log_odds(accuracy[0])
        return sum(
            float(share * vote_errors(one, p, weight, chance, lean)[0][0])
            for share, p in zip(self.share, accuracy, strict=True)
        )

    def of(self, chunks: list[Ints], hardest: bool) -> VoteLaw:
        """Each chunk of kinds as one that errs no less than any of them, or no more."""
        pick = np.minimum if hardest else np.maximum
        sums = np.cumsum(self.prior, axis=1)
        target = [self.target[c].min() if hardest else self.target[c].max() for c in chunks]
        rows = [pick.reduce(sums[c]) for c in chunks]
        prior = np.maximum(0.0, np.diff(np.array(rows), axis=1, prepend=0.0))
        need = [self.need[c].max() if hardest else self.need[c].min() for c in chunks]
        skill = self.skill if hardest else self.best
        alike = [hardest or bool((self.prior[c] == self.prior[c[0]]).all()) for c in chunks]
        own = np.array(alike) & (hardest or bool((self.best == self.skill).all()))
        return replace(self, skill=skill, prior=prior, target=np.array(target), need=np.array(need), own=own)


def law_of(instance: AssignmentInstance, tasks: Ints, workers: Ints) -> VoteLaw:
    """The law of tasks of one type with the same labels in.

    tasks (k,): one of each kind; workers (G,): one of each class.
    """
    kind, classes = int(instance.task_type[tasks[0]]), int(instance.classes)
    skill, best = (np.maximum(folded(instance, up=up)[kind], 1 / classes) for up in (False, True))
    held = np.zeros(0, np.int64)
    if not instance.observed:
        held = instance.collected[instance.collected[:, 0] == tasks[0], 1]
        held = held[skill[held] > 1 / classes]
    hard = instance.difficulty
    known = clipped(instance.accuracy[kind, held])  # as it is: what is in bounds every plan exactly
    both, most, begun = ([one, hard.on_hard(one)] if hard.share else [one] for one in (skill, best, known))
    share = np.array([1 - hard.share, hard.share] if hard.share else [1.0])
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, classes))[tasks]
    return VoteLaw(
        skill=np.array([one[workers] for one in both]),
        share=share,
        left=np.array([1.0, hard.left**2][: len(both)]),
        held=np.array(begun),
        prior=-np.sort(-prior, axis=1),
        target=instance.epsilon[tasks] + CERTAIN,
        need=instance.need[tasks] - np.where(_is_implied(instance)[tasks], SPARE, COVERAGE / 2),
        best=np.array([one[workers] for one in most]),
        own=np.ones(tasks.size, bool),
    )


def _is_implied(instance: AssignmentInstance) -> Bools:
    """Whether every vote that keeps the target has the evidence that is asked for, (tasks,)."""
    return (np.broadcast_to(instance.demand, instance.n_tasks) <= 1) & (instance.rule == EXACT_ERROR.name)
