"""Labels dealt to tasks, as the arrays that compiled loops read and write; NamedTuples, because numba takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints


class Terms(NamedTuple):
    """What stays as it is while labels move.

    Parameters
    ----------
    row : (tasks,) int
        The row of each task: its class, below.
    worth, cost : (T, G)
        Evidence and price of a label of worker class g for a task of row t.
    room : (T, G) int
        Most labels that one task of the row can have of the class.
    size : (G,) int
        Distinct workers in the class.
    fewest, most : (tasks,) int
        Limits on the number of a task's labels.
    """

    row: Ints
    worth: Floats
    cost: Floats
    room: Ints
    size: Ints
    fewest: Ints
    most: Ints


class Dealt(NamedTuple):
    """What changes as labels move.

    Parameters
    ----------
    hands : (tasks, widest) int
        ``hands[i, :held[i]]`` are the worker classes of task i's labels, in no order.
    held : (tasks,) int
    slack : (tasks,) float
        Evidence of the task less its need; short where below 0.
    left : (G,) int
        What remains of each class's capacity.
    spare : (1,) float
        Money that exchanges may still add to the cost.
    state : (1,) uint64
        Where chance comes from: equal input, equal output.
    rung : (1,) bool
        Whether time is up: long loops look at it and end (crowdopt.assign.exact.alarm).
    """

    hands: NDArray[np.integer]
    held: Ints
    slack: Floats
    left: Ints
    spare: Floats
    state: NDArray[np.uint64]
    rung: NDArray[np.bool_]
