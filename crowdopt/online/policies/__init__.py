"""One policy per file, each ending in ``POLICY``; third parties register under the entry point of this name."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from crowdopt.core.registry import completed, discover, made
from crowdopt.online.policy import BasePolicy


@cache
def policies() -> dict[str, type[Any]]:
    """Every policy there is, by name."""
    return {policy.name: completed(policy, BasePolicy) for policy in discover(sys.modules[__name__], "POLICY")}


def named(text: str) -> Any:
    """A policy from its name and options, ``name:option=value:flag``."""
    return made(text, policies())
