"""Where there is no plan for all tasks: a plan for as many as can be served, and the best that is left for the others.

Small instances are looked through (crowdopt.assign.every_set). Elsewhere a task that no labels could serve has all
labels that lower its error, if capacities allow that beside a plan for the others. Of the other tasks as few are given
up as a program over classes says, until the rest has a plan; under exact errors, of which programs know little, tasks
are served one after the other, and then as many more as have a plan with those. Labels that remain serve tasks given
up, one after the other; then each goes where it lowers the sum of Bhattacharyya's bounds most for its price, and labels
that lower no exact error are taken back. Of a rule for the average all labels go where they lower it most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.budget.spending import spent_best
from crowdopt.assign.every_set import MOST_SHORT, has_few_sets, most_served
from crowdopt.assign.explain.fewest_dropped import staying_tasks
from crowdopt.assign.explain.questions import Probe
from crowdopt.assign.methods.legal_labels import LegalLabels, soon
from crowdopt.assign.methods.serving_tasks import Serving, room_of, ties_all
from crowdopt.assign.plan import Plan
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches, short_tasks, worst_breach
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.subset import of_tasks
from crowdopt.errors import InputError

Again = Callable[[AssignmentInstance, float], Plan]  # ``(instance, seconds)``: a plan by the method that was asked for

MANY_SHORT = 0.5  # of the tasks: labels left by a search without a plan are begun with where no more are short
LOOKS = 2  # at all tasks, which follow when tasks are served beside labels that a search has left
RESERVED = 20_000  # pairs of hopeless tasks and workers up to which the former are served first
SURE = 1 - 1e-12  # prior of a task that asks nothing
FEW = 8  # labels of a task whose exact error takes no time
LEAST = 1e-300  # target that no labels keep: each that helps is taken


def best_effort(plan: Plan, hopeless: Ints, again: Again, probe: Probe, first: Ints | None = None) -> Plan:
    """The plan of most tasks that was found, with ``short`` the others; as given where nothing keeps the other limits.

    plan: none, of an instance that has no plan for all tasks, or for which none was found in time; hopeless (k,): tasks
    that no labels could serve; probe: whose clock says when to stop; first (k, 2): labels to fall back on.
    """
    instance = plan.instance
    if instance.budget is not None and instance.prices(instance.fixed).sum() > instance.budget:
        return plan
    if has_few_sets(instance, MOST_SHORT):
        pairs = most_served(instance, probe.solve, probe.clock.left, plan.seed)
        found = None if pairs is None else _kept(instance, pairs)
    elif instance.the_rule.average:
        found = _kept(instance, _least_on_average(instance, probe))
    else:
        found = _better_of(instance, first, lambda: _found(plan, hopeless, again, probe, first is None))
    if found is None or not (len(found[0]) or plan.status is Status.INFEASIBLE):
        return plan  # an empty plan hands nothing out: what is known of the whole says more
    pairs, short = found
    if not short.size:
        made: dict[str, Any] = {"method": plan.method, "backend": plan.backend, "seed": plan.seed, "note": plan.note}
        if plan.status is not Status.INFEASIBLE:
            return Plan.of(instance, "ip", plan.certificate, plan.certified_bound, plan.duals, pairs, **made)
        # the solver that said that there is no plan was wrong
        return Plan.of(instance, "ip", Certificate(None, -np.inf, "none", None, None), -np.inf, None, pairs, **made)
    refuted = plan.status is Status.INFEASIBLE  # else what is known bounds plans of all tasks, and this is none
    bound, proof = (plan.bound, plan.proof) if refuted else (-np.inf, "none")
    cost = float(instance.prices(pairs).sum())
    known = Certificate(cost, bound, proof, worst_breach(instance, pairs, short=short), 0.0)
    return replace(plan, pairs=pairs, short=short, certificate=known, certified_bound=-np.inf, duals=None)


def _better_of(
    instance: AssignmentInstance, first: Ints | None, search: Callable[[], tuple[Ints, Ints] | None]
) -> tuple[Ints, Ints] | None:
    """What serves more tasks: labels found before, (l, 2), or what a search finds, which they may save."""
    known = None if first is None else _kept(instance, first)
    if known is not None and not known[1].size:
        return known
    found = search()
    return known if known is not None and (found is None or found[1].size > known[1].size) else found


def _kept(instance: AssignmentInstance, pairs: Ints) -> tuple[Ints, Ints] | None:
    """The labels, (l, 2), and which tasks are short, (k,), if these excused every limit is kept."""
    short = short_tasks(instance, pairs)
    return None if breaches(instance, pairs, short=short) else (pairs, short)


def _found(plan: Plan, hopeless: Ints, again: Again, probe: Probe, is_last: bool) -> tuple[Ints, Ints] | None:
    """A plan for those that can be served, then what is left for the others; which are short."""
    instance, partial = plan.instance, plan.partial
    began = probe.clock.spent
    short = np.zeros(0, np.int64) if partial is None else short_tasks(instance, partial)
    clock = Clock(max(0.0, probe.clock.left - LOOKS * (probe.clock.spent - began)))
    for served, pairs in chain(_gone_on(instance, partial, short, clock), _begun(instance, hopeless, again, probe)):
        others = np.setdiff1d(np.arange(instance.n_tasks), served)
        state = Serving(instance, pairs)
        _hand_out(state, np.setdiff1d(others, hopeless), others, clock)
        kept = _kept(instance, state.pairs)
        if kept is not None:
            return kept
    return _kept(instance, soon(instance, clock.left)) if is_last else None


def _least_on_average(instance: AssignmentInstance, probe: Probe) -> Ints:
    """Labels that lower the mean error most, whatever its target."""
    state = Serving(replace(instance, rule=EXACT_ERROR.name, epsilon=np.asarray(LEAST)), instance.fixed)
    money = float((np.minimum(instance.capacity, instance.n_tasks) * instance.cost.max(axis=0)).sum())
    try:
        most = money if instance.budget is None else instance.budget
        pairs = spent_best(instance, most, probe.solve, Options(time_limit=probe.clock.left))
    except InputError:  # a limit that only programs keep
        _hand_out(state, np.zeros(0, np.int64), np.arange(instance.n_tasks), probe.clock)
        return state.pairs
    state.add_useful(np.arange(instance.n_tasks), pairs)
    return state.pairs


def _hand_out(state: Serving, given_up: Ints, others: Ints, clock: Clock) -> None:
    """What is left: first to tasks given up that it serves, those of least need first; then to all that are short."""
    # clock: when it is over, tasks are served by a linear rule's sums, which take no time beside exact errors; of what
    # remains then only loads are filled.
    if ties_all(state.instance):
        legal = LegalLabels(state.instance, state.pairs)
        legal.serve(others, clock)
        state.pairs = legal.pairs
        return
    if others.size == state.instance.n_tasks:
        state.fill_loads()  # before the money goes elsewhere
    state.settle_all(given_up, clock)
    state.spread(others, clock)
    for task in np.intersect1d(given_up, short_tasks(state.instance, state.pairs)).tolist():
        state.settle(task, FEW)
    state.fill_loads()


def _gone_on(
    instance: AssignmentInstance, partial: Ints | None, short: Ints, clock: Clock
) -> Iterator[tuple[Ints, Ints]]:
    """Tasks served, (k,), and labels, (l, 2), of a search that found none for all, some short: then mended."""
    every = np.arange(instance.n_tasks)
    if partial is None or short.size > MANY_SHORT * every.size:
        return
    state = Serving(instance, partial)
    state.settle_all(short, clock)
    yield np.setdiff1d(every, short_tasks(instance, state.pairs)), state.pairs
    yield np.setdiff1d(every, short), partial


def _begun(instance: AssignmentInstance, hopeless: Ints, again: Again, probe: Probe) -> Iterator[tuple[Ints, Ints]]:
    """Tasks that have a plan, (k,), and all labels so far, (l, 2): all within reach, then fewer, in the end none."""
    rest = np.setdiff1d(np.arange(instance.n_tasks), hopeless)
    owed = instance.fixed[np.isin(instance.fixed[:, 0], hopeless)]
    for given in _given_to(instance, hopeless, owed):
        yield from _planned(instance, rest, given, again, probe)
    if rest.size and not ties_all(instance) and not probe.clock.over:
        part = _without(instance, rest, owed)
        for staying in () if part.the_rule.checked else staying_tasks(part, probe):
            given = part.fixed[~np.isin(part.fixed[:, 0], staying)]
            for served, pairs in _planned(part, staying, given, again, probe):
                yield rest[served], _among_all(rest, pairs, owed)
        served, pairs = _with_more(part, *_one_by_one(part, probe.clock), again, probe.clock)
        yield rest[served], _among_all(rest, pairs, owed)
    yield from _planned(instance, rest[:0], instance.fixed, again, probe)


def _given_to(instance: AssignmentInstance, hopeless: Ints, owed: Ints) -> Iterator[Ints]:
    """Labels that hopeless tasks have beside a plan for the others, (l, 2): all that help, or the fixed ones alone."""
    if not hopeless.size:
        return
    if hopeless.size * instance.n_workers <= RESERVED and not ties_all(instance):
        state = Serving(instance, instance.fixed)
        for task in hopeless.tolist():
            state.take_all(task)
        yield state.pairs[np.isin(state.pairs[:, 0], hopeless)]
    yield owed


def _planned(
    instance: AssignmentInstance, served: Ints, given: Ints, again: Again, probe: Probe
) -> Iterator[tuple[Ints, Ints]]:
    """Some tasks and all labels, if a plan for those is found soon beside labels that the others are given."""
    if served.size and probe.clock.over:
        return
    pairs = _served(instance, served, given, again, probe.clock.left / 3)
    if pairs is not None:
        yield served, pairs


def _one_by_one(part: AssignmentInstance, clock: Clock) -> tuple[Ints, Ints]:
    """Tasks that are served one after the other, (k,), those of least need first, and all labels."""
    state = Serving(part, part.fixed)
    state.settle_all(np.arange(part.n_tasks), clock)
    return np.setdiff1d(np.arange(part.n_tasks), short_tasks(part, state.pairs)), state.pairs


def _with_more(part: AssignmentInstance, served: Ints, pairs: Ints, again: Again, clock: Clock) -> tuple[Ints, Ints]:
    """Tasks that are served, and as many of the others as have a plan with them, those of least need first."""
    others = np.setdiff1d(np.arange(part.n_tasks), served)
    others = others[np.argsort(part.residual_need[others], kind="stable")]
    low, high, best = 0, others.size, (served, pairs)  # all together have none that was found
    while high - low > 1 and not clock.over:
        middle = (low + high) // 2
        tried = np.sort(np.concatenate([served, others[:middle]]))
        found = _served(part, tried, part.fixed[~np.isin(part.fixed[:, 0], tried)], again, clock.left / 3)
        if found is None:
            high = middle
        else:
            low, best = middle, (tried, found)
    return best


def _among_all(tasks: Ints, pairs: Ints, given: Ints) -> Ints:
    """Labels of some tasks alone, (l, 2), and those that the others are given: sorted, by the tasks of the whole."""
    every = np.concatenate([np.column_stack([tasks[pairs[:, 0]], pairs[:, 1]]), given])
    return every[np.lexsort((every[:, 1], every[:, 0]))]


def _served(instance: AssignmentInstance, served: Ints, given: Ints, again: Again, seconds: float) -> Ints | None:
    """A plan for some tasks, beside labels that the others are given; None where none was found."""
    if not served.size:
        return None if (room_of(instance, given) < 0).any() else given
    try:
        part = _asking_nothing(instance, served, given) if ties_all(instance) else _without(instance, served, given)
    except InputError:  # what the others are given leaves too little for fixed pairs
        return None
    found = again(part, seconds).pairs
    if found is None or ties_all(instance):
        return found
    return _among_all(served, found, given)


def _without(instance: AssignmentInstance, served: Ints, given: Ints) -> AssignmentInstance:
    """Some tasks alone, with what labels of the others leave of time and money."""
    load = np.bincount(given[:, 1], minlength=instance.n_workers)
    budget = instance.budget
    return replace(
        of_tasks(instance, served),
        capacity=instance.capacity - load,
        min_load=np.zeros(instance.n_workers, np.int64),  # labels of the others count as well: see below
        budget=None if budget is None else max(0.0, budget - float(instance.prices(given).sum())),
    )


def _asking_nothing(instance: AssignmentInstance, served: Ints, given: Ints) -> AssignmentInstance:
    """All tasks, of which only some ask for anything: the others' labels are fixed, and their prior is sure."""
    others = ~np.isin(np.arange(instance.n_tasks), served)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes)).copy()
    prior[others] = (1 - SURE) / (instance.classes - 1)
    prior[others, 0] = SURE
    fixed = np.concatenate([instance.fixed[~others[instance.fixed[:, 0]]], given])
    return replace(
        instance,
        prior=prior if instance.the_rule.heeds_prior else instance.prior,
        demand=np.where(others, 0.0, instance.demand),
        min_labels=np.where(others, 0, instance.min_labels),
        fixed=fixed,
    )
