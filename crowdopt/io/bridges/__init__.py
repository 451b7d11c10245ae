"""Bridges to the tools where people label: one file for each, found by the constant ``BRIDGE`` at its end."""

from __future__ import annotations

import sys

from crowdopt.core.registry import discover
from crowdopt.errors import InputError
from crowdopt.io.bridges.pushed import Bridge


def bridges() -> dict[str, Bridge]:
    """Every bridge there is, by name; those that third parties register come last."""
    return {bridge.name: bridge for bridge in discover(sys.modules[__name__], "BRIDGE")}


def bridge_named(name: str) -> Bridge:
    """The bridge of that name; InputError with those there are, if it is none."""
    known = bridges()
    if name not in known:
        raise InputError(f"there is no bridge to {name!r}; there are {', '.join(known)}")
    return known[name]
