"""A time limit, and what is left of it.

State that can be kept and gone on from: what every policy owns, as named arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Event
from time import perf_counter

from crowdopt import kernels, stops
from crowdopt.core.solution import Options

ENOUGH = 1e-3  # seconds; with less than this left another solve is not worth starting


@dataclass(frozen=True)
class Clock:
    """What is left of a time limit; it stands still while loops are compiled, which happens once on a machine."""

    limit: float  # seconds in all
    # when they began to run, by ``time.perf_counter``; default: now
    started: float = field(default_factory=perf_counter)
    # seconds by which all clocks of the process had stood still then
    paused: float = field(default_factory=kernels.paused)
    # what ends them early: the search's listener
    stop: Event = field(default_factory=stops.current, repr=False, compare=False)

    @property
    def left(self) -> float:
        """Seconds left, never below ENOUGH."""
        if self.stop.is_set():
            return ENOUGH
        ran = perf_counter() - self.started - (kernels.paused() - self.paused)
        return max(ENOUGH, self.limit - ran)

    @property
    def spent(self) -> float:
        """Seconds since it began to run."""
        return perf_counter() - self.started

    @property
    def over(self) -> bool:
        """Whether the limit is used up."""
        return self.left <= ENOUGH

    def within(self, options: Options, nodes: int | None) -> Options:
        """Options for what is left, with a limit on nodes."""
        return replace(options, time_limit=self.left, nodes=nodes)

    def part(self, share: float) -> Clock:
        """A clock, begun now, for a share of what is left."""
        return Clock(share * self.left)
