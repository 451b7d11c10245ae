"""Skills from gold, as a campaign folder makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import numpy as np

from crowdopt.answers.votes import majority, wmv_log
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels, tally
from crowdopt.crowd.skills import ESTIMATORS, heed
from crowdopt.errors import InputError, public, tell
from crowdopt.io.cells import TableLike
from crowdopt.io.gold import Ids, gold_classes, heed_gold, refuse_unlike, skills_from_gold
from crowdopt.io.schema import GOLD_OF_ANY_FORM
from crowdopt.io.tables import read_table
from crowdopt.notebooks import InFrames

BY_LUCK = 0.05  # chance at most that answers known otherwise follow the majority as closely as those that get a note


@dataclass(frozen=True, eq=False)
class Skills(InFrames):
    """How often each worker is right."""

    accuracy: Floats  # (types, workers): for :class:`crowdopt.AssignmentInstance`
    # the tallies they come from; one row where gold does not tell types apart
    correct: Ints  # (types, workers)
    asked: Ints  # (types, workers)
    confusion: Floats | None  # (types, workers, classes, classes): where gold tells true classes from answers
    # ids, in the order of the arrays
    workers: tuple[str, ...]
    types: tuple[str, ...]
    source: str  # how they were estimated, in words

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first workers, type by type, and how many rows there are."""
        pairs = islice(product(enumerate(self.workers), enumerate(self.types)), most)
        rows = [
            {"worker": worker, "type": kind, "accuracy": float(self.accuracy[t, j])} for (j, worker), (t, kind) in pairs
        ]
        return rows, len(self.workers) * len(self.types)


def tallied(labels: Labels, true: Ints, kinds: Ints, types: int, trust_gold: bool) -> tuple[Ints, Ints]:
    """Correct and asked, each (types, workers), against the truth, held against chance unless gold is trusted.

    true (tasks,): class of each task, -1 where it is not known; kinds (tasks,): its type.
    """
    correct, asked = tally(labels, true, kinds, types)
    if not trust_gold:
        heed(correct, asked, len(labels.classes), labels.workers, "truth")
    _tell_own_votes(labels, true)
    return correct, asked


def _tell_own_votes(labels: Labels, true: Ints) -> None:
    """Say where known answers follow the majority of these labels more closely than other answers would.

    Workers of the tallied skills who err independently leave each task's majority wrong with its posterior's rest; as
    often, known answers would differ from it.
    """
    from scipy.special import pdtr

    right, known = (one.sum(axis=0) for one in tally(labels, true, np.zeros_like(true), 1))
    votes, chance = majority(labels), wmv_log(labels, (right + 1) / (known + 2), truncation=1e-9).posterior
    most = np.sort(votes.score, axis=1)
    clear = np.flatnonzero((true >= 0) & (labels.per_task > 1) & (most[:, -1] > most[:, -2]))
    answer = votes.answer[clear]
    differ = int((answer != true[clear]).sum())
    if clear.size and pdtr(differ, float((1 - chance[clear, answer]).sum())) < BY_LUCK:
        tell(
            f"the known answers are what most of these labels say on {clear.size - differ} of {clear.size} tasks that "
            "have a majority, so they look made from these labels; tallies against them tell how workers agree, "
            "not how often they are right"
        )


@public
def skills(
    gold: TableLike,
    *,
    classes: int | None = None,
    workers: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    method: str = "averaged",
    trust_gold: bool = False,
) -> Skills:
    """Skills from gold, their means over the priors that each type's gold makes likely; as a campaign folder has them.

    A warning (:class:`crowdopt.errors.GoldWarning`) names workers below chance, and those without gold.

    Parameters
    ----------
    gold : path or frame
        A file or a table at hand (pandas, Polars, Arrow, columns by name): worker, task, label, truth, a row for each
        answer; or worker, correct, asked; or worker, true, answered[, count]; each with a column type, if types differ.
    classes : int, optional
        K; default: those that the table names, 2 for tallies.
    workers, types : sequence of str, optional
        Ids and their order; a worker without gold has the crowd's mean. Default: as they appear.
    method : str
        ``averaged``; by one prior alone: ``one-point``, ``two-points``, ``range``, ``beta`` or ``mixture``;
        ``plug-in`` or ``unbiased``.
    trust_gold : bool
        Whether gold is taken as it is, even where the crowd is below chance.

    Returns
    -------
    Skills

    Raises
    ------
    InputError
        If the table cannot be used, or the crowd as a whole is below chance.
    """
    if method not in ESTIMATORS:
        raise InputError(f"method must be one of {', '.join(ESTIMATORS)}, not {method!r}")
    table = read_table(gold, GOLD_OF_ANY_FORM)
    kinds = types or table.columns.get("type", ["all"])
    ids = Ids([], *(list(dict.fromkeys(names)) for names in (workers or table["worker"], kinds)))
    named = gold_classes(gold)
    count = classes or max(2, len(set().union(*named.values())))
    found = skills_from_gold(gold, ids, {"skills": method, "classes": count})
    tally = found.gold
    assert tally is not None
    if not trust_gold:
        refuse_unlike(named, {})
        heed_gold(tally, count, ids.workers)
    told = replace(tally, heeds=()).told(len(ids.types), "")
    names = tuple(ids.workers), tuple(ids.types)
    return Skills(told.accuracy, tally.correct, tally.asked, found.confusion, *names, found.told.source)
