"""Claims held against answers that an expert looked at: how far they are to be believed, and what is left of them.

Beliefs assume errors that are independent given skills and difficulty. People's are not, and the labels alone do not
say by how much. A look at a finished answer does. Two numbers say what looks show: of a share ``f`` of all tasks the
labels tell nothing, and of the others the odds of an error are ``k`` times what is claimed,

    P(answer i is wrong) = f (1 - 1/K) + (1 - f) k o_i / (1 + k o_i),   o_i = e_i / (1 - e_i).

Claims that hold have f = 0 and k = 1. Both have a prior on a grid, a half of it on f = 0, and what is claimed in the
end is the posterior's mean; an answer that was looked at is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.law import Difficulty
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known, Verdict

Ids: TypeAlias = NDArray[np.integer]

SHARES: Floats = np.array([0.0, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8])  # f
HOLDS = 0.5  # prior chance that there are no such tasks; the other shares are alike
FACTORS: Floats = np.array([0.25, 0.5, 1.0, 2.0, 4.0])  # k
NEAR: Floats = np.array([1.0, 4.0, 6.0, 4.0, 1.0])  # prior weights of these
SURE = 1e-9  # claims are kept this far from 0 and 1
LOOKS, PART = 100, 0.25  # answers that an expert is asked to look at, at most, and of all answers


@dataclass(frozen=True, eq=False)
class CheckedAnswers:
    """Answers that an expert looked at: tasks, their true classes, and the answers; each (k,).

    claimed (k,): what was claimed of them when they were looked at; None: what is claimed now.
    """

    tasks: Ids
    truth: Ints
    answers: Ints
    claimed: Floats | None = None

    @property
    def wrong(self) -> Bools:
        """Whether each answer was another one than the expert's."""
        return self.answers != self.truth

    def after(self, before: CheckedAnswers | None) -> CheckedAnswers:
        """These looks and those before; of a task that was looked at twice the answer it had first."""
        if before is None:
            return self
        assert before.claimed is not None and self.claimed is not None
        fresh = ~np.isin(self.tasks, before.tasks)
        truth = dict(zip(self.tasks.tolist(), self.truth.tolist(), strict=True))
        kept = [truth.get(task, old) for task, old in zip(before.tasks.tolist(), before.truth.tolist(), strict=True)]
        return CheckedAnswers(
            np.concatenate([before.tasks, self.tasks[fresh]]),
            np.concatenate([np.array(kept, np.int64), self.truth[fresh]]),
            np.concatenate([before.answers, self.answers[fresh]]),
            np.concatenate([before.claimed, self.claimed[fresh]]),
        )

    def sentence(self, claimed: Floats, wanted: Bools) -> str:
        """What a user is told of them, by what is claimed without them of the tasks that are wanted, each (tasks,)."""
        if self.claimed is not None:
            claimed = claimed.copy()
            claimed[self.tasks] = self.claimed
        looked = f"an expert looked at {self.tasks.size} answers, {int(self.wrong.sum())} of them wrong"
        mean = float(claimed[wanted].mean())
        return f"{looked}; claims go by that too, by labels alone they would be {mean:.3f} on average"

    def corrected(self, answers: Ints) -> Ints:
        """The answers, (tasks,), with the true ones in place of those that were looked at."""
        right = answers.copy()
        right[self.tasks] = self.truth
        return right

    def claims(self, claimed: Floats, classes: int) -> Floats:
        """Claims (tasks,) in the light of what was looked at, among so many classes."""
        if not self.tasks.size:
            return claimed
        chance = _errors(claimed, classes)
        seen = chance[..., self.tasks] if self.claimed is None else _errors(self.claimed, classes)
        with np.errstate(divide="ignore"):
            logs = np.where(self.wrong, np.log(seen), np.log(1 - seen)).sum(axis=-1) + np.log(_prior())
        weight = np.exp(logs - logs.max())
        weight /= weight.sum()
        mean: Floats = (weight[..., None] * chance).sum(axis=(0, 1))
        mean[self.tasks] = 0.0
        return mean


def looks_allowed(name: str, checks: float, look: float) -> None:
    """Raises InputError where a policy's options ask for a negative number of looks, or pay less than nothing."""
    if not (checks >= 0 and look >= 0):
        raise InputError(f"policy {name}: checks and look must be at least 0")


def looks_at(labels: int, checks: float, tasks: int) -> int:
    """How many answers of so many are looked at: a share ``checks`` of the labels, within LOOKS and PART."""
    return int(min(LOOKS, checks * labels, PART * tasks))


def looked_at(told: Verdict, before: CheckedAnswers | None, tasks: Ids, truth: Ints) -> CheckedAnswers | None:
    """Looks with these beside those before, tasks and their true classes each (k,); None where nothing is claimed.

    told: without looks.
    """
    if told.decided is None or told.claims is None:
        return None
    decided = told.decided if before is None else before.corrected(told.decided)
    return CheckedAnswers(tasks, truth, decided[tasks], told.claims[tasks]).after(before)


def told(difficulty: Difficulty, claims: Floats, targets: Floats) -> list[str]:
    """What users are told of hard tasks, by claimed errors and targets (tasks,) of those wanted; [] where none is."""
    if not difficulty.share:
        return []
    mean, target = float(claims.mean()), float(targets.mean())
    sentence = f"{difficulty}; claimed errors heed it, {mean:.3f} on average"
    if mean > target:
        sentence += f"; the target {target:g} is out of reach, {mean:.2g} is what these labels can promise"
    return [sentence]


def with_looks(
    verdict: Verdict,
    looks: CheckedAnswers | None,
    known: Known,
    difficulty: Difficulty,
    between: Callable[[Floats], list[str]] = lambda claims: [],
) -> Verdict:
    """Answers and claims by labels alone held against what an expert saw, and what a user is told of them.

    between: sentences of the policy's own, by the claims of the tasks that are wanted.
    """
    decided, believed, wanted = verdict.decided, verdict.claims, known.need > COVERAGE
    assert decided is not None and believed is not None
    claims = believed if looks is None else looks.claims(believed, known.classes)
    unsure = int((claims > known.epsilon + COVERAGE)[wanted].sum())
    notes = [*verdict.notes]
    notes += [f"{unsure} tasks are not as sure as their epsilon asks; each has its claimed error"] * bool(unsure)
    notes += [*between(claims[wanted]), *([] if looks is None else [looks.sentence(believed, wanted)])]
    notes += told(difficulty, claims[wanted], known.epsilon[wanted])
    right = decided if looks is None else looks.corrected(decided)
    return replace(verdict, decided=right, claims=claims, notes=notes)


def to_look_at(told: Verdict, checks: float, wanted: Bools, labels: int, rng: np.random.Generator) -> Ids:
    """Answers of all degrees of certainty, a share ``checks`` of so many labels, within limits; wanted (tasks,)."""
    if not checks or told.decided is None or told.claims is None:
        return np.zeros(0, np.int64)
    wanted = wanted & (told.decided >= 0)
    return drawn(told.claims, wanted, looks_at(labels, checks, int(wanted.sum())), rng)


def drawn(claimed: Floats, wanted: Bools, count: int, rng: np.random.Generator) -> Ids:
    """So many of the wanted tasks, evenly over their claims: every (n / count)-th in that order, from a random one.

    claimed, wanted (tasks,); -> (count,) ascending, or all wanted tasks where those are fewer.
    """
    order = np.flatnonzero(wanted)[np.argsort(claimed[wanted], kind="stable")]
    if not 0 < count < order.size:
        return np.sort(order[:count])
    step = order.size / count
    places = np.floor((np.arange(count) + rng.random()) * step).astype(np.int64)
    return np.sort(order[np.minimum(places, order.size - 1)])


def _errors(claimed: Floats, classes: int) -> Floats:
    chance = np.clip(claimed, SURE, 1 - SURE)
    odds = FACTORS[:, None] * (chance / (1 - chance))
    guess, share = 1 - 1 / classes, SHARES[:, None, None]
    return share * guess + (1 - share) * np.minimum(guess, odds / (1 + odds))


def _prior() -> Floats:
    shares = np.where(SHARES == 0, HOLDS, (1 - HOLDS) / (SHARES.size - 1))
    return shares[:, None] * (NEAR / NEAR.sum())
