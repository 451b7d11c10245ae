"""Compile the loops once, before anything is timed that could need them."""

from __future__ import annotations

from functools import cache

import numpy as np

from crowdopt.assign.exact.alarm import NEVER
from crowdopt.assign.exact.knapsacks import Effort, Knapsack
from crowdopt.assign.exact.search import Solvers
from crowdopt.assign.exact.split import Split
from crowdopt.assign.exact.stages import solve_exact
from crowdopt.core.solution import Options
from crowdopt.crowd.classes import classes_of
from crowdopt.crowd.recipes import recipe

WARM = "R10:60x40"


@cache
def load() -> None:
    """Run every compiled loop of the exact method once, on next to nothing; kept from earlier, they load."""
    from crowdopt.assign.exact import kernels

    classes = classes_of(recipe("K3:3x2"))
    kinds, groups = classes.evidence.shape
    split = Split.of_amounts(classes, np.zeros((kinds, groups), np.int64), 0.0, 0)
    moving, tasks = (split.terms, split.dealt), np.arange(1)
    kernels.share(tasks, *moving, 0, 0, 0)
    kernels.trade(tasks, *moving, 0)
    kernels.thin(tasks, *moving)
    kernels.top_up(tasks, *moving)
    whole, none = np.zeros((kinds, groups), np.int64), np.zeros(kinds)
    kernels.shift(
        whole,
        none,
        none.copy(),
        classes.evidence,
        classes.cost,
        whole.copy(),
        np.zeros(groups, np.int64),
        np.zeros(1),
        NEVER,
    )
    knapsack = Knapsack(np.ones(1), np.ones(1), 1.0)
    kernels.cheapest_set(knapsack, Effort(1e-6, 1, 1), np.zeros((1, 1), np.int64), np.zeros(1, np.int64))


@cache
def warm(solvers: Solvers) -> None:
    """Load the loops, and solve a small instance as far as its first nodes."""
    load()
    solve_exact(recipe(WARM), "ip", solvers, Options(time_limit=300.0, nodes=2), soon=True)
