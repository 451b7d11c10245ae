"""Many seeded rows without tears: over spawned processes or any Executor, one atomic file per finished row.

A row is a function, named by its import path, applied to arguments that are plain JSON. What it returns is written
to a file of its own as soon as it is known, so that nothing finished is ever lost and a second start goes on where
the first one ended. A row that fails is a row that says why.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeAlias

import numpy as np

from crowdopt.bars import counting
from crowdopt.errors import InputError
from crowdopt.files import PARTIAL, write_text

WIDTH = 256  # rows handed to a foreign executor at a time, or more where many workers wait; it has its own queue
DIED = "its process died: killed, out of memory, or crashed in native code"


Rows: TypeAlias = Generator[tuple["Job", str], None, None]


class JobsError(RuntimeError):
    """Rows cannot be run at all here; the message says what to do about it."""


@dataclass(frozen=True)
class Job:
    """A row to be computed: ``function(**arguments)``."""

    # ``package.module:name`` of a module-level function; it returns plain JSON (numpy numbers and arrays will do)
    function: str
    # plain JSON; a seed is one of them (:func:`seed_of`), never drawn from anything that depends on the order
    arguments: dict[str, Any]

    @staticmethod
    def of(function: Callable[..., Any], **arguments: Any) -> Job:
        """The job of a function given by itself.

        Raises ValueError if the function cannot be named by an import path, or an argument is no plain JSON.
        """
        path = f"{function.__module__}:{function.__qualname__}"
        if not path.partition(":")[2].isidentifier() or function.__module__ == "__main__":
            raise ValueError(f"{path} is no function at the top of a module that others can import")
        return Job(path, json.loads(_text(arguments)))

    @property
    def key(self) -> str:
        """Name of the row's file: a hash of function and arguments, whatever the order of the latter."""
        return sha256(_text([self.function, self.arguments], sort_keys=True).encode()).hexdigest()[:24]


class Fault(StrEnum):
    """Why a row has an error."""

    REFUSED = "refused"  # the function raised InputError
    RAISED = "raised"  # it raised anything else
    LOST = "lost"  # the executor gave no result
    DIED = "died"  # its process ended


@dataclass(frozen=True)
class Row:
    """A finished job: ``result``, or else the ``error`` it ended with, its ``fault`` and the ``trace`` of where."""

    function: str
    arguments: dict[str, Any]
    result: Any = None
    error: str | None = None
    trace: list[str] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def why(self) -> str:
        """The error, with the place where it was raised unless it is a refusal."""
        return f"{self.error} ({self.trace[-1]})" if self.trace and self.fault is Fault.RAISED else str(self.error)

    @staticmethod
    def of(text: str) -> Row:
        """The row that a file holds."""
        stored = json.loads(text)
        fault = stored.pop("fault", None)
        return Row(**stored, fault=None if fault is None else Fault(fault))

    @property
    def refusal(self) -> str | None:
        """What the function says against its arguments; None where it did not refuse them."""
        return str(self.error).partition(": ")[2] if self.fault == Fault.REFUSED else None


def seed_of(base: int, *place: int) -> int:
    """A seed below 2^63 for the row at a place, independent of those of all other places.

    Derived from the base seed and the place alone (``numpy.random.SeedSequence``), so neither the order of the rows
    nor how many there are matters.
    """
    state = np.random.SeedSequence([base, *place]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def run(
    jobs: Iterable[Job],
    folder: Path | None = None,
    processes: int = 1,
    executor: Executor | None = None,
    retry: bool = False,
    title: str = "rows",
    after: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Compute every row that is not there yet; returns all of them in the order of the jobs.

    Parameters
    ----------
    jobs : iterable of Job
        Equal jobs are computed once.
    folder : Path, optional
        Where each finished row becomes a file, whole or not at all. What is there already is not computed again.
    processes : int
        Spawned processes; 0 computes in this one. A row that takes its process down is a row with that error.
    executor : Executor, optional
        In place of processes of our own: threads, a cluster (:func:`cluster`), anything.
    retry : bool
        Whether to compute failed rows again.
    title : str
        Stands before the progress bar, which is shown on a terminal and in a notebook; elsewhere a line at the end
        says how many rows there were, if it took a while.
    after : callable
        Is called after each row; what it raises ends the run, and finished rows are kept.

    Returns
    -------
    list of Row
        In the order of the jobs.

    Raises
    ------
    JobsError
        If worker processes cannot start, or the executor breaks. Finished rows are kept.
    """
    wanted, done = list(jobs), {}
    if folder is not None:
        _tidy(folder)
        done = _finished(folder, wanted, retry)
    todo = list({job.key: job for job in wanted if job.key not in done}.values())
    bar = counting(title, len(done) + len(todo), len(done), "row")
    with bar as counted, _computed(todo, processes, executor) as computed:
        for job, text in computed:
            if folder is not None:
                write_text(folder / f"{job.key}.json", f"{text}\n")
            done[job.key] = Row.of(text)
            counted.update()
            after()
    return [done[job.key] for job in wanted]


def finished(jobs: Iterable[Job], folder: Path) -> list[Row]:
    """The rows that are there, in the order of the jobs; nothing is computed."""
    wanted = list(jobs)
    done = _finished(folder, wanted, retry=False) if folder.is_dir() else {}
    return [done[job.key] for job in wanted if job.key in done]


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The executor of a cluster: Dask's (extra ``cluster``), where a row whose worker is lost moves to another one.

    address: of Dask's scheduler, such as ``tcp://127.0.0.1:8786``. Raises JobsError if the extra is missing or there is
    no answer.
    """
    try:
        from dask.distributed import Client
    except ImportError:
        raise JobsError("a cluster needs the extra cluster: pip install 'crowdopt[cluster]'") from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise JobsError(f"no Dask scheduler answers at {address}: {error}") from None
    with client, client.get_executor(pure=False) as executor:
        yield executor


def _text(value: Any, sort_keys: bool = False) -> str:
    """Strict JSON on one line, in letters of UTF-8: a byte of a file's name that is none is an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys, default=_plain)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no plain JSON")


def _tidy(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob(f".*.json.*{PARTIAL}"):
        part.unlink(missing_ok=True)


def _finished(folder: Path, wanted: list[Job], retry: bool) -> dict[str, Row]:
    """The rows that are there already; a damaged file, or one that is not what its name says, counts as none."""
    found = {}
    for job in wanted:
        with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
            row = Row.of((folder / f"{job.key}.json").read_text(encoding="utf-8"))
            if (row.function, row.arguments) == (job.function, job.arguments) and not (retry and row.error):
                found[job.key] = row
    return found


def _computed(todo: list[Job], processes: int, executor: Executor | None) -> closing[Rows]:
    """Each job with its row as text, in the order of finishing; closed, it leaves no process behind."""
    if executor is not None:
        return closing(_elsewhere(todo, executor))
    return closing(_spawned(deque(todo), processes) if processes else _here(todo))


def _here(todo: list[Job]) -> Rows:
    for job in todo:
        yield job, _call(job.function, job.arguments)


def _elsewhere(todo: list[Job], executor: Executor) -> Rows:
    flying: dict[Future[str], Job] = {}
    try:
        yield from _flow(executor, deque(todo), flying, max(WIDTH, 2 * _threads(executor)))
    except BrokenExecutor as error:
        raise JobsError(f"the executor broke down; start again, finished rows are kept: {error}") from None
    finally:
        for future in flying:
            future.cancel()


def _spawned(waiting: deque[Job], processes: int) -> Rows:
    """Through processes of our own. One that dies breaks the pool: those in flight then go one by one."""
    while waiting:
        flying: dict[Future[str], Job] = {}
        try:
            with spawned(min(processes, len(waiting))) as pool:
                yield from _flow(pool, waiting, flying, 2 * processes)
        except BrokenExecutor:
            for job in flying.values():
                yield job, _alone(job)


def _alone(job: Job) -> str:
    try:
        with spawned(1) as pool:
            with _undisturbed():
                future = pool.submit(_call, job.function, job.arguments)
            return future.result()
    except BrokenExecutor:
        return _text(asdict(Row(job.function, job.arguments, error=DIED, fault=Fault.DIED)))


def _flow(executor: Executor, waiting: deque[Job], flying: dict[Future[str], Job], width: int) -> Rows:
    """Keep up to ``width`` jobs in flight; where the executor breaks, those not landed are left in ``flying``."""
    while waiting or flying:
        while waiting and len(flying) < width:
            with _undisturbed():
                future = executor.submit(_call, waiting[0].function, waiting[0].arguments)
            flying[future] = waiting.popleft()
        landed, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in sorted(landed, key=_is_broken):
            text = _landed(future, flying[future])
            yield flying.pop(future), text


def _is_broken(future: Future[str]) -> bool:
    return future.cancelled() or isinstance(future.exception(), BrokenExecutor)


def _landed(future: Future[str], job: Job) -> str:
    """The row's text; what the function raises is in it, so an exception here is the executor's."""
    if future.cancelled():
        raise BrokenExecutor("it dropped a row")
    error = future.exception()
    if isinstance(error, BrokenExecutor):
        raise error
    if error is not None:
        said = f"the executor gave no result: {type(error).__name__}: {error}"
        return _text(asdict(Row(job.function, job.arguments, error=said, fault=Fault.LOST)))
    return future.result()


def _threads(executor: Executor) -> int:
    """How many rows a Dask cluster computes at a time; 0 where the executor is none."""
    client = getattr(executor, "_client", None)
    return 0 if client is None else sum(client.nthreads().values())


def page_of(executor: Executor) -> str | None:
    """The address of Dask's own page about a cluster; None where the executor has none."""
    client = getattr(executor, "_client", None)
    return getattr(client, "dashboard_link", None)


@contextmanager
def spawned(processes: int) -> Iterator[Executor]:
    """Spawned processes that end when we do, even by kill -9: each holds one end of a pipe and we the other."""
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(theirs,))
    try:
        _expect_life(pool)
        yield pool
        pool.shutdown()
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


def _expect_life(pool: Executor) -> None:
    try:
        with _undisturbed():
            first = pool.submit(os.getpid)
        first.result()
    except BrokenExecutor:
        raise JobsError(
            "worker processes do not start: call from a file, under `if __name__ == '__main__':`, or with processes=0"
        ) from None


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Processes that start here never hear of Ctrl-C, not even while they load: they inherit what is blocked."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(lifeline: Connection) -> None:
    """In a worker: leave Ctrl-C to the parent, and die with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(lifeline,), daemon=True).start()


def _die_with(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(1)


def _call(function: str, arguments: Mapping[str, Any]) -> str:
    row: dict[str, Any] = {"function": function, "arguments": arguments}
    try:
        module, _, name = function.partition(":")
        result = getattr(import_module(module), name)(**arguments)
        return _text({**row, "result": result, "error": None, "trace": [], "fault": None})
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        fault = Fault.REFUSED if isinstance(error, InputError) else Fault.RAISED
        return _text({**row, "result": None, "error": said, "trace": _trace(error), "fault": fault})


def _trace(error: BaseException) -> list[str]:
    """Where it happened, innermost last, without the paths of this machine."""
    frames = list(walk_tb(error.__traceback__))[1:]
    return [f"{frame.f_globals.get('__name__')}:{line} {frame.f_code.co_name}" for frame, line in frames]
