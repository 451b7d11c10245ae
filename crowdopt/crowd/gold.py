"""Gold of a crowd: what it tells of skills, and of votes that depend on one another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.law import LEAST, NONE, Coins, Difficulty, Law, on_easy
from crowdopt.crowd.law_fits import COMMON, FITS, GoldVotes, LawChoice, chosen_law
from crowdopt.crowd.priors import Known
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.skills import AVERAGED, TALLIED, estimator, known_of, priors_of, with_crowd


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
    rows: GoldVotes | None = None  # answers one by one, where several workers answered an item
    heeds: tuple[str, ...] = ()  # laws of votes that plans of this campaign can heed by exact errors
    stated: Difficulty = NONE  # of the campaign, whatever rows say

    @cached_property
    def known(self) -> list[tuple[Known, Floats, Floats]]:
        """Priors of each type, and the tallies that its workers count with."""
        return known_of(self.correct, self.asked, self.classes, priors_of(self.method))

    @cached_property
    def counts(self) -> Floats:
        """Answers by true class, with those shared with the crowd, (types, workers, classes, classes)."""
        assert self.tables is not None
        return np.stack([with_crowd(one) for one in self.tables])

    @cached_property
    def choice(self) -> LawChoice | None:
        """The law of votes that tells held-out gold best; None without answers of several to an item."""
        if self.rows is None:
            return None
        return chosen_law(self.rows, self.heeds or tuple(FITS))

    @property
    def law(self) -> Law | None:
        """The law of votes, where gold tells that workers do not err independently."""
        return None if self.choice is None or self.choice.law.share.size == 1 else self.choice.law

    @property
    def is_heeded(self) -> bool:
        """Whether gold tells such a law, and plans by exact errors heed it."""
        return bool(self.heeds) and self.method == AVERAGED and self.law is not None

    def told(self, types: int, rule: str) -> Told:
        """What plans by a rule count with; types: of tasks."""
        if self.method in TALLIED:
            accuracy = _filled(estimator(self.method)(self.correct, self.asked))
        else:
            accuracy = np.stack([known.means(*tally) for known, *tally in self.known])
        difficulty, law, words = self.stated, None, f"{self.method} from {self.told_by}"
        if self.is_heeded and rule == EXACT_ERROR.name:
            assert self.choice is not None
            coins, words = self.choice.by_coins, str(self.choice)
            accuracy, difficulty = _accuracy(coins), coins.difficulty
            law = None if self.law is coins else self.law
        elif difficulty.share:
            accuracy = on_easy(accuracy, difficulty)
        return Told(np.broadcast_to(accuracy, (types, accuracy.shape[1])).copy(), difficulty, law, words)

    def drawn(self, rng: np.random.Generator, workers: Ints, difficulty: Difficulty) -> Floats:
        """Skills on easy tasks as gold leaves them open: one draw of all these workers', (1 or types, workers)."""
        own = np.stack([known.draw(rng, c[workers], s[workers]) for known, c, s in self.known])
        return on_easy(own, difficulty)

    def drawn_tables(self, rng: np.random.Generator, workers: Ints) -> Floats:
        """Tables as gold leaves them open, rows by their Dirichlet laws, (types, those workers, classes, classes)."""
        drawn = rng.standard_gamma(self.counts[:, workers]) + LEAST
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True), np.float64)


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
