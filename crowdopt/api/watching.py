"""Progress of a search of several stages as one sequence of moments that only goes forward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from time import perf_counter
from typing import Any

from crowdopt.bars import Latest, bar, in_notebook, ticking
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Progress
from crowdopt.stops import stoppable


@dataclass(eq=False)
class Forward:
    """Passes moments on with the seconds of the whole run, the best value and the best bound so far.

    Each stage of a search has a clock, and begins with a best and a bound, of its own.
    """

    listener: Listener
    started: float = field(default_factory=perf_counter)
    value: float | None = None
    bound: float | None = None
    stop: Event = field(default_factory=Event)
    error: Exception | None = None  # that the listener raised; it may be called in a solver's thread

    def __call__(self, moment: Progress) -> bool:
        """Take note of a moment of any stage; returns whether the search is to stop."""
        if self.stop.is_set():
            return True
        values = [one for one in (self.value, moment.value) if one is not None]
        bounds = [one for one in (self.bound, moment.bound) if one is not None]
        self.value, self.bound = min(values, default=None), max(bounds, default=None)
        bound = self.bound
        if self.value is not None and bound is not None:
            bound = min(bound, self.value)  # a stage may have looked for something cheaper than what is known
        try:
            if self.listener(Progress(perf_counter() - self.started, self.value, bound, moment.note)):
                self.stop.set()
        except Exception as error:
            self.error = error
            self.stop.set()
        return self.stop.is_set()


@contextmanager
def watched(listener: Listener | None, time_limit: float) -> Iterator[Listener | None]:
    """The listener of a search: the caller's, in a notebook a bar, else none.

    Where the caller's returns True the search's time is up; where it raises an error too, which is raised here at the
    end. time_limit: seconds, the length of the bar.
    """
    if listener is not None:
        with stoppable() as stop:
            forward = Forward(listener, stop=stop)
            yield forward
        if forward.error is not None:
            raise forward.error
    elif in_notebook():
        form = "{l_bar}{bar}| {n:.0f} of {total:g} s{postfix}"
        with bar(total=time_limit, desc="solve", bar_format=form, leave=False) as drawn:
            shown = _Bar(drawn)
            with ticking(shown.draw):
                yield Forward(shown.latest.show)
    else:
        yield None


class _Patience(Event):
    """Set once a search that goes on around it is to stop, or so many seconds have brought no plan."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.clock = Clock(seconds)
        self.has_plan = False

    def is_set(self) -> bool:
        return super().is_set() or self.clock.stop.is_set() or (self.clock.over and not self.has_plan)


@contextmanager
def giving_way(listener: Listener | None, seconds: float) -> Iterator[Listener]:
    """A listener that ends a search which knows no plan after so many seconds."""
    patience = _Patience(seconds)

    def told(moment: Progress) -> bool | None:
        patience.has_plan |= moment.value is not None
        return None if listener is None else listener(moment)

    with stoppable(patience):
        yield told


@dataclass(eq=False)
class _Bar:
    """A notebook's bar along the time limit, with best and bound behind it."""

    bar: Any
    latest: Latest = field(default_factory=Latest)
    started: float = field(default_factory=perf_counter)

    def draw(self) -> None:
        self.latest.look()
        moment, note = self.latest.moment, self.latest.note
        known = {} if moment is None else {"best": moment.value, "bound": moment.bound}
        said = [f"{name} {value:g}" for name, value in known.items() if value is not None]
        self.bar.set_postfix_str(", ".join([*said, *[note] * bool(note)]), refresh=False)
        self.bar.n = min(perf_counter() - self.started, self.bar.total)
        self.bar.refresh()
