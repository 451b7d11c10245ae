"""The least of a smooth convex function over ``x >= 0``: quasi-Newton steps among coordinates that are free, projected.

L-BFGS by its two loops (Nocedal 1980) on the coordinates that are above 0, or whose slope leads there; each step is cut
off at 0 and halved until the function falls enough (Bertsekas 1982). scipy's L-BFGS-B does the same, but BLAS shares
products of a few thousand numbers among threads there, which takes four times as long as the products do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.elementary import dot

MEMORY, HALVINGS = 10, 25  # steps that are remembered; of a step
ENOUGH = 1e-4  # share of the fall that the slope promises
CURVED = 1e-12  # relative; a step along which the slope hardly changes says nothing of curvature

Sloped = Callable[[Floats], tuple[float, Floats]]  # a function's value and its slope
Steps = deque[tuple[Floats, Floats]]


def descend(function: Sloped, start: Floats) -> None:
    """Look at the function again and again, lower and lower; ends where no step along its slope lowers it.

    function: its value and slope at a point; the caller keeps the best point, and ends the descent by an exception;
    start (k,): at least 0.
    """
    point, steps = start, Steps(maxlen=MEMORY)
    value, slope = function(point)
    while True:
        free = (point > 0) | (slope < 0)
        way = _way(slope, free, steps)
        if dot(way, slope) >= 0:
            steps.clear()
            way = _way(slope, free, steps)
        for halving in range(HALVINGS):
            there = np.maximum(0.0, point + 0.5**halving * way)
            lower, slope_there = function(there)
            if lower < value + ENOUGH * float(dot(slope, there - point)):
                break
        else:
            if not steps:
                return
            steps.clear()
            continue
        step, change = there - point, slope_there - slope
        if dot(step, change) > CURVED * float(np.sqrt(dot(step, step) * dot(change, change))):
            steps.append((step, change))
        point, value, slope = there, lower, slope_there


def _way(slope: Floats, free: Bools, steps: Steps) -> Floats:
    """Where to go: the slope turned round, bent by the curvature of the last steps, along free coordinates alone."""
    way, weights = np.where(free, -slope, 0.0), []
    for step, change in reversed(steps):
        curvature = float((step * change)[free].sum())
        weight = float((step * way).sum()) / curvature if curvature > 0 else 0.0
        way = way - weight * np.where(free, change, 0.0)
        weights.append((weight, curvature))
    if steps:
        step, change = steps[-1]
        size = float((change * change)[free].sum())
        way *= max(CURVED, float((step * change)[free].sum()) / size) if size > 0 else 1.0
    else:
        way /= max(1.0, float(np.abs(way).max(initial=0.0)))
    for (step, change), (weight, curvature) in zip(steps, reversed(weights), strict=True):
        back = float((change * way).sum()) / curvature if curvature > 0 else 0.0
        way = way + (weight - back) * np.where(free, step, 0.0)
    return way
