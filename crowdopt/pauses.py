"""Seconds in which no clock runs, because the process does something that is done once on a machine: compiling."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter


@dataclass
class _Pauses:
    """All pauses so far, and how many go on now, in several threads or within one another, since when."""

    ended: float = 0.0
    open: int = 0
    since: float = 0.0
    lock: Lock = field(default_factory=Lock)


_pauses = _Pauses()


def begin() -> None:
    """Stop every clock of this process; each call needs an :func:`end`."""
    with _pauses.lock:
        if _pauses.open == 0:
            _pauses.since = perf_counter()
        _pauses.open += 1


def end() -> None:
    """Let the clocks go on once every pause that was begun has ended."""
    with _pauses.lock:
        _pauses.open -= 1
        if _pauses.open == 0:
            _pauses.ended += perf_counter() - _pauses.since


def seconds() -> float:
    """How long the clocks have stood still since the process began."""
    with _pauses.lock:
        return _pauses.ended + (perf_counter() - _pauses.since if _pauses.open else 0.0)


def going_on() -> bool:
    """Whether the clocks stand still now."""
    return _pauses.open > 0
