"""The parts of a campaign at work: each question is a row per part, on processes here or on a cluster, and is kept.

An answer is a file as soon as a part gives it, and the answers to a question are one file when all parts have given
theirs. Whoever starts again asks the same questions and finds what was answered: that is how a run resumes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

from crowdopt import jobs
from crowdopt.api.part_jobs import forget
from crowdopt.assign.parts import ENDLESS, TimeIsUp
from crowdopt.core.clock import Clock
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.parts.parts_folder import PartsFolder

TRIES = 4  # times that a part is asked whose process was lost
ROWS = "rows"  # answers of a question that not all parts have answered yet


@dataclass(eq=False)
class PartsAtWork:
    """Asks all parts, and remembers the answers in the work folder."""

    folder: PartsFolder  # the campaign
    work: Path  # where answers are kept
    processes: int = 0  # spawned here; 0 works in this process
    cluster: str | None = None  # A Dask scheduler's address, in place of them
    memory: float = 0.0  # bytes that a process may take; 0: its fair share
    asked: int = 0  # questions so far
    clock: Clock = field(default_factory=lambda: Clock(ENDLESS))  # no part is asked any more when it is over
    # the most that one part was sent and sent back for one question, in letters of ASCII
    most_bytes: dict[str, int] = field(default_factory=dict)
    _executor: Executor | None = None
    _open: ExitStack = field(default_factory=ExitStack)

    @contextmanager
    def open(self, told: Callable[[str], None]) -> Iterator[None]:
        """Start processes, or connect to the cluster, as long as the block runs; Dask's own page is told of."""
        self.work.mkdir(parents=True, exist_ok=True)
        with ExitStack() as self._open:
            self._start()
            page = None if self._executor is None else jobs.page_of(self._executor)
            if page:
                told(f"Dask shows what its workers do at {page}")
            try:
                yield
            finally:
                forget()
        self._executor = None

    def _start(self) -> None:
        self._open.close()
        if self.cluster is not None:
            self._executor = self._open.enter_context(jobs.cluster(self.cluster))
            return
        for attempt in range(1, TRIES + 1 if self.processes else 1):
            try:
                self._executor = self._open.enter_context(jobs.spawned(self.processes))
                return
            except jobs.JobsError:  # one was lost while it started
                if attempt == TRIES:
                    raise

    def ask(
        self,
        function: Callable[..., Any],
        title: str,
        arguments: Sequence[dict[str, Any]],
        some: Sequence[int] | None = None,
        made: Callable[[str], Path] | None = None,
    ) -> list[Any]:
        """What a function answers for each part, or for some of them, in their order.

        function: of ``part_jobs``; title: what goes on, in words; arguments: for each part, beside the campaign and the
        part's name; some: numbers of the parts; made: the file that a part's answer stands for: where it is gone, the
        part is asked again.
        """
        names = self.folder.parts if some is None else [self.folder.parts[place] for place in some]
        shared = {"folder": str(self.folder.folder.absolute()), "stamp": self.folder.stamp}
        each = [{**shared, "part": part, **one} for part, one in zip(names, arguments, strict=True)]
        rows = [jobs.Job.of(function, **one, memory=self.memory) for one in each]
        path = self.work / f"{self.asked:04d}-{function.__name__}.json"
        key = sha256(json.dumps(each).encode()).hexdigest()[:24]
        self.asked += 1
        gone = [row for part, row in zip(names, rows, strict=True) if made is not None and not made(part).exists()]
        answers = None if gone else _kept(path, key)
        if answers is None:
            for row in gone:
                (self.work / ROWS / f"{row.key}.json").unlink(missing_ok=True)
            done = self._computed(rows, title)
            answers = [row.result for row in done]
            write_text(path, json.dumps({"key": key, "answers": answers}) + "\n")
            rmtree(self.work / ROWS, ignore_errors=True)
        sent = max(
            len(json.dumps(row.arguments)) + len(json.dumps(answer)) for row, answer in zip(rows, answers, strict=True)
        )
        self.most_bytes[function.__name__] = max(sent, self.most_bytes.get(function.__name__, 0))
        return answers

    def _refuse_late(self) -> None:
        if self.clock.over:
            raise TimeIsUp

    def _computed(self, rows: list[jobs.Job], title: str) -> list[jobs.Row]:
        """Every row without an error; a row whose process is lost is asked for again."""
        self._refuse_late()
        kept = self.work / ROWS
        for attempt in range(1, TRIES + 1):
            try:
                done = jobs.run(rows, kept, 0, self._executor, retry=True, title=title, after=self._refuse_late)
            except jobs.JobsError:
                if attempt == TRIES or self.cluster is not None:
                    raise
                self._start()
                continue
            wrong = [row for row in done if row.error is not None]
            if not wrong:
                return done
            if attempt == TRIES or any(row.fault != jobs.Fault.LOST for row in wrong):
                raise _refusal(wrong)
        raise AssertionError("the last attempt returns or raises")


def _refusal(wrong: list[jobs.Row]) -> Exception:
    first = next((row for row in wrong if row.fault != jobs.Fault.LOST), wrong[0])
    if first.refusal is not None:
        return InputError(first.refusal)
    return jobs.JobsError(f"{first.arguments['part']}: {first.error}; start again, finished parts are kept")


def _kept(path: Path, key: str) -> list[Any] | None:
    """The answers of this very question, where all parts have given theirs."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["key"] == key:
            return list(stored["answers"])
    return None
