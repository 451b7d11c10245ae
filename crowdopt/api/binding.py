"""What the calls share: which solvers serve the methods, and options from arguments."""

from __future__ import annotations

from typing import Any

from crowdopt.assign.exact.search import Solvers
from crowdopt.backends import solve
from crowdopt.backends.highs import HighsMaster
from crowdopt.core.solution import Options
from crowdopt.errors import InputError

SEARCH = "highs"  # who searches the full program where the exact method needs it
SOLVERS = Solvers(solve, HighsMaster, SEARCH)
RELAXATIONS = "highs-ipm"  # solves auxiliary LPs: up to nine times as fast as simplex on elastic ones


def options_of(time_limit: float, seed: int, **others: Any) -> Options:
    """Options, or what is wrong with them in a sentence."""
    try:
        return Options(time_limit=time_limit, seed=seed, **others)
    except ValueError as error:
        raise InputError(str(error)) from None
