"""Workers: how often they are right, what their labels cost, how many they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.gold.checks import chances, floats, ids, per
from crowdopt.crowd.stated.stated_part import StatedPart, filled, refuse_entries, refuse_excess
from crowdopt.errors import InputError

PRICES = (1e-3, 1e6)  # a positive price lies between these: solvers' tolerances are absolute


@dataclass(frozen=True, eq=False, init=False)
class StatedPeople(StatedPart):
    """The workers of an instance; each array is what the instance says of it."""

    accuracy: Floats
    capacity: Ints
    cost: Floats
    min_load: Ints
    workers: Sequence[str] | None
    types: Sequence[str] | None

    @property
    def n_workers(self) -> int:
        """Workers, m."""
        return int(self.accuracy.shape[1])

    @property
    def n_types(self) -> int:
        """Types of task, T: the rows of ``accuracy``."""
        return int(self.accuracy.shape[0])

    @property
    def worker_ids(self) -> list[str]:
        """The id of each worker, (workers,)."""
        return [self.worker_id(j) for j in range(self.n_workers)]

    @property
    def worker_places(self) -> dict[str, int]:
        """The worker of each id."""
        return {name: j for j, name in enumerate(self.worker_ids)}

    def pair_keys(self, pairs: Ints) -> Ints:
        """One number for each pair, ``task * workers + worker``: they ascend by task and then by worker."""
        return pairs[:, 0] * self.n_workers + pairs[:, 1]

    def worker_id(self, worker: int) -> str:
        """Id of a worker."""
        return str(worker) if self.workers is None else self.workers[worker]

    def type_id(self, kind: int) -> str:
        """Id of a type; with a single unnamed one, ``all``."""
        if self.types is None:
            return "all" if self.n_types == 1 else str(kind)
        return self.types[kind]

    def _check_people(self) -> None:
        accuracy = chances("accuracy", self.accuracy)
        if accuracy.ndim != 2 or 0 in accuracy.shape:
            raise InputError(f"accuracy must be a (types, workers) table with entries, not of shape {accuracy.shape}")
        self._keep("accuracy", accuracy)
        m, kinds = self.n_workers, self.n_types
        self._keep("workers", ids("workers", self.workers, m))
        self._keep("types", ids("types", self.types, kinds))
        self._keep("capacity", per("capacity", self.capacity, m, "worker", np.int64))
        self._keep("cost", _prices(self.cost, kinds, m))
        self._keep("min_load", per("min_load", filled(self.min_load, 0), m, "worker", np.int64))
        cost, worker = self.cost, ("worker", self.worker_id)
        self._refuse("accuracy", (accuracy < 0) | (accuracy > 1), "must lie in [0, 1]")
        self._refuse("cost", (cost < 0) | np.isinf(cost), "must be finite and at least 0")
        odd = (cost > 0) & ((cost < PRICES[0]) | (cost > PRICES[1]))
        self._refuse("cost", odd, f"must be 0 or between {PRICES[0]:g} and {PRICES[1]:g}; choose another unit")
        refuse_entries(self.capacity, "capacity", self.capacity < 0, "must be at least 0", worker)
        refuse_entries(self.min_load, "min_load", self.min_load < 0, "must be at least 0", worker)
        refuse_excess(self.min_load, self.capacity, "as min_tasks", "capacity", worker)

    def _refuse(self, name: str, bad: Bools, wanted: str) -> None:
        values = getattr(self, name)
        bad = bad | np.isnan(values)
        if bad.any():
            kind, worker = (int(k) for k in np.argwhere(bad)[0])
            place = f"worker {self.worker_id(worker)}, type {self.type_id(kind)}"
            raise InputError(f"{name} {wanted}; it is {values[kind, worker]} for {place}")


def _prices(values: Any, kinds: int, m: int) -> Floats:
    array = floats("cost", values)
    if array.ndim > 2 or array.shape not in ((), (m,), (kinds, m)):
        raise InputError(
            f"cost has shape {array.shape}; give one number, one per worker ({m}) or a table ({kinds}, {m})"
        )
    return np.broadcast_to(array, (kinds, m))
