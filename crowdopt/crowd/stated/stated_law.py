"""The law of labels and the rule: classes, their prior, the rule's name, hard tasks, confusion tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.difficulty.hard_tasks import Difficulty, as_difficulty
from crowdopt.crowd.gold.checks import floats, ids
from crowdopt.crowd.gold.confusion import checked_tables, class_votes
from crowdopt.crowd.laws.coin_laws import CoinLaw
from crowdopt.crowd.stated.stated_part import StatedPart
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, EXACT_ERROR, Rule, rule_named
from crowdopt.errors import InputError

CLASSES = 10_000  # at most


@dataclass(frozen=True, eq=False, init=False)
class StatedLaw(StatedPart):
    """The law of labels of an instance; each field is what the instance says of it."""

    rule: str
    classes: int
    prior: Floats
    class_names: Sequence[str] | None
    observed: bool
    difficulty: Difficulty
    confusion: Floats | None
    vote_law: CoinLaw | None

    @property
    def the_rule(self) -> Rule:
        """The evidence rule itself."""
        return rule_named(self.rule, self.classes)

    @property
    def has_prior(self) -> bool:
        """Whether some class is likelier than another before any label."""
        return bool((self.prior != 1 / self.classes).any())

    @property
    def errs_together(self) -> bool:
        """Whether votes on a task depend on one another, given its class, for any workers."""
        return bool(self.difficulty.share) or self.vote_law is not None

    @cached_property
    def votes(self) -> Floats | None:
        """``ln P(label | class)`` where there are confusion tables, shape (types, workers, labels, classes)."""
        if self.confusion is None:
            return None
        return np.stack([class_votes(table) for table in self.confusion])

    def _check_law(self, accuracy: Floats, tasks: int, alone: bool) -> None:
        """Of workers of these accuracies, (types, workers); alone: whether no two labels of a task err together."""
        if not isinstance(self.classes, int | np.integer) or not 2 <= self.classes <= CLASSES:
            raise InputError(f"classes must be a whole number from 2 to {CLASSES}, not {self.classes}")
        classes = int(self.classes)
        self._keep("difficulty", as_difficulty(self.difficulty))
        self._keep("prior", _priors(self.prior, tasks, classes))
        self._keep("class_names", ids("class_names", self.class_names, classes))
        if self.rule is None:
            self._keep("rule", (EXACT_ERROR if self.confusion is None and alone else BHATTACHARYYA).name)
        if not rule_named(str(self.rule), classes).heeds_prior and self.observed:
            raise InputError(f"rule {self.rule} takes no notice of what labels say; use rule bhattacharyya")
        tables = checked_tables(self.confusion, accuracy, classes, self.rule)
        if tables is not None:
            self._keep("confusion", tables)
        _refuse_difficulty(self.difficulty, self.rule, classes, self.observed)
        if self.vote_law is not None:
            self._check_vote_law(self.vote_law, accuracy.shape[1])

    def _check_vote_law(self, law: CoinLaw, workers: int) -> None:
        if law.accuracy.shape != (law.share.size, workers):
            raise InputError(
                f"a law of votes of {law.accuracy.shape[-1]} workers does not fit {workers}; fit it to all"
            )
        if self.classes != 2 or self.confusion is not None:
            raise InputError("a law of votes is for two classes without confusion tables; take vote_law out")
        if self.observed:
            raise InputError("what labels say of a task says how workers vote on it too; take observed or vote_law out")


def _refuse_difficulty(difficulty: Difficulty, rule: str, classes: int, observed: bool) -> None:
    """InputError where no exact error over easy and hard tasks is known."""
    # observed: whether what labels say is in the prior.
    if not difficulty.share:
        return
    if rule != EXACT_ERROR.name:
        raise InputError(f"rule {rule} knows no difficulty; choose rule {EXACT_ERROR.name}, or take difficulty out")
    if classes > 2:
        raise InputError(
            f"plans heed difficulty between 2 classes, not {classes}: votes weighed for easy tasks have no exact error "
            "on hard ones yet; take difficulty out"
        )
    if difficulty.easy != 1:
        raise InputError("accuracies of a plan are those on easy tasks; set difficulty by with_difficulty")
    if difficulty.hard < 0:
        raise InputError("where workers are misled together no vote of theirs helps; audit the answers instead")
    if observed:
        raise InputError('what labels say of a task does not say how hard it is; set collected = "evidence"')


def _priors(values: Any, n: int, classes: int) -> Floats:
    """Class probabilities, (classes,) or (tasks, classes), each row adding up to 1."""
    if values is None:
        return np.full(classes, 1 / classes)
    prior = floats("prior", values)
    if prior.shape not in ((classes,), (n, classes)):
        raise InputError(f"prior has shape {prior.shape}; give one probability per class, that is {classes}")
    if not ((prior > 0) & (prior < 1)).all() or (np.abs(prior.sum(axis=-1) - 1) > 1e-9).any():
        raise InputError(
            f"prior must be positive numbers that add up to 1, not {prior.reshape(-1, classes)[0].tolist()}"
        )
    return prior
