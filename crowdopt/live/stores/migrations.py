"""The tables of a store, by numbered steps: a store of an older version is brought up to date when it is opened."""

from __future__ import annotations

from collections.abc import Iterator

from crowdopt.errors import InputError

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE event (number BIGINT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, "
        "worker TEXT NOT NULL, task TEXT NOT NULL, lease BIGINT NOT NULL, value TEXT NOT NULL)",
        "CREATE TABLE snapshot (number BIGINT PRIMARY KEY, state {bytes} NOT NULL)",
        "CREATE TABLE reply (request TEXT PRIMARY KEY, answer TEXT NOT NULL)",
        "CREATE TABLE token (digest TEXT PRIMARY KEY, owner TEXT NOT NULL)",
    ),
)
"""Step k brings the tables from version k to k + 1; ``{bytes}`` is the store's own word for them."""


def newer_steps(version: int, place: str, word: str) -> Iterator[tuple[int, str]]:
    """Statements that a store of that version lacks, each with the version that it leads to.

    word: the store's own for bytes. Raises InputError if the store is of a newer version.
    """
    if version > len(MIGRATIONS):
        raise InputError(f"{place} was written by a newer version of crowdopt; install that one")
    for number, steps in enumerate(MIGRATIONS[version:], version + 1):
        for step in steps:
            yield number, step.format(bytes=word)
