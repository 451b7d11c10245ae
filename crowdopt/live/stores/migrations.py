"""The tables of a store, by numbered steps: a store of an older version is brought up to date when it is opened."""

from __future__ import annotations

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
