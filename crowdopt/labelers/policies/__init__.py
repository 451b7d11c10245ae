"""Policies of asking, one per file: each ends in ``POLICY``; third parties use the entry-point group of this name."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from crowdopt.core.registry import completed, discover, made
from crowdopt.labelers.asking import BaseLabelerPolicy


@cache
def policies() -> dict[str, type[Any]]:
    """Every policy there is, by name."""
    return {policy.name: completed(policy, BaseLabelerPolicy) for policy in discover(sys.modules[__name__], "POLICY")}


def named(text: str) -> Any:
    """A policy from its name and options, ``name:option=value:flag``."""
    return made(text, policies())
