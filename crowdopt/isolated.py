"""Work in a process of its own: time and memory of its whole process tree, watched from outside, enforced by killing.

``python -m crowdopt.isolated MODULE:FUNCTION FOLDER`` calls the function with the folder, and leaves there what it
returns, plain JSON, or what it raised.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil

from crowdopt.errors import InputError
from crowdopt.files import write_text

MEGABYTE = 1e6
PR_SET_PDEATHSIG = 1  # Linux: a signal when the parent ends
FASTEST = 4000.0  # megabytes a second at which a process may fill memory; sets how soon to look again
SLACK = 0.05  # of the limit: how far above it a process may get between two looks
GONE = 2.0  # seconds that the killed may take to be gone
PAUSES = 0.002, 0.02  # seconds between two looks, at least and at most
LOADING = 30.0  # seconds for starting, loading libraries and reading; as many for writing the answer
LATE = 1.5  # seconds beyond its time limit before it is stopped
SHARE = 0.05  # of the time limit, beside these: solvers look at the clock less often in larger programs
WORKING, WORKED, ANSWER = "working", "worked", "answer.json"  # files that tell how far the process is
LONGEST = 300  # characters of its last words


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


class Failure(RuntimeError):
    """There is no answer.

    ``kind``: ``memory``, ``time``, ``crash``, or the name of the exception that the function raised, whose words these
    then are.
    """

    def __init__(self, kind: str, says: str, ending: Ending) -> None:
        super().__init__(says)
        self.kind, self.ending = kind, ending


@dataclass
class _Clock:
    """Seconds that the process may take: to load, to work, to write."""

    folder: Path
    until: dict[str, float]  # a stage that has yet to begin, and what it may take
    deadline: float

    def is_over(self, seconds: float) -> bool:
        """Whether time is up for what it is doing; looked at often, so that a stage is seen when it begins."""
        for stage in [stage for stage in self.until if (self.folder / stage).exists()]:
            self.deadline = seconds + self.until.pop(stage)
        return seconds > self.deadline


def run(
    function: Callable[[Path], Any],
    folder: Path,
    seconds: float,
    megabytes: float,
    watch: Callable[[], None] = lambda: None,
    loading: float | None = None,
    late: float = LATE,
    environment: Mapping[str, str] | None = None,
) -> tuple[Any, Ending]:
    """What a function of a module returns, called with the folder in a new process, and how that went.

    Its seconds count from :func:`working` to :func:`worked`. Everything on our path can be imported there; ``watch`` is
    called between two looks. Raises Failure.
    """
    loading = LOADING if loading is None else loading
    clock = _Clock(folder, {WORKING: seconds * (1 + SHARE) + late, WORKED: loading}, loading)

    def is_over(elapsed: float) -> bool:
        watch()
        return clock.is_over(elapsed)

    path = f"{function.__module__}:{function.__qualname__}"
    command = [sys.executable, "-X", "faulthandler", "-m", "crowdopt.isolated", path, str(folder)]
    paths = os.pathsep.join(dict.fromkeys(filter(None, sys.path)))
    given = {**os.environ, **(environment or {}), "PYTHONPATH": paths}
    ending = run_confined(command, given, folder / "said", megabytes, is_over)
    watch()
    if not (folder / ANSWER).exists():
        began = (folder / WORKING).exists()
        limit = f"keep its time limit of {seconds:g} s" if began else f"load within {loading:g} s"
        kind, says = {
            "memory": ("memory", f"was stopped: it took more than the {megabytes:g} MB allowed"),
            "time": ("time", f"was stopped: it did not {limit}"),
        }.get(ending.kind, ("crash", f"{_how(ending.status)} and without an answer: {_last_words(folder / 'said')}"))
        raise Failure(kind, says, ending)
    answer = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    if "raised" in answer:
        kind, says = answer["raised"]
        raise Failure(kind, says, ending)
    return answer["returned"], ending


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended its process with status {status}"


def _last_words(said: Path) -> str:
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if "rror" in line or "abort" in line.lower()), lines[-1])[:LONGEST]


def working(folder: Path) -> None:
    """From now on seconds count."""
    (folder / WORKING).touch()


def worked(folder: Path) -> None:
    """From now on they do not."""
    (folder / WORKED).touch()


def main(path: str, folder: Path) -> None:
    """Call the function in this very process; the answer says whatever happens; a crash in native code has none."""
    die_with_parent()
    module, _, name = path.partition(":")
    try:
        answer = {"returned": getattr(import_module(module), name)(folder)}
    except BaseException as error:
        traceback.print_exc()
        answer = {"raised": [type(error).__name__, str(error)]}
    write_text(folder / ANSWER, json.dumps(answer))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # libraries that fall over while they are unloaded have answered already


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
