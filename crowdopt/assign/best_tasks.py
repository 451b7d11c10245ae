"""The best tasks for one worker: those of highest value, however many there is room for."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats

Ids: TypeAlias = NDArray[np.integer]

ZERO = 1e-9  # a task value this far below 0 still counts as 0: at the LP's own prices exact zeros decide
TIE = 1e-7  # relative; values this close are equal, whichever way a solver rounded


def best_of(value: Floats, ties: Floats, candidates: Ids, room: int) -> Ids:
    """The ``room`` candidates of highest value; between equals those that come first by ``ties``.

    value, ties (candidates,): the larger value first; between equals the smaller ``ties``; room: how many to choose;
    all where there are no more; -> (room,): the chosen, in the order of the candidates.
    """
    if candidates.size <= room:
        return candidates
    threshold = np.partition(value, value.size - room)[value.size - room]
    slack = TIE * max(1.0, abs(float(threshold)))
    sure = value > threshold + slack
    tied = np.flatnonzero(np.abs(value - threshold) <= slack)
    left = room - int(np.count_nonzero(sure))
    sure[_first_by(ties[tied], tied, left)] = True
    chosen: Any = candidates[sure]
    return np.asarray(chosen)


def _first_by(ties: Floats, places: Ids, count: int) -> Ids:
    """The ``count`` places of least tie; between equals the earlier ones."""
    # numpy's own partial sort orders equals as the processor's vector unit does: other machines would ask other
    # pairs.
    if count >= places.size:
        return places
    if count <= 0:
        return places[:0]
    last = np.partition(ties, count - 1)[count - 1]
    before = ties < last
    equal = np.flatnonzero(ties == last)[: count - int(np.count_nonzero(before))]
    before[equal] = True
    chosen: Any = places[before]
    return np.asarray(chosen)
