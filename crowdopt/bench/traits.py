"""What is known of an instance before anybody solves it: what a choice of method can rest on."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from crowdopt.bench.sources import IP
from crowdopt.crowd.instance import AssignmentInstance


@dataclass(frozen=True)
class Traits:
    """Of an assignment program.

    Parameters
    ----------
    whole : bool
        Whether labels are whole; else the linear program.
    pairs : int
        Tasks times workers.
    kinds : int
        Tasks that differ in type or in what they still need.
    priced : bool
        Whether labels have different prices.
    own : bool
        Whether each task has accuracies of its own.
    """

    whole: bool
    pairs: int
    kinds: int
    priced: bool
    own: bool

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
    """The traits of an instance's program.

    Parameters
    ----------
    instance : AssignmentInstance
    program : str
        ``ip`` or ``lp``.

    Returns
    -------
    Traits
    """
    n, m = instance.n_tasks, instance.n_workers
    different = np.unique(instance.task_type + 1j * instance.residual_need)  # sorts faster than rows
    return Traits(
        whole=program == IP,
        pairs=n * m,
        kinds=len(different),
        priced=bool(instance.cost.min() < instance.cost.max()),
        own=n > 1 and instance.n_types == n,
    )


def in_words(name: str, threshold: float, above: bool) -> str:
    """A condition on a trait, such as ``more than 3,000 tasks × workers``.

    Parameters
    ----------
    name : str
        Of the trait.
    threshold : float
    above : bool
        Whether the trait is above it, or at most there.
    """
    return WORDS[name][above].format(f"{threshold:,.0f}")
