"""What happened, one row of the history; the state of a campaign follows from these rows and its folder alone.

A store: an append-only history that one writer at a time may lengthen, in SQL; and its kind in one SQLite file.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Self

from crowdopt.errors import InputError

BEGAN = "began"  # value: the settings
ENROLLED = "enrolled"  # a worker came for the first time
DECIDED = "decided"  # what the policy asks of a worker, or who is asked about a task; value: what exactly
LEASED = "leased"  # a task was handed to a worker; value: until when
TOLD = "told"  # value: the label
CORRECTED = "corrected"  # a worker takes a label back for another one, which is the value
BROUGHT = "brought"  # a label that was given elsewhere and was not asked for; value: the label
SKIPPED = "skipped"  # a worker gave a task back
EXPIRED = "expired"  # a worker's time is over: their leases and what else was meant for them are free again
ARRIVED = "arrived"  # a task came; value: its type
DRAWN = "drawn"  # answers that an expert is to look at; value: the price of a look, and which tasks
REMOVED = "removed"  # a worker is to be asked no more
DOORS_SHUT = "doors-shut"  # no worker will come who has not come yet
PAUSED, RESUMED = "paused", "resumed"
RETARGETED = "retargeted"  # value: the chance of a wrong answer that every task may have from now on

EXPERT = ""  # the worker of a lease that the expert has: no worker has that name


@dataclass(frozen=True, slots=True)
class Event:
    """One row of a history."""

    number: int  # from 1, without gaps
    at: float  # seconds since 1970, never before the event before
    kind: str
    worker: str = ""
    task: str = ""
    lease: int = 0  # number of the event that leased the task
    value: str = ""


LAST = 2**62  # number of an event at most
COLUMNS = "number, at, kind, worker, task, lease, value"


class Unwritten(InputError):
    """The place did not keep what was to be kept, as a full disk does: nothing has happened; try again."""


class SQLLedgerbook:
    """The tables of :data:`TABLES`; a kind of database says how a statement runs.

    Values stand in statements as ``?``.
    """

    BROKEN: ClassVar[type[Exception]]  # what the database raises
    BEGIN: ClassVar[str]  # the statement that begins a transaction

    def __init__(self) -> None:
        self._lock = RLock()

    @contextmanager
    def hold(self) -> Iterator[Self]:
        """Hold it alone until the block ends: then all is kept, durably, or with an error nothing."""
        with self._lock:
            try:
                with self._begun():
                    yield self
            except self.BROKEN as error:
                raise self._unwritten(error) from None

    @contextmanager
    def _begun(self) -> Iterator[None]:
        base = self._connection()  # one that breaks meanwhile is not made anew: what it was told is not committed
        base.execute(self.BEGIN)
        try:
            self._lock_others_out(base)
            yield
            base.execute("COMMIT")
        except BaseException:
            with suppress(self.BROKEN):
                base.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Let go of the place."""
        raise NotImplementedError

    def _connection(self) -> Any:
        raise NotImplementedError

    def _lock_others_out(self, base: Any) -> None:
        """What a transaction begins with, where its beginning keeps no other out."""

    def _unwritten(self, error: Exception) -> Unwritten:
        """That nothing could be written, and what to do."""
        raise NotImplementedError

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Any:
        raise NotImplementedError

    def _run_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        raise NotImplementedError

    def last(self) -> int:
        """Number of the last event."""
        return int(self._run("SELECT COALESCE(MAX(number), 0) FROM event").fetchone()[0])

    def after(self, number: int, most: int | None = None) -> list[Event]:
        """Events after that one."""
        last = LAST if most is None else number + most  # numbers have no gaps
        rows = self._run(
            f"SELECT {COLUMNS} FROM event WHERE number > ? AND number <= ? ORDER BY number", (number, last)
        )
        return [Event(*row) for row in rows]

    def append(self, events: Sequence[Event]) -> None:
        """Add events."""
        rows = [(e.number, e.at, e.kind, e.worker, e.task, e.lease, e.value) for e in events]
        self._run_each(f"INSERT INTO event ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def reply(self, key: str) -> str | None:
        """An earlier answer."""
        row = self._run("SELECT answer FROM reply WHERE request = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, key: str, reply: str) -> None:
        """Keep an answer."""
        self._run("INSERT INTO reply (request, answer) VALUES (?, ?)", (key, reply))

    def owner(self, digest: str) -> str | None:
        """Whose token it is."""
        row = self._run("SELECT owner FROM token WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else str(row[0])

    def entitled(self, owner: str) -> bool:
        """Whether the owner has a token."""
        return self._run("SELECT 1 FROM token WHERE owner = ?", (owner,)).fetchone() is not None

    def entitle(self, digest: str, owner: str) -> None:
        """Give a token in place of older ones."""
        self._run("DELETE FROM token WHERE owner = ?", (owner,))
        self._run("INSERT INTO token (digest, owner) VALUES (?, ?)", (digest, owner))


VERSION = 1
TABLES = (
    "CREATE TABLE event (number BIGINT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, "
    "worker TEXT NOT NULL, task TEXT NOT NULL, lease BIGINT NOT NULL, value TEXT NOT NULL)",
    "CREATE TABLE reply (request TEXT PRIMARY KEY, answer TEXT NOT NULL)",
    "CREATE TABLE token (digest TEXT PRIMARY KEY, owner TEXT NOT NULL)",
)


def steps(version: int, place: str) -> Sequence[str]:
    """Statements that a store of that version lacks; 0: an empty one. Raises InputError for another version's."""
    if version not in (0, VERSION):
        raise InputError(f"{place} was written by another version of crowdopt; install that one")
    return () if version else TABLES


MEMORY = ":memory:"  # the path of a store that is gone with its process
WAIT = 30.0  # seconds for another process to let go of the store


class SQLiteStore(SQLLedgerbook):
    """WAL, ``BEGIN IMMEDIATE`` and ``synchronous=FULL``: one writer at a time, and a commit outlives a power cut.

    path: of the file; made where there is none, for its owner alone; or ``:memory:``.
    """

    BROKEN, BEGIN = sqlite3.Error, "BEGIN IMMEDIATE"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__()
        try:
            if str(path) != MEMORY:
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite's further files take its mode
            self._base = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._base.close)  # a store is used until nothing refers to it
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            with self._begun():
                self._migrate()
        except (sqlite3.Error, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{self.path} cannot be opened as a store: {why}; choose another place") from None

    def _unwritten(self, error: Exception) -> Unwritten:
        return Unwritten(f"{self.path} cannot be written: {error}; nothing of it was kept")

    def close(self) -> None:
        """Close the file; it holds all, even while another process has it open."""
        with self._lock:
            with suppress(sqlite3.Error):
                self._base.execute("PRAGMA wal_checkpoint")
            self._base.close()

    def _connection(self) -> sqlite3.Connection:
        return self._base

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._base.execute(statement, values)

    def _run_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        self._base.executemany(statement, rows)

    def _migrate(self) -> None:
        version = int(self._base.execute("PRAGMA user_version").fetchone()[0])
        for step in steps(version, str(self.path)):
            self._base.execute(step)
        self._base.execute(f"PRAGMA user_version = {VERSION}")
