"""Sizes that this machine cannot hold: refused in a sentence, before anything is allocated."""

from __future__ import annotations

import os
from math import inf

from crowdopt.errors import InputError

NUMBER = 8  # bytes


def machine_memory() -> float:
    """Bytes of memory that the machine has; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return inf


def refuse_beyond_memory(numbers: float, what: str) -> None:
    """InputError where so many numbers of 64 bits are more than memory holds; ``what`` begins the sentence."""
    room = machine_memory()
    if NUMBER * numbers > room:
        asked, have = NUMBER * numbers / 1e9, room / 1e9
        raise InputError(f"{what} would take {asked:.3g} GB of memory, and this machine has {have:.3g}; ask for less")
