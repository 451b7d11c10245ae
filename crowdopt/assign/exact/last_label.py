"""The last label: whole amounts between classes at the bound's price, or that there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.relaxation import has_whole_prices
from crowdopt.assign.exact.split import Split
from crowdopt.assign.standing import Standing
from crowdopt.core.certificate import Certificate, lagrangian_bound
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE
from crowdopt.crowd.alike import Classes
from crowdopt.programs import aggregated, whole_amounts

CELLS = 4_000  # task classes x worker classes up to which amounts are searched
NEAR = 1.0  # money between the LP and the bound; beyond, the LP's amounts say too little of tasks' own sets
MARGINS = (3e-5, 0.0)  # evidence per task beyond the need: room for sharing out, then none, which proves more
CERTAIN = 1e-4  # evidence: less that is missing proves nothing, for solvers round
PART, LONGEST = 0.25, 15.0  # of the time left, and seconds, that a search may take
FINISHING, TRADING = 20_000, 1_000_000  # work of sharing out


def settle(search: Standing, classes: Classes) -> None:
    """Search whole amounts at the bound's price: they lead to a plan, or prove on the solver's word that there is none.

    A search over amounts is one over a few hundred whole numbers, however many tasks there are, since reduced costs
    fix all the others. Sharing them out among tasks loses little where tasks of a class are many.

    classes: of its instance, without joint limits.
    """
    if not has_whole_prices(classes) or classes.evidence.size > CELLS:
        return
    relaxed = aggregated.of_classes(classes, whole=True)
    linear = search.solvers.solve(relaxed, BY_SIZE, search.clock.within(search.options, None))
    if linear.dual is None:
        return
    least = lagrangian_bound(relaxed, linear.dual)
    while not search.done and search.bound < search.value and search.bound - least <= NEAR:
        before = search.bound
        for margin in MARGINS:
            if search.bound == before and not search.done:
                program = whole_amounts.of_classes(classes, before, margin)
                _search(search, classes, whole_amounts.boxed(program, relaxed, linear.dual, least, before), margin)
        if search.bound == before:
            return


def _search(search: Standing, classes: Classes, program: Program, margin: float) -> None:
    """Search amounts: raise the bound where some evidence must be missing, share them out where none is."""
    money, tasks = search.bound, classes.task_class.size
    options = search.clock.within(search.options, search.options.nodes)
    options = replace(options, time_limit=min(PART * search.clock.left, LONGEST), gap=0.0)
    found = search.solvers.solve(program, search.solvers.backend, options)
    search.interrupted |= found.interrupted
    missing = found.claimed_bound
    if missing is not None and missing > margin * tasks + CERTAIN:
        search.known = Certificate(None, np.floor(money) + 1, "solver", None, None)
        search.tell()
    elif found.primal is not None:
        _share_out(search, classes, np.rint(program.column("u").view(found.primal)).astype(np.int64), money)


def _share_out(search: Standing, classes: Classes, amounts: Ints, money: float) -> None:
    """Offer the plan that amounts lead to, where they miss nothing and all tasks can be covered by them."""
    if ((classes.evidence * amounts).sum(axis=1) < classes.tasks_in * classes.floor).any():
        return
    get_ready(search.tell)
    with alarm(search.clock) as rung:
        split = Split.of_amounts(classes, amounts, money, search.options.seed).heeding(rung)
        split.level()
        split.finish(FINISHING)
        if not split.covered:
            split.trade(TRADING)
        if split.covered:
            search.offer(split.pairs())
