"""The verb solve: the call that makes a plan, and says why there is none.

Progress of a search of several stages as one sequence of moments that only goes forward.

Adaptive plans for the verb solve: from a campaign with its labels, or an instance, to the cheapest policy.

The verb solve: the plan of a campaign, or the solution of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any, ParamSpec, Protocol, overload

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.approximation import METHOD as APPROXIMATION
from crowdopt.assign.best_effort import best_effort
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, class_labels
from crowdopt.assign.cascade.cheapest_policy import cheapest_policy
from crowdopt.assign.plan import Plan, in_units, presolved
from crowdopt.assign.search import quick_plan
from crowdopt.assign.shortage import Probe
from crowdopt.assign.tied_tasks import with_tied_tasks
from crowdopt.bars import Latest, bar, in_notebook, ticking
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Progress, Status
from crowdopt.crowd.doubt import gold_of, left_open
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.crowd.skills import AVERAGED
from crowdopt.crowd.vote_errors import errors_by, out_of_reach
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_with_labels
from crowdopt.io.folders import PLAN, check_target
from crowdopt.io.parts import is_in_parts
from crowdopt.io.plan import write_plan
from crowdopt.io.policy import write_policy
from crowdopt.io.settings import RECORDABLE, alone, overridden, stating
from crowdopt.kernels import for_small
from crowdopt.solvers import solve_whole
from crowdopt.solvers.settings import taken_apart
from crowdopt.stops import stoppable
from crowdopt.verbs.binding import (
    SEARCH,
    SOLVERS,
    WHOLE,
    AnyPath,
    InstanceLike,
    P,
    Q,
    content_of,
    instance_of,
    keywords,
    options_of,
    refuse_of_parts,
)
from crowdopt.verbs.methods import (
    EXACT,
    IP,
    LP,
    METHODS,
    Adaptive,
    AdaptiveOptions,
    InPartsOptions,
    MethodSearch,
    SolveOptions,
    asked_method,
    base_of,
    by_method,
    confident,
)
from crowdopt.verbs.parts import PartsPlan, assign_parts

A = ParamSpec("A")


@dataclass(eq=False)
class Forward:
    """Passes moments on with the seconds of the whole run, the best value and the best bound so far.

    Each stage of a search has a clock, and begins with a best and a bound, of its own.
    """

    listener: Listener
    started: float = field(default_factory=perf_counter)
    value: float | None = None
    bound: float | None = None
    stop: Event = field(default_factory=Event)
    error: Exception | None = None  # that the listener raised; it may be called in a solver's thread

    def __call__(self, moment: Progress) -> bool:
        """Take note of a moment of any stage; returns whether the search is to stop."""
        if self.stop.is_set():
            return True
        values = [one for one in (self.value, moment.value) if one is not None]
        bounds = [one for one in (self.bound, moment.bound) if one is not None]
        self.value, self.bound = min(values, default=None), max(bounds, default=None)
        bound = self.bound
        if self.value is not None and bound is not None:
            bound = min(bound, self.value)  # a stage may have looked for something cheaper than what is known
        try:
            if self.listener(Progress(perf_counter() - self.started, self.value, bound, moment.note)):
                self.stop.set()
        except Exception as error:
            self.error = error
            self.stop.set()
        return self.stop.is_set()


@contextmanager
def watched(listener: Listener | None, time_limit: float) -> Iterator[Listener | None]:
    """The listener of a search: the caller's, in a notebook a bar, else none.

    Where the caller's returns True the search's time is up; where it raises an error too, which is raised here at the
    end. time_limit: seconds, the length of the bar.
    """
    if listener is not None:
        with stoppable() as stop:
            forward = Forward(listener, stop=stop)
            yield forward
        if forward.error is not None:
            raise forward.error
    elif in_notebook():
        form = "{l_bar}{bar}| {n:.0f} of {total:g} s{postfix}"
        with bar(total=time_limit, desc="solve", bar_format=form, leave=False) as drawn:
            shown = _Bar(drawn)
            with ticking(shown.draw):
                yield Forward(shown.latest.show)
    else:
        yield None


class _Patience(Event):
    """Set once a search that goes on around it is to stop, or so many seconds have brought no plan."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.clock = Clock(seconds)
        self.has_plan = False

    def is_set(self) -> bool:
        return super().is_set() or self.clock.stop.is_set() or (self.clock.over and not self.has_plan)


@contextmanager
def giving_way(listener: Listener | None, seconds: float) -> Iterator[Listener]:
    """A listener that ends a search which knows no plan after so many seconds."""
    patience = _Patience(seconds)

    def told(moment: Progress) -> bool | None:
        patience.has_plan |= moment.value is not None
        return None if listener is None else listener(moment)

    with stoppable(patience):
        yield told


@dataclass(eq=False)
class _Bar:
    """A notebook's bar along the time limit, with best and bound behind it."""

    bar: Any
    latest: Latest = field(default_factory=Latest)
    started: float = field(default_factory=perf_counter)

    def draw(self) -> None:
        self.latest.look()
        moment, note = self.latest.moment, self.latest.note
        known = {} if moment is None else {"best": moment.value, "bound": moment.bound}
        said = [f"{name} {value:g}" for name, value in known.items() if value is not None]
        self.bar.set_postfix_str(", ".join([*said, *[note] * bool(note)]), refresh=False)
        self.bar.n = min(perf_counter() - self.started, self.bar.total)
        self.bar.refresh()


def _adaptive(campaign: InstanceLike, by: Adaptive, asked: SolveOptions) -> AdaptivePlan:
    """The cheapest plan that looks at answers before it asks again; labels that are in are where its tasks stand."""
    said = {name: getattr(asked, name) for name in OF_SETS}
    odd = [name for name, value in said.items() if value != getattr(SolveOptions, name)]
    if odd:
        raise InputError(
            f"{' and '.join(odd)} is about plans of fixed sets and says nothing of an adaptive one; leave it out"
        )
    started = datetime.now(UTC)
    options = options_of(asked.seconds, asked.seed, gap=asked.gap, threads=asked.threads)
    begun = perf_counter()
    stating = instance_of(
        campaign, asked.rule, asked.epsilon, asked.difficulty, skills=asked.skills, trust_gold=asked.trust_gold
    )
    instance, labels = with_labels(campaign, stating)
    with watched(asked.listener, asked.seconds) as told:

        def made(one: AssignmentInstance) -> AdaptivePlan:
            return cheapest_policy(
                one,
                labels,
                SOLVERS,
                options,
                rounds=by.rounds,
                expert=by.expert,
                given_votes=by.given_votes,
                class_error=by_class(one, by.limits),
                each_task=by.each_task,
                listener=told,
                strict=asked.strict,
            )

        try:
            plan = made(instance)
        except InputError:  # many judges who differ have no joint law; gold told of one that nobody stated
            if alone(instance) is instance:
                raise
            plan = made(alone(instance))
    note = "; ".join(filter(None, [plan.note, _law_said(plan.instance)]))
    plan = replace(plan, note=note, started=started.isoformat(timespec="seconds"), seconds=perf_counter() - begun)
    if asked.output is not None and plan.pairs is not None:
        write_policy(plan, asked.output, force=asked.force, content=content_of(campaign))
    return plan


def by_class(instance: AssignmentInstance, limits: Mapping[str, float]) -> tuple[float, ...]:
    """Limits of all classes, infinity where there is none; nothing where no class has one."""
    names = class_labels(instance)
    if unknown := [name for name in limits if name not in names]:
        raise InputError(f"there is no class {unknown[0]!r} to limit; they are {', '.join(names)}")
    return tuple(float(limits.get(name, inf)) for name in names) if limits else ()


def _hard_said(instance: AssignmentInstance) -> str:
    """How many tasks are hard, and whether gold says so."""
    gold = gold_of(instance)
    return ("by gold votes " if gold is not None and gold.is_heeded else "") + instance.difficulty.stated()


def _law_said(instance: AssignmentInstance) -> str:
    gold = gold_of(instance)
    if instance.vote_law is not None:
        return f"votes of an item depend on one another by the {instance.vote_law.name} law of gold votes"
    if instance.difficulty.share:
        return _hard_said(instance)
    if gold is not None and gold.law is not None:
        return (
            f"votes of an item depend on one another by the {gold.law.name} law of gold votes, which is not heeded here"
        )
    return ""


def with_labels(campaign: InstanceLike, asked: AssignmentInstance) -> tuple[AssignmentInstance, Ints | None]:
    """The instance with the prior that it had before any label, and the class that each label in it says."""
    if isinstance(campaign, AssignmentInstance) or not len(asked.collected):
        return asked, None
    known = read_with_labels(campaign)
    before = replace(known.instance, class_names=known.class_names()).as_read(known.gold)
    stated_in_place = () if asked.origin is None else asked.origin.stated
    return overridden(before, {key: RECORDABLE[key].write(asked) for key in stated_in_place}), known.indices()


BY_PROMISE = "the linear program of rule {} gave no plan; these are whole labels by rule {} itself"
IN_WHOLE_LABELS = "the linear program gave no plan for every task; what can be handed out are whole labels"
LITTLE = 0.1  # seconds beyond the limit for handing out what can be
FOR_ALL = 0.8  # of the time: without a plan for all tasks by then, the rest is for a plan for most of them


class Solve(Protocol[A, P, Q]):
    """The call ``solve``: what its answer is, by its words."""

    @overload
    def __call__(self, first: InstanceLike, /, *given: A.args, **words: A.kwargs) -> AdaptivePlan: ...

    @overload
    def __call__(self, first: AnyPath, /, *given: P.args, **words: P.kwargs) -> PartsPlan: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, first: InstanceLike, /, *given: Q.args, **words: Q.kwargs) -> Plan: ...


def _ways(
    adaptive: Callable[A, Any], in_parts: Callable[P, Any], options: Callable[Q, Any]
) -> Callable[[Any], Solve[A, P, Q]]:
    return keywords(options)  # type: ignore[arg-type, return-value]  # what it gives it says by its words


@_ways(AdaptiveOptions, InPartsOptions, SolveOptions)
def solve(campaign: InstanceLike, asked: SolveOptions) -> Plan | AdaptivePlan | PartsPlan:
    """Find the cheapest labels that give every task its guarantee, and say how good they provably are.

    Parameters
    ----------
    campaign : AssignmentInstance or path
        Tasks, workers and limits; or the folder of a campaign that has them, or of one in parts.

    Returns
    -------
    Plan, AdaptivePlan or PartsPlan
        ``min sum c_ij y_ij`` such that every task gets its evidence (Ho et al. 2013, 4.2). Its status says whether it
        is optimal, feasible, or why there is none for all tasks; nothing is raised for that. Where there is none at
        all, nothing is written; crowdopt.verbs.plans_said says why.

    Raises
    ------
    InputError
        If an argument is out of range, or the plan cannot be written.
    BackendMissing
        If the method's library is not installed.
    BackendFailed
        If the backend breaks down, is stopped, or gives no answer.
    OwnFault
        If the plan that was found does not keep what was asked for.

    Reads
    -----
    a campaign folder (or .npz file), or one in parts

    Writes
    ------
    the plan: assignment.csv, queues/, weights.csv, tasks.csv, workers.csv, plan.json, run.json

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
    """
    if not isinstance(campaign, AssignmentInstance) and is_in_parts(Path(campaign)):
        return _in_parts(campaign, asked)
    refuse_of_parts(asked.processes, asked.cluster)
    if asked.output is not None:
        check_target(Path(asked.output), PLAN, asked.force)
    method = asked_method(asked.method)
    if isinstance(method, Adaptive):
        return _adaptive(campaign, method, asked)
    base, own = taken_apart(method)
    if own and base_of(base) in METHODS:
        raise InputError(f"method {base} is our own and takes no solver's options; name a backend such as highs")
    as_stated = _instance(campaign, method, asked)
    started, clock = datetime.now(UTC), Clock(asked.seconds)

    def made(stated: AssignmentInstance, seconds: float) -> Plan:
        return _made(stated, asked, method, seconds)

    with for_small(as_stated.n_tasks, as_stated.n_workers):
        if asked.confidence is None:
            plan = made(as_stated, asked.seconds)
            if plan.found and plan.pairs is not None and plan.amounts is None:
                plan = replace(plan, left_open=left_open(as_stated, plan.pairs))
        else:
            plan = confident(as_stated, asked.confidence, asked.seconds, made)
        seconds = perf_counter() - clock.started
        plan = replace(plan, seconds=seconds, started=started.isoformat(timespec="seconds"))
        if asked.output is not None and plan.pairs is not None:
            write_plan(plan, asked.output, force=asked.force, content=content_of(campaign))
        return plan


OF_SETS = ("program", "gap", "nodes", "isolated", "confidence")
OF_PARTS = ("time_limit", "seed", "require", "processes", "cluster", "listener", "output", "force")


def _in_parts(campaign: AnyPath, asked: SolveOptions) -> PartsPlan:
    if asked.output is None:
        raise InputError(f"{campaign} is a campaign in parts, whose plan is written part by part; name a folder for it")
    for one in fields(SolveOptions):
        if one.name not in OF_PARTS and getattr(asked, one.name) != one.default:
            raise InputError(f"a campaign in parts is not solved with {one.name}; leave it out")
    return assign_parts(
        campaign,
        output=asked.output,
        processes=asked.processes or 0,
        cluster=asked.cluster,
        time_limit=asked.time_limit,
        seed=asked.seed,
        force=asked.force,
        listener=asked.listener,
    )


def _made(stated: AssignmentInstance, asked: SolveOptions, method: str, seconds: float) -> Plan:
    """The plan of so many seconds, held against the instance as it was stated."""
    options = options_of(seconds, asked.seed, gap=asked.gap, nodes=asked.nodes, threads=asked.threads)
    clock, wanted = Clock(seconds), _as_a_program(stated, method, asked.program)
    with watched(asked.listener, seconds) as told:
        search = MethodSearch(method, asked.program, options, told, clock, asked.isolated)
        plan = replace(_of_promise(stated, wanted, search, asked), gave_up=not clock.over)
        return plan.held_against(stated)


def _instance(given: InstanceLike, method: str, asked: SolveOptions) -> AssignmentInstance:
    instance = instance_of(
        given, asked.rule, asked.epsilon, asked.difficulty, skills=asked.skills, trust_gold=asked.trust_gold
    )
    return alone(instance) if asked.program != IP or base_of(method) == APPROXIMATION else instance


def _as_a_program(instance: AssignmentInstance, method: str, program: str) -> AssignmentInstance:
    if not instance.the_rule.implied_by or (program == IP and base_of(method) != APPROXIMATION):
        return instance
    return stating(linear_of(instance), "rule")


def _of_promise(
    stated: AssignmentInstance, wanted: AssignmentInstance, search: MethodSearch, asked: SolveOptions
) -> Plan:
    """The plan for all or most tasks by the linear rule that was wanted; where it has none, by the rule stated."""
    by_promise = wanted is not stated and search.program == LP and not asked.strict
    plan = _for_all_or_most(wanted, asked.strict or by_promise, search)
    if by_promise and not (plan.found or plan.interrupted):
        note = BY_PROMISE.format(wanted.rule, stated.rule)
        plan = _for_all_or_most(stated, False, replace(search, method=EXACT, program=IP))
        plan = replace(plan, note="; ".join(filter(None, [note, plan.note])))
    return _with_notes(plan, stated)


def _with_notes(plan: Plan, asked: AssignmentInstance) -> Plan:
    """The plan, which says by which rule it is where that is not the one asked for, and what is taken for granted."""
    promise = asked.rule if plan.instance.rule != asked.rule else ""
    hard = _hard_said(asked) if asked.difficulty.share else ""
    notes = [f"by {named_rule(asked)}" if promise else "", plan.note, hard, unheeded(asked, plan.pairs)]
    return replace(plan, note="; ".join(filter(None, notes)), promise=promise)


def unheeded(asked: AssignmentInstance, pairs: Ints | None) -> str:
    """That gold tells of dependence which this plan does not heed, and what its votes err with by it."""
    gold = gold_of(asked)
    law = asked.vote_law if gold is None else gold.law
    if law is None or (asked.difficulty.share and asked.vote_law is None):
        return ""
    heard = f"votes depend on one another by the {law.name} law of gold votes, which these sets do not heed"
    by_it = ""
    if pairs is not None and len(pairs) and not len(asked.collected):
        tasks = np.unique(pairs[:, 0])
        errors = 100 * errors_by(asked, law, tasks, pairs)
        most = f"up to {errors.max():.3g} %, " if asked.classes == 2 else ""  # of more each is simulated a few times
        by_it = f"by it this plan's answers err {most}{errors.mean():.3g} % in the mean; "
        if not most and errors.mean() <= 100 * asked.epsilon[tasks].mean():
            return f"{heard}: {by_it}that keeps the target"
    remedy = "families in groups.csv would help"
    if asked.vote_law is not None:
        remedy = "--method adaptive:rounds=1:each-task does, in sets that each keep their task's target"
    elif asked.origin is not None and "difficulty" in asked.origin.stated:
        remedy = "you said that workers err independently"
    elif gold is not None and gold.heeds:
        remedy = "plans by exact errors" + " and averaged skills" * (gold.method != AVERAGED) + " do"
    return f"{heard}: {by_it}{remedy}"


def _for_all_or_most(instance: AssignmentInstance, strict: bool, search: MethodSearch) -> Plan:
    """The plan for all tasks; where that cannot be, and is not insisted on, the one that serves the most."""
    hopeless = int(out_of_reach(instance).sum())
    if hopeless and search.program == IP and search.method == EXACT:
        known = Certificate(None, inf, "certificate", None, None)
        plan = Plan.of(
            instance, IP, known, -inf, None, None, method=search.method, backend=SEARCH, seed=search.options.seed
        )
    elif strict or search.program != IP:
        plan = _of_part(instance, search.within(search.clock.left))
    else:
        with giving_way(search.listener, FOR_ALL * search.clock.left) as told:
            plan = _of_part(instance, replace(search, listener=told).within(search.clock.left))
    refuted = plan.status is Status.INFEASIBLE or hopeless > 0
    if plan.found or plan.interrupted or strict or (plan.repaired is not None and not refuted):
        return plan
    if search.program != IP:  # a queue has no shares of labels
        search = replace(search, method=EXACT, program=IP)
        plan = replace(plan, program=IP, note=IN_WHOLE_LABELS)  # its multipliers bound whole labels too

    def run(part: AssignmentInstance, seconds: float) -> Plan:
        return _of_part(part, search.within(seconds))

    return best_effort(plan, hopeless, run, SOLVERS, Clock(max(LITTLE, search.clock.left)))


def _of_part(part: AssignmentInstance, search: MethodSearch) -> Plan:
    def solved(one: AssignmentInstance, told: Listener | None) -> Plan:
        return by_method(one, replace(search, listener=told))

    if search.program != IP:
        return presolved(part, lambda one: solved(one, search.listener))

    def whole(one: AssignmentInstance) -> Plan:
        return presolved(one, lambda left: in_units(left, search.listener, solved))

    return with_tied_tasks(part, SOLVERS, whole)


def probe(seconds: float) -> Probe:
    """The probe for questions of feasibility: the LP over classes, and a quick search for plans."""
    return Probe(solve_whole, lambda instance, limit: quick_plan(instance, WHOLE, limit), Clock(seconds))
