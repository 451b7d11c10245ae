"""Rows as jobs of SLURM, through submitit (extra ``slurm``): each row is a job of its own, in a queue of hours.

For rows of minutes, such as a solver's; a campaign in parts is asked hundreds of short questions and wants workers
that wait for them: ``srun dask worker``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LOOK = 1.0  # seconds between two looks at what has ended


class SlurmJobs(Executor):
    """An executor whose futures are jobs that a submitit executor hands in.

    queue: ``submit(call, *arguments)`` returns a job with ``done``, ``result`` and ``cancel``; look: seconds between
    two looks.
    """

    def __init__(self, queue: Any, look: float = LOOK) -> None:
        self.queue, self.look = queue, look
        self._flying: dict[Future[Any], Any] = {}
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Hand a job in."""
        future: Future[Any] = Future()
        job = self.queue.submit(call, *arguments, **named)
        with self._lock:
            self._flying[future] = job
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the jobs, or take them out of the queue; then look no more."""
        with self._lock:
            flying = list(self._flying)
        for future in flying:
            if cancel_futures:
                future.cancel()
            elif wait:
                with suppress(BaseException):
                    future.result()
        self._closed.set()
        if wait:
            self._watcher.join()
        self._tidy()

    def _watch(self) -> None:
        while not self._closed.wait(self.look):
            self._tidy()

    def _tidy(self) -> None:
        """Settle the futures of jobs that have ended, and end the jobs of futures that were cancelled."""
        with self._lock:
            flying = list(self._flying.items())
        for future, job in flying:
            if future.cancelled():
                job.cancel(check=False)
            elif job.done():
                _settle(future, job)
            else:
                continue
            with self._lock:
                del self._flying[future]


def _settle(future: Future[Any], job: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job.result())
    except Exception as error:
        future.set_exception(error)


@contextmanager
def slurm(folder: str | Path) -> Iterator[Executor]:
    """The executor of the SLURM cluster that this machine hands jobs in to; what is left when the block ends is ended.

    ``SBATCH_PARTITION``, ``SBATCH_TIMELIMIT``, ``SBATCH_ACCOUNT`` and their like say where, how long, and for whom.

    folder: for submitit's files and the jobs' own output; all machines see it. Raises ImportError if submitit is
    missing. Raises RuntimeError if there is no SLURM here.
    """
    from submitit import SlurmExecutor

    jobs = SlurmJobs(SlurmExecutor(folder=folder))
    try:
        yield jobs
    finally:
        jobs.shutdown(cancel_futures=True)
