"""One thread that does what all requests ask, as many at a time as are waiting: they share one flush to the disk."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

from crowdopt.errors import InputError
from crowdopt.live.running import Live, LiveTurn

Job: TypeAlias = Callable[[LiveTurn], Any]
Waiting: TypeAlias = tuple[Job, "Future[Any]"]

MOST = 64  # requests that share a flush


class FrontDesk:
    """Requests in, answers out, in the order in which they came; an answer is given when its events are on the disk."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self.thread = Thread(target=self._work, name="desk", daemon=True)
        self.thread.start()

    def submit(self, job: Job) -> Future[Any]:
        """Have a job done in a turn of the campaign."""
        answer: Future[Any] = Future()
        self.queue.put((job, answer))
        return answer

    def close(self) -> None:
        """Do what is waiting, and stop."""
        self.queue.put(None)
        self.thread.join()

    def _work(self) -> None:
        while (first := self.queue.get()) is not None:
            batch, ends = [first], False
            while len(batch) < MOST and not self.queue.empty():
                if (more := self.queue.get()) is None:
                    ends = True
                    break
                batch.append(more)
            batch = [one for one in batch if one[1].set_running_or_notify_cancel()]  # who gave up is not served
            if batch and not self._done_together(batch):
                for one in batch:
                    self._done_together([one], alone=True)
            if ends:
                return

    def _done_together(self, batch: list[Waiting], alone: bool = False) -> bool:
        """Do the jobs in one turn; False: one of them broke down, and none has happened."""
        answers: list[tuple[Future[Any], Any, InputError | None]] = []
        try:
            with self.live.together() as turn:
                for job, answer in batch:
                    try:
                        answers.append((answer, job(turn), None))
                    except InputError as error:  # before anything was changed
                        answers.append((answer, None, error))
        except Exception as error:
            if not alone:
                return False
            batch[0][1].set_exception(error)
            return True
        for answer, result, refused in answers:
            if refused is None:
                answer.set_result(result)
            else:
                answer.set_exception(refused)
        return True
