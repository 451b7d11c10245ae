"""What a plan must keep beside capacities and targets: pairs, a budget, groups, own rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.gold.checks import integers, is_amount
from crowdopt.crowd.stated.groups import Group, OwnRows, checked_groups, checked_rows
from crowdopt.crowd.stated.stated_part import StatedPart
from crowdopt.crowd.stated.stated_people import StatedPeople
from crowdopt.errors import InputError


@dataclass(frozen=True, eq=False, init=False)
class StatedLimits(StatedPart):
    """The limits of an instance; each field is what the instance says of it."""

    forbidden: Ints
    fixed: Ints
    collected: Ints
    budget: float | None
    groups: tuple[Group, ...]
    own_rows: OwnRows | None

    @cached_property
    def barred(self) -> Ints:
        """Pairs that cannot be chosen, (k, 2): forbidden ones and those already collected."""
        both = np.concatenate([self.forbidden, self.collected])
        return np.unique(both, axis=0)

    def _check_limits(self, people: StatedPeople, n: int) -> None:
        m = people.n_workers
        for name in ("forbidden", "fixed", "collected"):
            self._keep(name, _pairs(name, getattr(self, name), n, m))
        if self.budget is not None and not is_amount(self.budget):
            raise InputError(f"the budget must be finite and at least 0, not {str(self.budget)[:40]}")
        self._keep("groups", checked_groups(self.groups, people.worker_id, m))
        self._keep("own_rows", checked_rows(self.own_rows, n, m))


def _pairs(name: str, values: Any, n: int, m: int) -> Ints:
    try:
        pairs = np.zeros((0, 2), np.int64) if values is None or len(values) == 0 else integers(name, values)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{name} must be pairs (task, worker)") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"{name} must be pairs (task, worker), not of shape {pairs.shape}")
    outside = (pairs < 0).any(axis=1) | (pairs >= (n, m)).any(axis=1)
    if outside.any():
        task, worker = pairs[outside][0]
        raise InputError(f"{name} has the pair ({task}, {worker}), but there are {n} tasks and {m} workers")
    keys, counts = np.unique(pairs[:, 0] * m + pairs[:, 1], return_counts=True)
    if (counts > 1).any():
        task, worker = divmod(int(keys[counts > 1][0]), m)
        raise InputError(f"{name} has the pair ({task}, {worker}) twice; give each pair once")
    return pairs
