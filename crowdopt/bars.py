"""Bars of work in progress: on a terminal, in a notebook; in a pipe one line at the end of what took a while."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter
from typing import Any

from crowdopt import kernels

TICK = 0.5  # seconds between two looks at the clock
WHILE = 5.0  # seconds; what took less needs no line in a log


def in_notebook() -> bool:
    """Whether this process is a notebook's kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def is_watched() -> bool:
    """Whether standard error is a terminal, or its reader a notebook."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def bar(**options: Any) -> Any:
    """A bar of tqdm's: a notebook's own where it has widgets, else a line of text, which is rewritten there too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm would say that widgets are not installed
        from tqdm.auto import tqdm
    return tqdm(**options)


@contextmanager
def counting(title: str, total: int, done: int, unit: str) -> Iterator[Any]:
    """A bar that counts units done from ``done`` on, tqdm's; ``update()`` moves it on."""
    started, watched = perf_counter(), is_watched()
    shows = watched and done < total
    with bar(total=total, initial=done, desc=title, unit=unit, disable=not shows, smoothing=0.1) as shown:
        yield shown
    seconds = perf_counter() - started
    if not watched and seconds >= WHILE and sys.stderr is not None:
        print(f"{title}: {total - done} {unit}(s) in {seconds:.1f} s", file=sys.stderr, flush=True)


@dataclass(eq=False)
class Latest:
    """The last moment that a search told of, and what goes on since."""

    moment: Any = None
    stale: bool = False  # whether something was compiled since then

    def show(self, moment: Any) -> None:
        """Take note of a moment."""
        self.moment, self.stale = moment, False

    def look(self) -> None:
        """See whether something is compiled now."""
        self.stale |= kernels.is_compiling()

    @property
    def note(self) -> str:
        """What goes on: a note is of its moment, and what was said before compiling is over after it."""
        if kernels.is_compiling():
            return "compiling once"
        return "" if self.moment is None or self.stale else str(self.moment.note)


@contextmanager
def ticking(draw: Callable[[], None]) -> Iterator[None]:
    """Call ``draw`` again and again, in a thread of its own: seconds run while nothing is told."""
    ended = Event()

    def tick() -> None:
        while not ended.wait(TICK):
            draw()

    clock = Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    finally:
        ended.set()
        clock.join()
