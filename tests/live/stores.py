"""Every kind of store, empty, for the contract that all of them keep."""

from __future__ import annotations

import pytest

from crowdopt.live.stores.memory_store import MemoryStore
from crowdopt.live.stores.sqlite_store import SQLiteStore

STORES = {"memory": lambda folder: MemoryStore(), "sqlite": lambda folder: SQLiteStore(folder / "campaign.db")}
KINDS = [pytest.param(kind, id=kind) for kind in STORES]
