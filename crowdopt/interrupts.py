"""Ctrl-C on the command line: from its first line to its last, exit status 130 and one sentence.

Importing this module is what makes the first line safe: the package does so before anything else, and where the process
is the command line itself, Ctrl-C while the rest is loading ends it at once. In a library nothing changes.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing has it; typing and signal take longer to load than this may
if TYPE_CHECKING:
    import signal
    from types import FrameType
    from typing import Any

else:
    import _signal as signal

INTERRUPTED = 130
SENTENCE = "crowdopt: interrupted"
AGAIN = 0.02  # seconds until an interrupt that came in a destructor, where nothing can be raised, comes once more


def leave(number: int = 0, frame: FrameType | None = None) -> None:
    """Say that the command was interrupted and end the process at once."""
    try:
        os.write(2, f"{SENTENCE}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def _is_command_line() -> bool:
    """Whether this process is ``crowdopt`` or ``python -m crowdopt.cli``, and no worker process of it."""
    processes = sys.modules.get("multiprocessing")
    if processes is not None and processes.parent_process() is not None:
        return False
    name = os.path.basename(sys.argv[0]).removesuffix(".exe")
    return name == "crowdopt" or (sys.argv[:1] == ["-m"] and "crowdopt.cli" in sys.orig_argv)


def _heed(handler: Any) -> bool:
    """Have the handler called on Ctrl-C; False outside the main thread, where none is possible."""
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return False
    return True


def _forget() -> None:
    # Where KeyboardInterrupt passes through code that was compiled from a string (as dataclasses are), CPython notes
    # it as unhandled, whatever handles it later, and ends by killing itself with SIGINT. The next such code clears
    # that.
    from collections import namedtuple

    namedtuple("Cleared", ())


class Interrupts:
    """While a verb runs: the first Ctrl-C raises KeyboardInterrupt, the second ends the process, later ones are late.

    A process that was started to ignore Ctrl-C (``nohup``, a job in the background) goes on ignoring it.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None
        self._hook = sys.unraisablehook

    def __enter__(self) -> Interrupts:
        before = signal.getsignal(signal.SIGINT)
        if before in (leave, signal.default_int_handler) and _heed(self._first):
            self._before = before
            sys.unraisablehook = self._lost
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is leave:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer is out: what is left is to end
            if self.seen:
                _forget()
        elif self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._before)
            sys.unraisablehook = self._hook

    def _first(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.signal(signal.SIGINT, leave if self._before is leave else self._before)
        raise KeyboardInterrupt

    def _lost(self, unraisable: Any) -> None:
        """An interrupt that fell into a destructor or a callback, which would only print it: raised again, soon."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._hook(unraisable)
        elif hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._first)
            signal.setitimer(signal.ITIMER_REAL, AGAIN)

    @property
    def of_the_process(self) -> bool:
        """Whether the verb is what this process is for, and not called by another program in it."""
        return self._before is leave


if signal.getsignal(signal.SIGINT) is signal.default_int_handler and _is_command_line():
    _heed(leave)
