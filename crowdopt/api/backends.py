"""The verb backends: which solvers work here."""

from __future__ import annotations

from collections.abc import Sequence

from crowdopt.backends import available
from crowdopt.backends.probe import Available as Available
from crowdopt.errors import public


@public
def backends(names: Sequence[str] = (), *, time_limit: float = 60.0) -> list[Available]:
    """What each solver backend can do here, found out by solving, each in a process of its own.

    Parameters
    ----------
    names : sequence of str
        Which backends; all of them unless said.
    time_limit : float
        Seconds that one may take before it counts as not working.
    """
    return available(names, time_limit)
