"""A command within limits: time and memory of its whole process tree, watched from outside and enforced by killing."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import psutil

from crowdopt.errors import InputError

MEGABYTE = 1e6
PR_SET_PDEATHSIG = 1  # Linux: a signal when the parent ends
FASTEST = 4000.0  # megabytes a second at which a process may fill memory; sets how soon to look again
SLACK = 0.05  # of the limit: how far above it a process may get between two looks
GONE = 2.0  # seconds that the killed may take to be gone
PAUSES = 0.002, 0.02  # seconds between two looks, at least and at most


@dataclass(frozen=True)
class Ending:
    """How a command ended: ``finished`` (with an exit status), or killed for ``time`` or ``memory``.

    ``megabytes``: the most its tree was seen to hold at once; ``cpu``: processor seconds of the tree as last seen.
    """

    kind: str
    status: int | None
    seconds: float
    megabytes: float
    cpu: float


@dataclass
class Tree:
    """A process and everything it has ever started, remembered when parents end before their children."""

    root: psutil.Process
    members: dict[int, psutil.Process] = field(default_factory=dict)
    cpu_of: dict[int, float] = field(default_factory=dict)
    megabytes: float = 0.0
    peak: float = 0.0

    def look(self) -> None:
        """Find new members and add up what all of them hold."""
        with suppress(psutil.Error):
            for process in (self.root, *self.root.children(recursive=True)):
                self.members.setdefault(process.pid, process)
        held = 0.0
        for pid, process in self.members.items():
            with suppress(psutil.Error), process.oneshot():
                held += process.memory_info().rss / MEGABYTE
                times = process.cpu_times()
                self.cpu_of[pid] = times.user + times.system
        self.megabytes = held
        self.peak = max(self.peak, held)

    def kill(self) -> None:
        """End every member, and what members have started meanwhile."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.root.pid, signal.SIGKILL)
        self.look()
        for process in self.members.values():
            with suppress(psutil.Error):
                process.kill()
        others = [process for pid, process in self.members.items() if pid != self.root.pid]
        psutil.wait_procs(others, timeout=GONE)


def run_confined(
    command: Sequence[str],
    environment: Mapping[str, str],
    said: Path,
    megabytes: float,
    is_over: Callable[[float], bool],
) -> Ending:
    """Run a command in a session of its own until it ends or breaks a limit; nothing of it is left behind.

    Its standard input is a pipe that is never written to: the command can tell by its end that we are gone.

    megabytes: limit on the resident memory of the tree, looked at more often the nearer it comes; is_over: given the
    seconds since the start, whether time is up. Raises InputError if the limit is less than an interpreter needs.
    """
    if megabytes < 50:
        raise InputError(f"a memory limit of {megabytes:g} MB is less than an interpreter needs; allow at least 50")
    started, kind = perf_counter(), "finished"
    with said.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=True,
        )
    with process:
        tree = Tree(psutil.Process(process.pid))
        try:
            while process.poll() is None:
                tree.look()
                if tree.megabytes > megabytes or is_over(perf_counter() - started):
                    kind = "memory" if tree.megabytes > megabytes else "time"
                    break
                _wait(process, _pause(megabytes, tree.megabytes))
        finally:
            seconds = perf_counter() - started
            tree.kill()
    return Ending(kind, process.returncode, seconds, tree.peak, sum(tree.cpu_of.values()))


def _pause(limit: float, held: float) -> float:
    """How long the tree cannot get further above its limit than SLACK, however fast it fills memory."""
    least, most = PAUSES
    return min(most, max(least, (limit * (1 + SLACK) - held) / FASTEST))


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def die_with_parent() -> None:
    """End when the process that started this one does, even if it is killed.

    Our standard input then ends; on Linux a signal comes too.
    """
    lifeline = os.dup(0)
    os.set_inheritable(lifeline, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    threading.Thread(target=_wait_for_end, args=(lifeline,), daemon=True).start()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait_for_end(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    with suppress(ProcessLookupError):
        os.killpg(os.getpgid(0), signal.SIGKILL)
