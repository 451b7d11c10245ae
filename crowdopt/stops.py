"""A search that is told to stop: from then on every clock that was begun in it says that its time is up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

_NEVER = Event()  # of what runs in no search that can be stopped
_CURRENT: ContextVar[Event] = ContextVar("stop", default=_NEVER)


@contextmanager
def stoppable(event: Event | None = None) -> Iterator[Event]:
    """Within the block clocks heed this event, a new one unless given, and that of a search around it no longer."""
    event = Event() if event is None else event
    before = _CURRENT.set(event)
    try:
        yield event
    finally:
        _CURRENT.reset(before)


def current() -> Event:
    """The event that stops the search that goes on here."""
    return _CURRENT.get()
