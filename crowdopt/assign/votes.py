"""What votes over sets of labels err with, and how much they may: where exact errors decide which sets are enough.

Labels of one coin are alike for every class, so only the sizes of a prior's entries matter. Tasks of a row
have the same skills, prior and labels in; its kinds differ in the error that they may have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, alike, parts_of, same_entries
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.law import clipped
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN, errors_of_sets, folded

LEAST = 1e-300  # error; of less there is no logarithm
STATES = 1_024  # told apart of labels that are in; in bounds the class of the others is known
SPARE = 1e-7  # evidence; room for rounding where it only saves work


class Law(NamedTuple):
    """As compiled loops read it."""

    skill: (
        Floats  # (E, T, G): chance of a right label, at least 1/K: on easy tasks, and on hard ones where there are some
    )
    start_at: Ints  # (R + 1,)
    start: Floats  # (E, K, states): chances of each class and of what labels that are in say, row after row
    target: Floats  # (kinds,): error
    plain: bool  # whether votes take every task for an easy one


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes of a problem's tasks."""

    instance: AssignmentInstance
    law: Law
    poorer: Law | None  # of skills that are no more than votes make of them, where that is less than workers know
    types: Ints  # (T,): of the instance
    task: Ints  # (R,): one of each row
    worker: Ints  # (G,): one of each class
    held_at: Ints  # (R + 1,): labels that are in, or fixed, by row
    held: Ints  # workers
    need: Floats  # (kinds,): evidence
    implied: Bools  # (kinds,): whether every vote that keeps the target has it

    def power(self, row: Ints, owner: Ints, label: Ints, kinds_at: Ints, evidence: Floats) -> Floats:
        """How hard the kinds are that sets serve: ``-ln`` of the error, unless evidence lacks before, (S,).

        row (S,): of each set; owner, label: the set and the class of workers of each label; kinds_at (R + 1,): where
        the kinds of rows begin; evidence (S,).
        """
        pairs = self.with_held(row, owner, label)
        limits = np.sort(np.repeat(self.task, np.diff(kinds_at)) + self.law.target)
        power: Floats = hardness(np.maximum(LEAST, errors_of_sets(self.instance, self.task[row], pairs, limits)))
        if self.implied.all():
            return power
        target = hardness(self.law.target)
        for r in np.unique(row).tolist():  # needs of a row rise with what its kinds ask of errors
            mine, some = row == r, slice(kinds_at[r], kinds_at[r + 1])
            asked = np.where(self.implied[some], 0.0, self.need[some])
            first = np.searchsorted(np.maximum.accumulate(asked), evidence[mine] + COVERAGE, side="right")
            limit = np.append(np.nextafter(target[some], -np.inf), np.inf)[first]
            power[mine] = np.minimum(power[mine], limit)
        return power

    def with_held(self, row: Ints, owner: Ints, label: Ints) -> Ints:
        """Place and worker of the labels of sets, those that are in or fixed among them, (k, 2)."""
        at, held = parts_of(self.held_at, row, self.held)
        every = np.append(owner, np.repeat(np.arange(row.size), np.diff(at)))
        return np.column_stack([every, np.append(self.worker[label], held)])

    def jury(self, kind_of: Ints) -> Any:
        """As the loops of crowdopt.assign.jury_kernels read it; kind_of (tasks,): of all tasks."""
        from crowdopt.assign.jury_kernels import Jury

        instance, classes, hard = self.instance, int(self.instance.classes), self.instance.difficulty
        types, workers = np.ix_(self.types, self.worker)
        cells = types, workers
        own = instance.task_type[self.task]
        held = np.repeat(own, np.diff(self.held_at)), self.held

        def both(accuracy: Floats) -> Floats:
            right = clipped(accuracy)
            return np.array([right, hard.on_hard(right)] if hard.share else [right])

        def weights(of: tuple[Ints, Ints]) -> Floats:
            return np.where(instance.evidence[of] > 0, instance.weight[of], 0.0)

        prior = np.array(np.broadcast_to(instance.prior, (instance.n_tasks, classes))[self.task])
        odds = np.log(prior[:, 1]) - np.log(prior[:, 0])
        return Jury(
            accuracy=np.ascontiguousarray(both(instance.accuracy[cells])),
            weight=np.ascontiguousarray(weights(cells)),
            worth=np.ascontiguousarray(instance.evidence[cells]),
            share=np.array([1 - hard.share, hard.share] if hard.share else [1.0]),
            prior=prior,
            bias=odds if instance.the_rule.heeds_prior else np.zeros(odds.size),
            held_at=self.held_at,
            held_accuracy=np.ascontiguousarray(both(instance.accuracy[held])),
            held_weight=weights(held),
            target=self.law.target - CERTAIN / 2,  # a hair below what the plan is held against
            need=np.where(self.implied, 0.0, self.need),
            kind_of=kind_of,
        )


def hardness(error: Floats) -> Floats:
    """The power that a set must have for an error."""
    return -np.log(error)


def skills(instance: AssignmentInstance, workers: Ints, types: Ints, up: bool) -> Floats:
    """Chances of right labels on easy tasks, and on hard ones where there are some, (E, T, G)."""
    one = np.maximum(folded(instance, up=up)[types][:, workers], 1 / int(instance.classes))
    return np.array([one, instance.difficulty.on_hard(one)] if instance.difficulty.share else [one])


def votes_of(instance: AssignmentInstance, first: Ints, kinds: Ints, types: Ints, workers: Ints, given: Ints) -> Votes:
    """The votes of rows and kinds.

    first (R,), kinds (K,), workers (G,): one task or worker of each; types (T,): types of the instance; given (k, 2):
    task and worker of labels that every plan has and no prior knows.
    """
    hard, n = instance.difficulty, instance.n_tasks
    order = np.argsort(given[:, 0], kind="stable")
    at = np.append(0, np.cumsum(np.bincount(given[:, 0], minlength=n)))
    held_at, held = parts_of(at, first, given[order, 1])
    share = np.array([1 - hard.share, hard.share] if hard.share else [1.0])
    prior = -np.sort(-np.broadcast_to(instance.prior, (n, instance.classes))[first], axis=1)
    owner = np.repeat(np.arange(first.size), np.diff(held_at))
    heard = same_entries(first.size, owner, instance.accuracy[instance.task_type[first[owner]], held])
    like, heads = alike(prior, heard)
    starts = [
        _start(instance, prior[r], share, int(instance.task_type[first[r]]), held[held_at[r] : held_at[r + 1]])
        for r in heads.tolist()
    ]
    sizes = np.array([one.shape[2] for one in starts])
    start_at, states = parts_of(np.append(0, np.cumsum(sizes)), like, np.arange(sizes.sum()))
    best, poor = (skills(instance, workers, types, up) for up in (True, False))
    law = Law(
        skill=best,
        start_at=start_at,
        start=np.ascontiguousarray(np.concatenate(starts, axis=2)[:, :, states]),
        target=instance.epsilon[kinds] + CERTAIN,
        plain=bool(hard.share),
    )
    implied = (np.broadcast_to(instance.demand, n)[kinds] <= 1) & (instance.rule == EXACT_ERROR.name)
    poorer = None if (best == poor).all() else law._replace(skill=poor)
    known = np.bincount(given[:, 0], instance.evidence[instance.task_type[given[:, 0]], given[:, 1]], n)
    need = np.maximum(0.0, instance.need[kinds] - known[kinds])
    return Votes(instance, law, poorer, types, first, workers, held_at, held, need, implied)


def _start(instance: AssignmentInstance, prior: Floats, share: Floats, kind: int, held: Ints) -> Floats:
    """Chances of classes and of what labels that are in say, those that are alike together, (E, K, states)."""
    classes, law = prior.size, share[:, None, None] * prior[:, None]
    right = clipped(instance.accuracy[kind, held])
    both = np.array([right, instance.difficulty.on_hard(right)][: share.size])
    for p in both.T[np.argsort(-right, kind="stable")]:
        wrong = (1 - p) / (classes - 1)
        chance = np.where(np.eye(classes, dtype=bool), p[:, None, None], wrong[:, None, None])  # (E, class, label)
        law = (law[:, :, :, None] * chance[:, :, None, :]).reshape(share.size, classes, -1)
        law = _together(law)
    return law


def _together(law: Floats) -> Floats:
    """States whose classes are as likely as one another's are one; of too many the smallest are left out."""
    odds = np.round(np.log(law.reshape(-1, law.shape[2]) / law[0, 0]), 9)
    _, place = np.unique(odds, axis=1, return_inverse=True)
    joined = np.array([[np.bincount(place.reshape(-1), row) for row in part] for part in law])
    if joined.shape[2] > STATES:  # as if their class were known: nothing is lost there
        joined = joined[:, :, np.sort(np.argsort(-joined.sum(axis=(0, 1)), kind="stable")[:STATES])]
    return joined
