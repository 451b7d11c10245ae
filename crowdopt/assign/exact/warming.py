"""Compile the loops once, before anything is timed that could need them."""

from __future__ import annotations

from functools import cache

from crowdopt.assign.exact.compiling import load
from crowdopt.assign.exact.search import Solvers
from crowdopt.assign.exact.stages import solve_exact
from crowdopt.core.solution import Options
from crowdopt.crowd.recipes.named_recipes import recipe

WARM = "R10:60x40"


@cache
def warm(solvers: Solvers) -> None:
    """Load the loops, and solve a small instance as far as its first nodes."""
    load()
    solve_exact(recipe(WARM), "ip", solvers, Options(time_limit=300.0, nodes=2), soon=True)
