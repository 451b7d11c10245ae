"""The first of many numbers for which something holds."""

from __future__ import annotations

from collections.abc import Callable


def first_that(good: Callable[[int], bool], count: int) -> int:
    """The first k for which ``good`` holds, which then holds from there on; ``count`` where none does.

    Small ones are asked first: they are cheaper to answer.
    """
    low, high = -1, 1
    while high <= count and not good(high - 1):
        low, high = high - 1, 2 * high
    high = min(high - 1, count)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
