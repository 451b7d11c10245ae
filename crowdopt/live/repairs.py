"""Labels that an online policy wants at the end, of workers who have come: which are out, and what came of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.labels import REFUSED
from crowdopt.online.arrivals import Decision

STATE = {"mending": "wanted", "mend_out": "out", "mended_all": "over"}  # names in a snapshot


class Repairs:
    """One repair at a time; its labels are numbered as the policy has them."""

    def __init__(self) -> None:
        self.wanted: tuple[Decision, Ints, Ints] | None = None  # pairs, classes so far, which are still awaited
        self.out: dict[int, int] = {}  # lease -> label of the repair
        self.over = False

    @property
    def tasks(self) -> Ints:
        """Task of each label, (k,)."""
        assert self.wanted is not None
        return self.wanted[0].tasks.astype(np.int64)

    @property
    def workers(self) -> Ints:
        """Worker of each label, by number of arrival, (k,)."""
        assert self.wanted is not None and self.wanted[0].workers is not None
        return self.wanted[0].workers

    def begin(self, decision: Decision) -> None:
        """All labels of the decision are awaited."""
        self.wanted = (decision, np.full(decision.tasks.size, REFUSED), np.ones(decision.tasks.size, np.int64))

    def withdraw(self, labels: Ints) -> None:
        """These labels are not asked for."""
        assert self.wanted is not None
        self.wanted[2][labels] = 0

    def came(self, k: int, label: int) -> None:
        """A label came, or will not come: REFUSED."""
        assert self.wanted is not None
        self.wanted[1][k], self.wanted[2][k] = label, 0

    def replace(self, task: int, worker: int, label: int) -> bool:
        """A label that came is another one; False: the policy knows it already."""
        if self.wanted is None:
            return False
        places = np.flatnonzero((self.tasks == task) & (self.workers == worker) & (self.wanted[1] != REFUSED))
        self.wanted[1][places] = label
        return bool(places.size)

    def ended(self, policy: Any) -> None:
        """Tell the policy once nothing is awaited; it may want to be asked again."""
        if self.wanted is None or self.wanted[2].any():
            return
        tasks, workers, got = self.tasks, self.workers, self.wanted[1]
        self.wanted = None
        self.over = not policy.mended(tasks, workers, got)

    def snapshot(self) -> dict[str, Any]:
        """Its state, by name."""
        return {name: getattr(self, own) for name, own in STATE.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """The state taken out of what else was kept."""
        for name, own in STATE.items():
            setattr(self, own, state.pop(name))
