"""Linear limits on the labels that an adaptive plan expects, and what their multipliers prove."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.policy_tables import PolicyTables

SLACK = 1e-9  # relative; of expected labels
PLACE = "limits.csv"


@dataclass(frozen=True)
class PricedLimits:
    """What the multipliers add to the price of an asker's vote, (types, askers), at most, and to the bound."""

    price: Floats
    total: float
    sizes: Floats  # (types, askers): of what went into a price
    size: float  # of what went into the bound


def linear_limits(instance: AssignmentInstance, tables: PolicyTables) -> dict[tuple[str, str], tuple[Floats, float]]:
    """By limit and name: weight of a vote (types, askers) and the side, of ``sum of weights <= side``."""
    shape, found = (len(tables.types), len(tables.askers)), dict[tuple[str, str], tuple[Floats, float]]()
    first = [(one.tasks[0], k) for k, one in enumerate(tables.types)]
    workers = [some[0] for some in tables.askers.values()]
    had = instance.collected[:, 1]
    for group in instance.groups:
        inside = np.isin(np.arange(instance.n_workers), group.members).astype(np.float64)
        ours, all_labels, mine = float(inside[had].sum()), float(had.size), np.broadcast_to(inside[workers], shape)
        if group.max_share < 1:
            found["max_share", group.name] = mine - group.max_share, group.max_share * all_labels - ours
        if group.min_share > 0:
            found["min_share", group.name] = group.min_share - mine, ours - group.min_share * all_labels
    for g, some in enumerate(tables.askers.values()):
        least = sum(float(instance.min_load[j]) for j in some)
        if least > 0:
            weight = np.zeros(shape)
            weight[:, g] = -1.0
            found["min_tasks", instance.worker_id(some[0])] = weight, -least
    rows = instance.own_rows
    for number, name in enumerate(rows.names if rows is not None else ()):
        assert rows is not None
        entries = _entries(instance, number)
        weight = np.array([[entries.get((i, j), 0.0) for j in workers] for i, _ in first])
        if np.isfinite(rows.upper[number]):
            found["row_most", name] = weight, float(rows.upper[number])
        if np.isfinite(rows.lower[number]):
            found["row_least", name] = -weight, -float(rows.lower[number])
    return found


def _entries(instance: AssignmentInstance, number: int) -> dict[tuple[int, int], float]:
    rows, found = instance.own_rows, dict[tuple[int, int], float]()
    assert rows is not None
    mine = np.flatnonzero(rows.row == number).tolist()
    for k in mine:
        pair = int(rows.pairs[k, 0]), int(rows.pairs[k, 1])
        found[pair] = found.get(pair, 0.0) + float(rows.coefficient[k])
    return found


def rows_are_alike(instance: AssignmentInstance, tables: PolicyTables) -> bool:
    """Whether own rows count all labels of a type's tasks and an asker's workers the same."""
    types = [one.tasks for one in tables.types]
    rows = instance.own_rows
    for number in range(len(rows.names) if rows is not None else 0):
        table = np.zeros((instance.n_tasks, instance.n_workers))
        for pair, value in _entries(instance, number).items():
            table[pair] = value
        for workers in tables.askers.values():
            mine = table[:, workers]
            if (mine != mine[:, :1]).any() or any((mine[tasks] != mine[tasks[:1]]).any() for tasks in types):
                return False
    return True


def check_limits(instance: AssignmentInstance, tables: PolicyTables, loads: Floats, report: Report) -> None:
    """Expected labels keep the limits; loads (types, askers): expected labels."""
    for (limit, name), (weight, side) in linear_limits(instance, tables).items():
        scale = max(1.0, float((np.abs(weight) * loads).sum()), float(loads.sum()))
        if float((weight * loads).sum()) > side + SLACK * scale:
            report.complain("policy.csv", f"the labels expected break {limit} of {name}")


def priced_limits(
    instance: AssignmentInstance, stored: StoredPolicy, tables: PolicyTables, report: Report
) -> PricedLimits | None:
    """None, and a complaint, where limits.csv is not about the campaign's limits, or a multiplier is above 0."""
    limits, total, size = linear_limits(instance, tables), 0.0, 0.0
    price, sizes = np.zeros((2, len(tables.types), len(tables.askers)))
    table = stored.limits
    named = [] if table is None else list(zip(table["limit"], table["name"], strict=True))
    duals = np.zeros(0) if table is None else table.numbers("dual")
    if len(set(named)) != len(named) or set(named) != set(limits) or (duals > 0).any():
        report.complain(PLACE, "it must have each linear limit of the campaign once, with a multiplier of at most 0")
        return None
    for key, dual in zip(named, duals.tolist(), strict=True):
        weight, side = limits[key]
        with np.errstate(over="ignore"):
            price, total = price + dual * weight, total + dual * side
            sizes, size = sizes + abs(dual) * np.abs(weight), size + abs(dual * side)
    return PricedLimits(price, total, sizes, size)
