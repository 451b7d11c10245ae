"""What a campaign asks for and allows: error targets, prices, capacities, label limits, special pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import FIELDS, PAIRS
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_skills import filled
from crowdopt.io.campaign.campaign_tables import Ids, optional_table
from crowdopt.io.tables.table_columns import Table


def read_epsilon(tasks: Table, settings: dict[str, Any]) -> Floats:
    """Error target of each task: its own where the table has one, else that of campaign.toml.

    tasks: column epsilon is optional; -> (tasks,).
    """
    default = settings.get("epsilon")
    if default is None and ("epsilon" not in tasks or "" in tasks["epsilon"]):
        raise InputError("campaign.toml has no epsilon; add a line such as epsilon = 0.05")
    if default is not None and not 0 < default < 0.5:
        raise InputError(f"campaign.toml: epsilon must lie strictly between 0 and 1/2 (0.05 is 5 %), not {default}")
    if "epsilon" not in tasks:
        return np.full(tasks.rows, default, dtype=np.float64)
    values = tasks.numbers("epsilon", empty=default)
    outside = np.flatnonzero(~((values > 0) & (values < 0.5)))
    if outside.size:
        row = int(outside[0])
        raise tasks.error(row, "epsilon", f"{tasks['epsilon'][row]} is not strictly between 0 and 1/2")
    return values


def read_cost(folder: Path, workers: Table, ids: Ids) -> Floats:
    """Prices of labels: prices.csv, else the workers' price column, else 1.

    workers: column price is optional; -> (types, workers).
    """
    prices = optional_table(folder, "prices")
    if prices is None and "price" not in workers:
        return np.ones((len(ids.types), len(ids.workers)))
    if prices is not None and "price" in workers:
        raise InputError("workers.csv has a column price and there is a prices.csv; keep one of them")
    table = workers if prices is None else prices
    values = table.numbers("price")
    if (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0])
        raise table.error(row, "price", f"{table['price'][row]} is negative; a label costs at least 0")
    if prices is None:
        return np.broadcast_to(values, (len(ids.types), len(ids.workers)))
    return filled(prices, values, ids)


def read_limits(folder: Path, tasks: Table, workers: Table, ids: Ids) -> dict[str, Any]:
    """Capacities, least loads, label limits and special pairs, by the names that an instance has for them.

    folder: of the campaign; forbidden.csv, fixed.csv and collected.csv are optional.
    """
    limits: dict[str, Any] = {"capacity": workers.counts("capacity")}
    for one in (one for one in FIELDS if one.kind is int and one.default is not None):
        table = tasks if one.of == "task" else workers
        if one.key in table:
            limits[one.name] = table.counts(one.key, empty=int(one.default or 0))
    for name in PAIRS:
        pairs = optional_table(folder, name)
        if pairs is not None:
            limits[name] = ids.pairs(pairs)
    return limits
