"""A history in one SQLite file, written ahead and flushed to the disk before anything is acknowledged."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from crowdopt.errors import InputError
from crowdopt.live.stores.sql_ledgerbook import SQLLedgerbook, Unwritten, newer_steps

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
        for number, step in newer_steps(version, str(self.path), "BLOB"):
            self._base.execute(step)
            self._base.execute(f"PRAGMA user_version = {number}")
