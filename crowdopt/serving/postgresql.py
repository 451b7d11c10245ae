"""A history in a schema of a PostgreSQL database, one writer at a time (psycopg 3)."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from crowdopt.errors import InputError
from crowdopt.serving.stores import VERSION, WAIT, SQLLedgerbook, Unwritten, steps

SCHEMA = "crowdopt"  # where the address names none


class PostgreSQLStore(SQLLedgerbook):
    """An advisory lock for each campaign and ``synchronous_commit``: a commit outlives a power cut of the server.

    A connection that breaks is made anew at the next call. url: as libpq takes it, with ``schema=NAME`` among its
    parameters for each campaign beyond one; the schema is made where there is none.
    """

    BROKEN = psycopg.Error
    BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"  # what follows the lock sees what went before it

    def __init__(self, url: str) -> None:
        self.address, self.schema = _parted(url)
        self.place = f"schema {self.schema} of {_shown(self.address)}"
        self._key = int.from_bytes(sha256(self.schema.encode()).digest()[:8], "big", signed=True)
        super().__init__()
        self._base: psycopg.Connection[Any] | None = None
        try:
            with self._begun():
                self._migrate()
        except psycopg.Error as error:
            raise InputError(f"{self.place} cannot be opened as a store: {_said(error)}; look at --store") from None

    def _unwritten(self, error: Exception) -> Unwritten:
        # a connection that broke while it was committing leaves open whether it did; calls may be repeated
        return Unwritten(f"{self.place} cannot be written: {_said(error)}; call again")

    def close(self) -> None:
        """Close the connection."""
        if self._base is not None:
            self._base.close()

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection().execute(statement.replace("?", "%s").encode(), values)

    def _run_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._connection().cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s").encode(), rows)

    def _connection(self) -> psycopg.Connection[Any]:
        if self._base is None or self._base.closed:
            self._base = psycopg.connect(self.address, autocommit=True, connect_timeout=int(WAIT))
            weakref.finalize(self, self._base.close)
            self._base.execute("SET synchronous_commit = on")
            self._base.execute(f"SET lock_timeout = '{WAIT:.0f}s'".encode())
            self._base.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self.schema)))
        return self._base

    def _lock_others_out(self, base: psycopg.Connection[Any]) -> None:
        base.execute("SELECT pg_advisory_xact_lock(%s)", (self._key,))

    def _migrate(self) -> None:
        there = self._run("SELECT 1 FROM pg_namespace WHERE nspname = ?", (self.schema,)).fetchone()
        if there is None:
            self._connection().execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self.schema)))
        self._run("CREATE TABLE IF NOT EXISTS version (number BIGINT NOT NULL)")
        row = self._run("SELECT number FROM version").fetchone()
        if row is None:
            self._run("INSERT INTO version (number) VALUES (0)")
        for step in steps(0 if row is None else int(row[0]), self.place):
            self._run(step)
        self._run("UPDATE version SET number = ?", (VERSION,))


def _parted(url: str) -> tuple[str, str]:
    """The address that libpq takes, and the schema that ours names beside it."""
    parts = urlsplit(url)
    named = parse_qsl(parts.query, keep_blank_values=True)
    schema = dict(named).get("schema", SCHEMA)
    if not schema.isidentifier() or len(schema) > 60:
        raise InputError(f"schema={schema[:80]} is no name for a schema; take letters, digits and underscores")
    rest = urlencode([(name, value) for name, value in named if name != "schema"])
    return urlunsplit(parts._replace(query=rest)), schema


def _shown(address: str) -> str:
    """The address without its password, and without parameters, which may hold one."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))


def _said(error: Exception) -> str:
    """The first line of what the server or the library said."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
