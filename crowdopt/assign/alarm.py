"""An alarm clock for compiled loops: a thread beside them raises a flag when time is up, and they look at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools
from crowdopt.core.clock import Clock

NEVER: NDArray[np.bool_] = np.zeros(1, np.bool_)  # of loops that nobody ends early


@contextmanager
def alarm(clock: Clock) -> Iterator[Bools]:
    """A flag, (1,) bool, that becomes True when the clock is over; the watch on it ends with the block.

    Loops that look at it run without Python's lock, or the watch would never have its turn.

    clock: it may be paused meanwhile; -> (1,).
    """
    rung, ended = np.zeros(1, np.bool_), Event()

    def watch() -> None:
        while not clock.over:
            if ended.wait(clock.left):
                return
        rung[0] = True

    Thread(target=watch, daemon=True).start()
    try:
        yield rung
    finally:
        ended.set()
