"""The cheapest adaptive plan of an instance: the program solved, its policy walked, its bound recomputed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.cascade.blank_plan import blank_plan
from crowdopt.assign.cascade.cascade import ENTRIES, Cascade
from crowdopt.assign.cascade.first_round import first_round
from crowdopt.assign.cascade.panels import ManyStates, skill_panel, vote_panel
from crowdopt.assign.cascade.policy_walk import walked
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BRANCHING, BY_SIZE, Listener, Options, Solution, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.programs.cascade import least_excess

TINY = 1e-300
GROWING = 0.8  # of the time, for more and more askers
SOON = 20_000  # entries of a program that is solved at once
SPARE = 1e-9  # relative; above the least multiple of the targets, so that the next solve finds a plan


def cheapest_policy(
    instance: AssignmentInstance,
    labels: Ints | None,
    solvers: Solvers,
    options: Options,
    *,
    rounds: int | None = None,
    expert: float | None = None,
    given_votes: bool = False,
    class_error: tuple[float, ...] = (),
    each_task: bool = False,
    listener: Listener | None = None,
    strict: bool = False,
) -> AdaptivePlan:
    """``min expected cost`` over all policies that keep errors, capacities and money in expectation.

    labels (collected,): the class that each label already in says; solvers: of linear programs; rounds: sets of votes
    that are asked for at once, at most so many; expert: price of an answer that is right; given_votes: whether each
    answer's error given its votes keeps its target, not only the mean over votes; class_error: by true class, the share
    that may be answered otherwise, infinity where that is not limited; each_task: of one round, whether whole tasks get
    sets each of which keeps the target, against the bound of the relaxation; strict: whether there is a plan for
    these targets or none; else, where they are out of reach, the plan whose errors are the least multiple of all of
    them.
    """
    if each_task and instance.the_rule.average:
        raise InputError(
            f"each_task is about targets of tasks, and rule {instance.rule} is about their mean; leave it out"
        )

    def with_askers(most: int | None) -> Cascade:
        panel = vote_panel(instance, labels, most)
        return Cascade(panel, expert, rounds, 1.0, given_votes, class_error, each_task)

    def by_orders() -> AdaptivePlan:
        from crowdopt.assign.cascade.cheapest_orders import cheapest_orders  # its loops are compiled

        left = clock.within(options, None)
        return cheapest_orders(skill_panel(instance, labels), expert, solvers, left, strict=strict)

    clock = Clock(options.time_limit)
    in_order = rounds is None and not (given_votes or class_error or each_task) and instance.classes == 2
    try:
        whole = cascade = with_askers(None)
    except ManyStates:
        if not in_order:
            raise
        return by_orders()
    if whole.most_entries > SOON:
        best, cascade = _by_askers(whole, with_askers, solvers.solve, options, clock.part(GROWING))
        if best is not None:
            return best
        if in_order:
            return by_orders()
    return _at_once(cascade, whole, solvers.solve, options, clock, listener, strict)


def _at_once(
    cascade: Cascade,
    whole: Cascade,
    solve: Solve,
    options: Options,
    clock: Clock,
    listener: Listener | None,
    strict: bool,
) -> AdaptivePlan:
    """The plan of one program; where targets are out of reach that of their least multiple. whole: all askers'."""
    found = solve(cascade.relaxed, BY_SIZE, clock.within(options, None), listener)
    none = _none(cascade, Status.INFEASIBLE if cascade is whole else Status.UNDECIDED, options)
    if found.status is not Status.INFEASIBLE or not certify(found).proves_infeasible():
        plan = _policy(cascade, found, solve, clock.within(options, None))
        if plan.objective is not None or not cascade.each_task:
            return plan
        none = plan  # shares of tasks keep the targets, and no whole ones were found
    times = None if strict else least_times(cascade, solve, options)
    if times is None:
        return none
    wider = replace(cascade, times=times * (1 + SPARE))
    best = _policy(wider, solve(wider.relaxed, BY_SIZE, options), solve, options)
    if best.objective is None or best.proof_of is None:
        return none
    if cascade is not whole:
        best = replace(best, bound=replace(_loose(whole), times=wider.times).bound(best.proof_of))
    return replace(best, status=none.status)


def _by_askers(
    whole: Cascade, with_askers: Callable[[int | None], Cascade], solve: Solve, options: Options, clock: Clock
) -> tuple[AdaptivePlan | None, Cascade]:
    """The cheapest plan found that asks only some askers, more and more of them while there is time; None without one.

    Its bound is the whole's: multipliers of any part price all askers. -> and the first part.
    """
    askers, best = len(whole.panel.workers), None
    soon = next((most for most in range(1, askers) if with_askers(most + 1).most_entries > SOON), askers)
    first = whole if soon == askers else with_askers(soon)
    for most in range(soon, askers + 1):
        if most > soon and clock.over:
            break
        part, left = first if most == soon else with_askers(most), clock.within(options, None)
        try:
            plan = _policy(part, solve(part.relaxed, BY_SIZE, left), solve, left)
        except ManyStates:
            break
        if plan.proof_of is not None:
            plan = replace(plan, bound=_loose(whole).bound(plan.proof_of))
            best = plan if best is None else _better(best, plan)
        if plan.interrupted or (best is not None and best.gap <= options.gap):
            break
    if best is not None:
        best = replace(best, status=Status.OPTIMAL if best.proven else Status.FEASIBLE)
    return best, first


def _loose(whole: Cascade) -> Cascade:
    """What no plan of the whole costs less than: where rounds have too many sets, votes one by one."""
    return whole if whole.most_entries <= ENTRIES else replace(whole, rounds=None, each_task=False)


def _better(plan: AdaptivePlan, other: AdaptivePlan) -> AdaptivePlan:
    """The cheaper of two plans under the higher of their bounds."""
    higher = max(plan, other, key=lambda one: one.bound)
    cheaper = min(plan, other, key=lambda one: np.inf if one.objective is None else one.objective)
    return replace(cheaper, bound=higher.bound, proof_of=higher.proof_of, interrupted=other.interrupted)


def least_times(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The least multiple of all targets that a plan keeps, where these are out of reach; None where none is found."""
    if cascade.given_votes or cascade.each_task:
        return _least_limit(cascade, solve, options)
    excess = solve(least_excess(cascade.program, cascade.sides), BY_SIZE, options)
    if excess.status is not Status.OPTIMAL or excess.primal is None:
        return None
    return 1 + float(excess.primal[-1])


def _least_limit(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The same of limits of an answer or a set: a multiple matters where it allows one more, so these are halved."""
    panel = cascade.panel
    errors = panel.error / panel.epsilon[panel.of_kind]
    every = [errors[panel.start > 0] if cascade.each_task else errors]
    for kind, votes, may in replace(cascade, each_task=False).sets if cascade.each_task else ():
        if (where := may[panel.start[may] > 0]).size:
            every.append(cascade.set_errors(votes, where) / panel.epsilon[kind])
    steps = np.unique(np.concatenate(every))
    steps = steps[steps > 1]
    low, high, backend = 0, steps.size, BRANCHING if cascade.each_task else BY_SIZE
    while low < high:
        middle = (low + high) // 2
        found = solve(replace(cascade, times=float(steps[middle])).program, backend, options)
        low, high = (low, middle) if found.primal is not None else (middle + 1, high)
    return float(steps[low]) if low < steps.size else None


def _policy(cascade: Cascade, found: Solution, solve: Solve, options: Options) -> AdaptivePlan:
    """The plan of a solution of the relaxation, where it is one, of whole tasks where that is asked for."""
    whole = solve(cascade.program, BRANCHING, options) if cascade.each_task else found
    none = _none(cascade, Status.UNDECIDED, options)
    none = replace(none, interrupted=found.interrupted or whole.interrupted)
    if found.status is not Status.OPTIMAL or whole.primal is None or found.dual is None:
        return none
    panel, program = cascade.panel, cascade.program
    dual = {block.name: block.view(found.dual) for block in program.rows}
    budget = float(dual["budget"][0]) if "budget" in dual else 0.0
    proof = panel.proof(-dual["error"][panel.error_rows], dual["capacity"], budget, dual.get("limit", 0.0))
    if cascade.sides.of_class is not None:
        classes = np.zeros(len(cascade.class_error))
        classes[cascade.sides.of_class[0]] = np.maximum(0.0, -dual["class_error"]) + 0.0
        proof = replace(proof, classes=tuple(classes.tolist()))
    walk = walked(cascade, np.where(program.integer, np.rint(whole.primal), whole.primal))
    plan = replace(
        none,
        status=Status.FEASIBLE,
        rows=tuple(walk.rows),
        objective=walk.cost,
        bound=cascade.bound(proof),
        proof_of=proof,
        loads=walk.loads,
        errors=walk.wrong / panel.tasks_in,
        to_expert=walk.expert / panel.tasks_in,
        pairs=first_round(panel, walk.rows, options.seed),
        missed=tuple((walk.missed / np.maximum(panel.of_class, TINY)).tolist()) if cascade.class_error else (),
        times=cascade.times,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _none(cascade: Cascade, status: Status, options: Options) -> AdaptivePlan:
    """No plan; INFEASIBLE is proven by the solver's ray."""
    names = "rounds", "expert", "given_votes", "class_error", "each_task"
    terms = {name: getattr(cascade, name) for name in names}
    return blank_plan(cascade.panel, status, options.seed, **terms)
