"""Compile the loops once, before anything is timed that could need them."""

from __future__ import annotations

from functools import cache

from crowdopt.assign.exact.search import Solvers
from crowdopt.assign.exact.stages import solve_exact
from crowdopt.core.solution import Options
from crowdopt.crowd.recipes import recipe

WARM = "R10:60x40"  # large enough that every compiled part is used


@cache
def warm(solvers: Solvers) -> None:
    """Solve a small instance as far as its first nodes; where the loops are in the cache that takes a moment."""
    solve_exact(recipe(WARM), "ip", solvers, Options(time_limit=300.0, nodes=2))
