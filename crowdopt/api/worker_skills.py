"""Skills from gold, as a campaign folder makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.gold.skills import ESTIMATORS
from crowdopt.errors import InputError, public
from crowdopt.io.campaign.campaign_skills import skills_from_gold
from crowdopt.io.campaign.campaign_tables import Ids
from crowdopt.io.campaign.gold_table import class_count, heed_gold
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import GOLD_OF_ANY_FORM
from crowdopt.notebooks import InNotebooks


@dataclass(frozen=True, eq=False)
class Skills(InNotebooks):
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


@public
def skills(
    gold: TableLike,
    *,
    classes: int | None = None,
    workers: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    method: str = "empirical-bayes",
    trust_gold: bool = False,
) -> Skills:
    """Skills from gold, ``p = (c + mu t) / (s + t)`` under a prior fitted to each type; as a campaign folder has them.

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
        ``empirical-bayes``, ``plug-in`` or ``unbiased``.
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
    found = skills_from_gold(gold, ids, {"skills": method})
    tally = found.gold
    assert tally is not None
    if not trust_gold:
        heed_gold(tally, classes or class_count(gold), ids.workers)
    names = tuple(ids.workers), tuple(ids.types)
    return Skills(found.accuracy, tally.correct, tally.asked, found.confusion, *names, found.source)
