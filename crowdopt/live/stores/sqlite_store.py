"""A history in one SQLite file, written ahead and flushed to the disk before anything is acknowledged."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from crowdopt.errors import InputError
from crowdopt.live.event import Event
from crowdopt.live.stores.migrations import MIGRATIONS

WAIT = 30.0  # seconds for another process to let go of the store
COLUMNS = "number, at, kind, worker, task, lease, value"


class SQLiteStore:
    """WAL, ``BEGIN IMMEDIATE`` and ``synchronous=FULL``: one writer at a time, and a commit outlives a power cut.

    path: of the file; made where there is none.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = RLock()
        try:
            self._base = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._base.close)  # a store is used until nothing refers to it
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            with self._begun():
                self._migrate()
        except sqlite3.Error as error:
            raise InputError(f"{self.path} cannot be opened as a store: {error}; choose another place") from None

    @contextmanager
    def hold(self) -> Iterator[SQLiteStore]:
        """Hold it alone until the block ends."""
        with self._lock:
            try:
                with self._begun():
                    yield self
            except sqlite3.Error as error:
                raise InputError(f"{self.path} cannot be written: {error}; nothing of it was kept") from None

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def last(self) -> int:
        """Number of the last event."""
        return int(self._base.execute("SELECT COALESCE(MAX(number), 0) FROM event").fetchone()[0])

    def after(self, number: int) -> list[Event]:
        """Events after that one."""
        rows = self._base.execute(f"SELECT {COLUMNS} FROM event WHERE number > ? ORDER BY number", (number,))
        return [Event(*row) for row in rows]

    def append(self, events: Sequence[Event]) -> None:
        """Add events."""
        rows = [(e.number, e.at, e.kind, e.worker, e.task, e.lease, e.value) for e in events]
        self._base.executemany(f"INSERT INTO event ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def snapshot(self) -> tuple[int, bytes] | None:
        """The newest snapshot."""
        row = self._base.execute("SELECT number, state FROM snapshot ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else (int(row[0]), bytes(row[1]))

    def keep(self, number: int, state: bytes) -> None:
        """Keep a snapshot in place of older ones."""
        self._base.execute("DELETE FROM snapshot")
        self._base.execute("INSERT INTO snapshot (number, state) VALUES (?, ?)", (number, state))

    def reply(self, key: str) -> str | None:
        """An earlier answer."""
        row = self._base.execute("SELECT answer FROM reply WHERE request = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, key: str, reply: str) -> None:
        """Keep an answer."""
        self._base.execute("INSERT INTO reply (request, answer) VALUES (?, ?)", (key, reply))

    def owner(self, digest: str) -> str | None:
        """Whose token it is."""
        row = self._base.execute("SELECT owner FROM token WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else str(row[0])

    def entitle(self, digest: str, owner: str) -> None:
        """Give a token in place of older ones."""
        self._base.execute("DELETE FROM token WHERE owner = ?", (owner,))
        self._base.execute("INSERT INTO token (digest, owner) VALUES (?, ?)", (digest, owner))

    @contextmanager
    def _begun(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            raise

    def _migrate(self) -> None:
        version = int(self._base.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise InputError(f"{self.path} was written by a newer version of crowdopt; install that one")
        for number, steps in enumerate(MIGRATIONS[version:], version + 1):
            for step in steps:
                self._base.execute(step.format(bytes="BLOB"))
            self._base.execute(f"PRAGMA user_version = {number}")
