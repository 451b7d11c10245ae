"""Labels dealt to tasks, as the arrays that compiled loops read and write; NamedTuples, because numba takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints


class Terms(NamedTuple):
    """What stays as it is while labels move."""

    row: Ints  # (tasks,): the row of each task: its class, below
    # evidence and price of a label of worker class g for a task of row t
    worth: Floats  # (T, G)
    cost: Floats  # (T, G)
    room: Ints  # (T, G): most labels that one task of the row can have of the class
    size: Ints  # (G,): distinct workers in the class
    # limits on the number of a task's labels
    fewest: Ints  # (tasks,)
    most: Ints  # (tasks,)


class Rows(NamedTuple):
    """Whole amounts of labels per row and worker class, and what they may become."""

    amounts: Ints  # (T, G): labels; written
    excess: Floats  # (T,): evidence of the row beyond its need; written
    wanted: Floats  # (T,): what it should have beyond
    worth: Floats  # (T, G)
    cost: Floats  # (T, G)
    upper: Ints  # (T, G): the most labels
    left: Ints  # (G,): what remains of each class's capacity; written
    spare: Floats  # (1,): money that moves may still add to the cost; written


class Dealt(NamedTuple):
    """What changes as labels move."""

    # ``hands[i, :held[i]]`` are the worker classes of task i's labels, in no order
    hands: NDArray[np.integer]  # (tasks, widest)
    held: Ints  # (tasks,)
    slack: Floats  # (tasks,): evidence of the task less its need; short where below 0
    left: Ints  # (G,): what remains of each class's capacity
    spare: Floats  # (1,): money that exchanges may still add to the cost
    state: NDArray[np.uint64]  # (1,) uint64: where chance comes from: equal input, equal output
    rung: NDArray[np.bool_]  # (1,): whether time is up: long loops look at it and end (crowdopt.assign.exact.alarm)
