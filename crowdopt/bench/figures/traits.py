"""What is known of an instance before it is solved: what a choice of method can rest on."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.bench.sources import IP
from crowdopt.crowd.instance import AssignmentInstance


@dataclass(frozen=True)
class Traits:
    """Of an assignment program."""

    whole: bool  # whether labels are whole; else the linear program
    pairs: int  # tasks times workers
    kinds: int  # tasks that differ in type or in what they still need
    priced: bool  # whether labels have different prices
    own: bool  # whether each task has accuracies of its own

    def numbers(self) -> list[float]:
        """The traits in the order of NAMES."""
        return [float(value) for value in asdict(self).values()]


NAMES = tuple(Traits.__dataclass_fields__)
WORDS = {  # of what is not above a threshold, and of what is
    "whole": ("the linear program", "whole labels"),
    "pairs": ("at most {} tasks × workers", "more than {} tasks × workers"),
    "kinds": ("at most {} kinds of task", "more than {} kinds of task"),
    "priced": ("one price", "different prices"),
    "own": ("accuracies by type", "accuracies of each task's own"),
}


def traits_of(instance: AssignmentInstance, program: str) -> Traits:
    """The traits of an instance's program; program: ``ip`` or ``lp``."""
    n, m = instance.n_tasks, instance.n_workers
    different = np.unique(instance.task_type + 1j * instance.residual_need)  # sorts faster than rows
    return Traits(
        whole=program == IP,
        pairs=n * m,
        kinds=len(different),
        priced=bool(instance.cost.min() < instance.cost.max()),
        own=n > 1 and instance.n_types == n,
    )


@dataclass(frozen=True)
class Condition:
    """A trait is above a threshold, or at most there."""

    trait: str
    above: bool
    threshold: float

    def holds(self, traits: Floats) -> Bools:
        """For each row of traits, (instances, traits), whether it does."""
        met: Bools = (traits[..., NAMES.index(self.trait)] > self.threshold) == self.above
        return met


def in_words(name: str, threshold: float, above: bool) -> str:
    """A condition on a trait (above the threshold, or at most there), such as ``more than 3,000 tasks × workers``."""
    return WORDS[name][above].format(f"{threshold:,.0f}")
