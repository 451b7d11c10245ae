"""Groups' shares of the labels that an adaptive plan expects, and what their multipliers prove."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report

SLACK = 1e-9  # relative; of expected labels


@dataclass(frozen=True)
class PricedShares:
    """What the multipliers add to the price of each worker's label, (workers,), at most, and to the bound."""

    price: Floats
    total: float


def _limits(instance: AssignmentInstance) -> dict[tuple[str, str], tuple[Floats, float]]:
    """By limit and group: weight of each worker's label and the side, of ``sum of weights <= side``."""
    had, found = instance.collected[:, 1], {}
    for group in instance.groups:
        inside = np.isin(np.arange(instance.n_workers), group.members).astype(np.float64)
        ours, all_labels = float(inside[had].sum()), float(had.size)
        if group.max_share < 1:
            found["max_share", group.name] = inside - group.max_share, group.max_share * all_labels - ours
        if group.min_share > 0:
            found["min_share", group.name] = group.min_share - inside, ours - group.min_share * all_labels
    return found


def check_shares(instance: AssignmentInstance, load: Floats, report: Report) -> None:
    """Expected labels keep the shares; load (workers,): expected labels of each."""
    for (limit, name), (weight, side) in _limits(instance).items():
        if float((weight * load).sum()) > side + SLACK * max(1.0, float(load.sum())):
            report.complain("policy.csv", f"the labels expected of group {name} break its {limit}")


def priced_shares(instance: AssignmentInstance, stored: StoredPolicy, report: Report) -> PricedShares | None:
    """None, and a complaint, where limits.csv is not about the campaign's shares, or a multiplier is above 0."""
    limits, price, total = _limits(instance), np.zeros(instance.n_workers), 0.0
    table = stored.shares
    named = [] if table is None else list(zip(table["limit"], table["name"], strict=True))
    duals = np.zeros(0) if table is None else table.numbers("dual")
    if len(set(named)) != len(named) or set(named) != set(limits) or (duals > 0).any():
        report.complain(
            "limits.csv", "it must have each share that the campaign limits, once, with a multiplier of at most 0"
        )
        return None
    for key, dual in zip(named, duals.tolist(), strict=True):
        weight, side = limits[key]
        price, total = price + dual * weight, total + dual * side
    return PricedShares(price, total)
