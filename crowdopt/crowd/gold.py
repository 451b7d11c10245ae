"""Gold of a crowd: what it tells of skills and of votes that depend on one another, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.law import NONE, Coins, Difficulty, Law, on_easy
from crowdopt.crowd.law_fits import COINS, COMMON, FITS, LawChoice, chosen_law, laws_for
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.skills import AGREEMENT, AVERAGED, TALLIED, drawn_confusions, estimator, known_of, priors_of
from crowdopt.crowd.vote_errors import errors_at, errors_by, most_errors

if TYPE_CHECKING:
    from crowdopt.crowd.instance import AssignmentInstance


class DoubtParams(NamedTuple):
    """Numbers of what gold leaves open."""

    draws: int = 100  # of the skills of all workers
    # tasks whose errors are computed in each, spread evenly over the plan's: as many as have so many pairs of labels,
    # but at least a few: what is left open is the crowd's, and the same for all tasks
    pairs: int = 10_000
    fewest: int = 3
    seed: int = 0


PARAMS = DoubtParams()
SAME = 1e-9  # an instance keeps ten digits of skills
SHARE = 0.95  # of the draws, in which errors are at most as large as is said


class GoldRows(NamedTuple):
    """Answers one by one, where several workers answered an item: they tell who errs together."""

    item: Ints  # (k,)
    worker: Ints  # (k,)
    right: Ints  # (k,): 1 or 0
    kind: Ints  # (items,): type of each item


def heeded(classes: int, several: bool) -> tuple[str, ...]:
    """Laws of votes that plans can heed by exact errors; several: whether a family may have several labels a task."""
    laws = tuple(FITS) if classes == 2 else ()
    return tuple(name for name in laws if not (several and name == COMMON))  # no exact errors of those on hard tasks


class Told(NamedTuple):
    """Skills as gold tells them: with a law of votes where one is heeded, else of each worker by themselves."""

    accuracy: Floats  # (types, workers): on easy tasks, where some are hard
    difficulty: Difficulty
    vote_law: Law | None
    source: str  # in words


@dataclass(frozen=True, eq=False)
class Gold:
    """Tallies of a crowd's gold, and what they are read by."""

    # c and s, (1 or types, workers): one row where gold does not tell types apart
    correct: Ints
    asked: Ints
    source: str  # where it stands, for sentences
    classes: int = 2
    method: str = AVERAGED  # how tallies become accuracies (crowd.skills)
    told_by: str = "gold"  # what the campaign calls it
    tables: Ints | None = None  # (types, workers, classes, classes): answers by true class, where gold tells them
    rows: GoldRows | None = None
    heeds: tuple[str, ...] = ()  # laws of votes that plans of this campaign can heed by exact errors
    stated: Difficulty = NONE  # of the campaign, whatever rows say

    @cached_property
    def choice(self) -> LawChoice | None:
        """The law of votes that tells held-out gold best; None without answers of several to an item."""
        if self.rows is None:
            return None
        names = laws_for(self.correct.shape[1]) if self.classes == 2 and len(self.correct) == 1 else COINS
        return chosen_law(self.votes, tuple(name for name in names if name in (self.heeds or names)))

    @property
    def votes(self) -> Ints:
        """Of the rows: 1 where a worker is right, 0 where wrong, -1 where not asked, (items, workers)."""
        assert self.rows is not None
        right = np.full((self.rows.kind.size, self.correct.shape[1]), -1)
        right[self.rows.item, self.rows.worker] = self.rows.right
        return right

    @property
    def law(self) -> Law | None:
        """The law of votes, where gold tells that workers do not err independently."""
        return None if self.choice is None or self.choice.law.share.size == 1 else self.choice.law

    @property
    def is_heeded(self) -> bool:
        """Whether gold tells such a law, and plans by exact errors heed it."""
        return bool(self.heeds) and self.method not in TALLIED and self.law is not None

    def told(self, types: int, rule: str) -> Told:
        """What plans by a rule count with; types: of tasks."""
        accuracy = _filled(estimator(self.method, self.classes)(self.correct, self.asked))
        difficulty, law, words = self.stated, None, f"{self.method} from {self.told_by}"
        if self.is_heeded and rule == EXACT_ERROR.name:
            assert self.choice is not None
            coins, words = self.choice.by_coins, str(self.choice)
            accuracy, difficulty = _accuracy(coins), coins.difficulty
            law = None if self.law is coins else self.law
        elif difficulty.share:
            accuracy = on_easy(accuracy, difficulty)
        return Told(np.broadcast_to(accuracy, (types, accuracy.shape[1])).copy(), difficulty, law, words)

    def tells(self, instance: AssignmentInstance) -> bool:
        """Whether an instance's skills are what these known answers tell, with the law of votes or without."""
        if self.told_by == AGREEMENT or self.correct.shape[1] != instance.n_workers:
            return False
        if instance.confusion is not None:
            return self.tables is not None
        told = [self.told(instance.n_types, rule).accuracy for rule in dict.fromkeys((instance.rule, ""))]
        return any(np.allclose(instance.accuracy, skill, rtol=0, atol=SAME) for skill in told)

    def drawn(self, rng: np.random.Generator, workers: Ints, difficulty: Difficulty) -> Floats:
        """Skills on easy tasks as gold leaves them open: one draw of all these workers', (1 or types, workers)."""
        told = known_of(self.correct, self.asked, self.classes, priors_of(self.method))
        own = np.stack([known.draw(rng, c[workers], s[workers]) for known, c, s in told])
        return on_easy(own, difficulty)


def _accuracy(law: Law) -> Floats:
    """Of a law of one coin, (1 or types, workers)."""
    assert isinstance(law.speech, Coins)
    return law.speech.accuracy[0]


def _filled(estimate: Floats) -> Floats:
    """Accuracies with their type's mean, or that of all, where there is none."""
    there = ~np.isnan(estimate)
    overall = estimate[there].mean() if there.any() else 0.5
    means = [row[known].mean() if known.any() else overall for row, known in zip(estimate, there, strict=True)]
    return np.where(there, estimate, np.array(means)[:, None])


class LeftOpen(NamedTuple):
    """Errors of a plan over crowds whose gold would look like this."""

    fewest: int  # gold answers of a worker with labels in the plan
    most: int
    mean: float  # error of an answer, over tasks and crowds
    high: float  # mean error over tasks, which a share of the crowds stay below
    share: float

    def __str__(self) -> str:
        each = f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"
        of = round(1 / (1 - self.share))
        return (
            f"skills rest on {each} gold answers each: as far as these tell, errors are {self.mean:.3f} on average, "
            f"{self.high:.3f} at most in {of - 1} of {of} crowds like this"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """The same for plan.json."""
        return {**self._asdict(), "says": str(self)}


def left_open(
    instance: AssignmentInstance, pairs: Ints, share: float = SHARE, params: DoubtParams = PARAMS
) -> LeftOpen | None:
    """What a plan errs with under skills that are drawn as gold leaves them open, votes weighed as planned.

    instance: read from a campaign; pairs (k, 2): task and worker; share: of the draws, that err at most as the larger
    figure says; -> None where skills do not rest on gold, or labels are in, whose say depends on the skills as well.
    """
    errors = drawn_errors(instance, pairs, params)
    if errors is None:
        return None
    asked = instance.origin.gold.asked.sum(axis=0)[np.unique(pairs[:, 1])]  # type: ignore[union-attr]
    high = np.quantile(errors, share, method="higher")
    return LeftOpen(int(asked.min()), int(asked.max()), float(errors.mean()), float(high), share)


def drawn_errors(instance: AssignmentInstance, pairs: Ints, params: DoubtParams = PARAMS) -> Floats | None:
    """The mean error of a plan's answers in each draw, (draws,); None as for :func:`left_open`."""
    gold = None if instance.origin is None else instance.origin.gold
    if gold is None or not len(pairs) or len(instance.collected) or not gold.tells(instance):
        return None
    every, count = np.unique(pairs[:, 0], return_counts=True)
    size = max(params.fewest, int(params.pairs / (count**2).mean()))
    rng, hard, tasks = np.random.default_rng(params.seed), instance.difficulty, every[:: -(-every.size // size)]
    exact = np.zeros(0) if instance.confusion is not None else most_errors(instance, pairs)
    some = pairs[np.isin(pairs[:, 0], tasks)]
    workers, place = np.unique(some[:, 1], return_inverse=True)
    if instance.classes == 2 and instance.confusion is None:
        cell = (instance.task_type[some[:, 0]] if len(gold.correct) > 1 else 0), place.reshape(-1)
        skill = np.stack([gold.drawn(rng, workers, hard)[cell] for _ in range(params.draws)])
        errors = errors_at(instance, tasks, some, skill).mean(axis=1)
        if hard.share:
            errors = hard.mixed(errors, errors_at(instance, tasks, some, hard.on_hard(skill)).mean(axis=1))
        return errors * (exact[every].mean() / exact[tasks].mean())
    errors = np.array(
        [errors_by(instance, _law_drawn(gold, instance, rng, workers), tasks, some).mean() for _ in range(params.draws)]
    )
    if instance.confusion is None:  # those are simulated, by the same numbers
        errors += exact[every].mean() - errors_by(instance, instance.coins, tasks, some).mean()
    return errors


def _law_drawn(gold: Gold, instance: AssignmentInstance, rng: np.random.Generator, workers: Ints) -> Law:
    """The instance's law, but for these workers' skills, which are drawn."""
    if instance.confusion is not None and gold.tables is not None:
        tables = instance.confusion.copy()
        tables[:, workers] = drawn_confusions(gold.tables, rng, workers)
        return Law.tables(tables)
    skill = instance.accuracy.copy()
    skill[:, workers] = gold.drawn(rng, workers, instance.difficulty)
    return Law.coins(skill, int(instance.classes), instance.difficulty)
