"""Gold that several workers answered: one row for each vote, the truth beside it."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.io.campaign.campaign_tables import Ids, refuse_repeats
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES


def read_gold_votes(source: TableLike, ids: Ids) -> Ints:
    """Who was right on which item.

    source: columns item, worker, label, truth; -> (items, workers): 1 right, 0 wrong, -1 not asked, items in the order
    of their first row.
    """
    table = read_table(source, CAMPAIGN_TABLES["gold_votes"]).labelled()
    workers = ids.workers_of(table)
    names, labels, truth = table.ids("item"), table.ids("label"), table.ids("truth")
    items = coded(names, dict.fromkeys(names))
    refuse_repeats(table, items * len(ids.workers) + workers, "worker", "this worker's vote on the item")
    known: dict[str, str] = {}
    for row, (name, true) in enumerate(zip(names, truth, strict=True)):
        if known.setdefault(name, true) != true:
            raise table.error(row, "truth", f"item {name!r} is {known[name]!r} in a row before; give it one truth")
    right = np.full((len(known), len(ids.workers)), -1)
    right[items, workers] = [label == true for label, true in zip(labels, truth, strict=True)]
    return right
