"""Loops of the exact method compiled at once, by two processes, before a clock runs; kept, they only load."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.dealt import Rows
from crowdopt.assign.exact.alarm import NEVER
from crowdopt.assign.exact.split import Split, are_compiled
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.recipes import recipe

# one process compiles the first, another all others, which takes as long
PARTS = (f"{__name__}:sharing", f"{__name__}:the_rest", "crowdopt.assign.engine.cheapest_sets:look_once")


def get_ready(tell: Callable[[str], None] | None = None) -> None:
    """Compile the loops unless they are there; whoever waits is told."""
    if not are_compiled():
        if tell is not None:
            tell("compiling once")
        load()


@cache
def load() -> None:
    """Run each loop once, on next to nothing: compiled where they are not kept from earlier."""
    from crowdopt.compiled_kernels import call, run_together

    if are_compiled():
        for part in PARTS:
            call(part)
    else:
        run_together(PARTS)


def _split() -> tuple[Split, Classes, Ints]:
    """Labels of three tasks that have none, their classes, and one of them."""
    classes = classes_of(recipe("K3:3x2"))
    return Split(classes, 6, 0), classes, np.arange(1)


def sharing() -> None:
    """Labels shared out within a row, and amounts polished."""
    from crowdopt.assign.exact import kernels

    split, classes, tasks = _split()
    kernels.share(tasks, split.terms, split.dealt, 0, 0, 0)
    kinds, groups = classes.evidence.shape
    whole, none = np.zeros((kinds, groups), np.int64), np.zeros(kinds)
    spare, left = np.zeros(1), np.zeros(groups, np.int64)
    kernels.shift(Rows(whole, none, none.copy(), classes.evidence, classes.cost, whole.copy(), left, spare), NEVER)


def the_rest() -> None:
    """Labels dealt, dropped, and exchanged between rows."""
    from crowdopt.assign.exact import kernels

    split, classes, tasks = _split()
    kernels.trade(tasks, split.terms, split.dealt, 0)
    kernels.thin(tasks, split.terms, split.dealt)
    kernels.deal(tasks, tasks, np.zeros(classes.capacity.size, np.int64), classes.evidence[0], split.dealt)
