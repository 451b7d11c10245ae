"""Mutants are asked for by name: ``python -m pytest -m mutants``."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line(
        "markers", "mutants: one-line mutants of the code; run them with `python -m pytest -m mutants`"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Minutes, so not by default."""
    if "mutants" in (config.option.markexpr or ""):
        return
    mutants = [item for item in items if item.get_closest_marker("mutants") is not None]
    config.hook.pytest_deselected(items=mutants)
    items[:] = [item for item in items if item.get_closest_marker("mutants") is None]
