"""The top of a smooth concave function in a box: limited memory, projected (Liu & Nocedal 1989)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats


@dataclass(frozen=True)
class AscentParams:
    """When an ascent ends."""

    memory: int = 12  # steps remembered
    halved: int = 20  # times at most that a step is cut
    enough: float = 1e-4  # of the rise that the slope promises, for a step to count
    near: float = 1e-9  # relative gain of a step that ends it


def ascend(
    at: Callable[[Floats], tuple[float, Floats]],
    point: Floats,
    box: tuple[Floats, Floats],
    steps: int,
    first: float,
    params: AscentParams = AscentParams(),
) -> tuple[Floats, float]:
    """The point reached and its value.

    at: value and slope at a point; box: least and most; steps: at most; first: how far the first step goes.
    """
    least, most = box
    value, slope = at(point)
    memory: list[tuple[Floats, Floats]] = []
    small, far = 0, first
    for _ in range(steps):
        free = ((point > least) | (slope > 0)) & ((point < most) | (slope < 0))
        open_slope = np.where(free, slope, 0.0)
        ahead = _direction(open_slope, memory) * free
        if float(ahead @ open_slope) <= 0:
            ahead, memory = open_slope, []
        largest = float(np.abs(ahead).max(initial=0.0))
        if largest < 1e-200:  # steps would be infinite
            break
        length = 1.0 if memory else far / largest
        for _ in range(params.halved):
            there = np.minimum(np.maximum(point + length * ahead, least), most)
            gained, steeper = at(there)
            if gained >= value + params.enough * float(slope @ (there - point)):
                break
            length /= 2
        else:
            if not memory:
                break
            memory = []
            continue
        step, change = there - point, slope - steeper
        bends = float(step @ change) > 1e-9 * float(np.abs(step) @ np.abs(slope))  # else nothing does but by rounding
        if bends and float(change @ change) > 0:
            memory, far = [*memory, (step, change)][-params.memory :], first
        else:
            far *= 2
        small = small + 1 if gained - value <= params.near * abs(value) else 0
        point, value, slope = there, gained, steeper
        if small >= 3:
            break
    return point, value


def _direction(slope: Floats, memory: list[tuple[Floats, Floats]]) -> Floats:
    """The slope times an estimate of the curvature's inverse, from steps and how the slope changed along them."""
    ahead, parts = slope.copy(), []
    for step, change in reversed(memory):
        part = float(step @ ahead) / float(step @ change)
        ahead -= part * change
        parts.append(part)
    if memory:
        step, change = memory[-1]
        ahead *= float(step @ change) / float(change @ change)
    for (step, change), part in zip(memory, reversed(parts), strict=True):
        ahead += (part - float(change @ ahead) / float(step @ change)) * step
    return ahead
