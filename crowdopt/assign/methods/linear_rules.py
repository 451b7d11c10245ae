"""A linear rule without joint limits: bounds from classes, plans by aiming, then the engine over sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from crowdopt.assign.engine.set_engine import go_on
from crowdopt.assign.exact.aim import LARGE_STEPS, aim, is_large
from crowdopt.assign.exact.relaxation import Relaxation, relax_classes
from crowdopt.assign.exact.search import Search
from crowdopt.assign.individual.linear_plan import solve_linearly
from crowdopt.assign.individual.own_stages import is_individual, solve_individually
from crowdopt.assign.levels import climb as levels
from crowdopt.assign.plan import Plan
from crowdopt.assign.standing import Solvers
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR

SMALL = 600  # pairs up to which a short search over the full program comes first
QUICK = 100  # nodes of that search: not seconds, so that equal runs agree
AIMED = 0.3  # of the time left, for a first plan
ATTEMPTS = 24  # plans aimed at in all; deterministic, unlike seconds
LARGEST, EACH = 4_000_000, 1.5e-5  # pairs up to which the full program is searched at all; seconds to build, per pair
LARGE = (
    100_000  # pairs up to which it may better a plan; beyond, it takes hundreds of megabytes and has not in a minute
)


def solve_linear(
    instance: AssignmentInstance,
    kind: str,
    solvers: Solvers,
    options: Options,
    listener: Listener | None = None,
    *,
    soon: bool = False,
) -> Plan:
    """Solve over classes of interchangeable tasks and workers; prove by multipliers; search only for what is left.

    Where nearly every task is of a kind of its own, each is taken by itself (``assign.individual``).

    kind: ``ip`` or ``lp``.
    solvers: its backend searches the full program, from the plan found here, where the structure does not suffice.
    options: limits of the whole.
    soon: whether the caller wants to know only if there is a plan: the search of a full program that is not small is
    left out, so that the work, not a clock, ends it.
    -> with the better of both bounds.
    """
    clock = Clock(options.time_limit)
    if is_individual(instance):
        if kind == "ip":
            return solve_individually(instance, solvers, options, listener).plan()
        shares = solve_linearly(instance, solvers, options, listener)
        if shares is not None:
            return shares
        options = clock.within(options, options.nodes)
    relaxation = relax_classes(classes_of(instance), solvers.solve, options, whole=kind == "ip")
    known = relaxation.certificate
    if kind == "lp" or not np.isfinite(known.bound) or relaxation.solution.interrupted:
        return _linear_plan(instance, kind, relaxation, options)
    search = Search.of(relaxation, solvers, options, clock, listener)
    del relaxation  # the LP of a large instance takes much memory
    for stage in _stages(search, soon):
        if search.done:
            break
        try:
            stage()
        except KeyboardInterrupt:
            search.interrupted = True
    return search.plan()


def _stages(search: Search, soon: bool) -> Iterator[Callable[[], object]]:
    """What is tried in turn until the plan is proven."""
    if search.pairs <= SMALL:
        yield partial(search.in_full, QUICK)
    yield partial(_aim_first, search)
    if levels.pay(search):
        yield partial(aim, search, 1, thorough=False)
        yield partial(levels.climb, search)
        yield partial(_aim_first, search)
    if search.instance.rule != EXACT_ERROR.name:  # of which evidence is only a part
        yield partial(go_on, search)
    yield partial(aim, search, ATTEMPTS)
    if not soon:
        yield partial(_in_full, search)


def _aim_first(search: Search) -> None:
    """A plan whose sets the engine begins with, in a part of the time: loads and limits on labels may be in its way."""
    whole = search.clock
    search.clock = whole.part(AIMED)
    try:
        aim(search, len(LARGE_STEPS) if is_large(search) else 1)
    finally:
        search.clock = whole


def _in_full(search: Search) -> None:
    """Search the full program where there is time to build it: a large one only if there is no plan yet."""
    largest = LARGEST if search.best is None else LARGE
    if search.pairs <= largest and search.clock.left > EACH * search.pairs:
        search.in_full(None)


def _linear_plan(instance: AssignmentInstance, kind: str, relaxation: Relaxation, options: Options) -> Plan:
    """The LP's own answer: shares of labels, or that there is no plan."""
    known, pairs, amounts = relaxation.certificate, None, None
    full = relaxation.full() if kind == "lp" and known.bound < np.inf else None
    if full is not None:
        pairs = np.argwhere(full > 0)
        amounts = full[tuple(pairs.T)]
    return Plan.of(
        instance,
        kind,
        known,
        known.bound if known.proof == "certificate" else -np.inf,
        relaxation.duals(),
        pairs,
        amounts,
        method="exact",
        backend=relaxation.solution.backend,
        seed=options.seed,
        interrupted=relaxation.solution.interrupted,
    )
