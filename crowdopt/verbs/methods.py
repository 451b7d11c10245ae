"""The verb solve: a plan by the method that was asked for.

Options of the call ``solve``: of any plan, of one in parts, and of one that looks at answers.

Plans whose mean error keeps the targets with a stated chance, as far as gold tells: by lower targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isfinite
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.approximation import METHOD as APPROXIMATION
from crowdopt.assign.approximation import TIES, approximate
from crowdopt.assign.average import solve_average
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.linear_plan import solve_linearly
from crowdopt.assign.plan import Plan
from crowdopt.assign.search import solve_exact
from crowdopt.core.clock import Clock
from crowdopt.core.registry import made
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.alike import has_joint_limits
from crowdopt.crowd.doubt import PARAMS as DOUBT
from crowdopt.crowd.doubt import LeftOpen, left_open
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import most_errors
from crowdopt.errors import InputError, meant
from crowdopt.io.settings import overridden
from crowdopt.said import Processes, Seed, Threads, Word
from crowdopt.solvers import BackendMissing, named, registered, solve_program
from crowdopt.solvers.settings import taken_apart
from crowdopt.verbs.binding import RELAXATIONS, SEARCH, SOLVERS, AnyPath


@dataclass(frozen=True)
class Exact:
    """Over classes of interchangeable tasks and workers, with a proof that needs no solver's word where possible."""

    what: ClassVar[str] = "the exact method, with its own proof"


@dataclass(frozen=True)
class PrimalApproximation:
    """Ho et al.'s Algorithm 1 at the LP's prices, repaired."""

    ties: str = TIES[0]
    what: ClassVar[str] = "Algorithm 1 of Ho et al. at the LP's prices, repaired"

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise InputError(f"{APPROXIMATION} takes ties={' or ties='.join(TIES)}, not {self.ties!r}")


@dataclass(frozen=True)
class Adaptive:
    """Look at answers before asking again: the cheapest policy, whose errors, loads and cost are expectations.

    Parameters
    ----------
    rounds : int, optional
        Number of rounds, in each of which a set is asked at once; default: one vote at a time.
    expert : float, optional
        Price of an expert's answer, which is right.
    given_votes : bool
        Whether each answer's error given its votes is at most its target; default: the error before votes are seen, so
        that an answer of votes that fell badly may err more.
    each_task : bool
        With one round: whether each task gets a set that keeps its target; default: the mean over the tasks of a type
        does, some of which may get no label.
    class_error : str or mapping of str to float
        Of the tasks whose true class has this name, the share that may be answered otherwise, in expectation over all
        of them, as in ``yes=.02,no=.1``: false negatives and false positives apart. Beside the targets.
    """

    rounds: int | None = None
    expert: float | None = None
    given_votes: bool = False
    each_task: bool = False
    class_error: str | Mapping[str, float] = ""
    what: ClassVar[str] = "a policy that looks at answers before it asks again"

    def __post_init__(self) -> None:
        if self.rounds is not None and (isinstance(self.rounds, bool) or self.rounds < 1):
            raise InputError(f"rounds must be a whole number of at least 1, not {self.rounds}")
        if self.expert is not None and not (isfinite(self.expert) and self.expert >= 0):
            raise InputError(f"the expert's price must be finite and at least 0, not {self.expert}")
        if self.class_error and self.given_votes:
            raise InputError("limits given the votes and limits by true class are for two plans; leave one of them out")
        if self.each_task and (self.rounds != 1 or self.expert is not None or self.given_votes or self.class_error):
            raise InputError(
                "each-task is about sets asked at once: it goes with rounds=1, and with neither an expert nor limits "
                "given the votes or by class"
            )
        for name, limit in self.limits.items():
            if not 0 < limit <= 1:
                raise InputError(f"the limit of class {name} must lie above 0, to 1, not {limit}")

    @property
    def limits(self) -> Mapping[str, float]:
        """Of the classes that have one."""
        if not isinstance(self.class_error, str):
            return self.class_error
        found: dict[str, float] = {}
        for text in filter(None, self.class_error.split(",")):
            name, sign, share = text.rpartition("=")
            try:
                found[name] = float(share if sign else "")
            except ValueError:
                raise InputError(f"class-error is a class and a share, as in yes=.02, not {text!r}") from None
        return found


METHODS: dict[str, type[Any]] = {"exact": Exact, APPROXIMATION: PrimalApproximation, "adaptive": Adaptive}


def asked_method(method: str | Adaptive) -> str | Adaptive:
    """The method, one that looks at answers with its options; InputError for an option that a method of ours lacks."""
    if not isinstance(method, str):
        return method
    name = method.strip().partition(":")[0]
    if name in METHODS:
        found = made(method, METHODS, "method")
        return found if isinstance(found, Adaptive) else method
    if (near := meant(name, METHODS)) is not None:
        raise InputError(f"there is no method {name!r}; did you mean {near!r}? `crowdopt list methods` shows all")
    if name != method.strip() and name in registered():
        raise InputError(f"{method}: a backend's own options stand in brackets, as in highs[presolve=off]")
    return method


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Options of any plan.

    Parameters
    ----------
    program : str
        Whole labels, or the LP. Of the rules exact-error and mean-error, which are no linear constraints, the LP is
        that of the rule bhattacharyya, which implies their promise: plan and note say so.
    epsilon : float, optional
        Error probability of every task, in place of the campaign's. The plan records it, as it does rule, difficulty
        and skills.
    rule : str, optional
        Rule of evidence, in place of the campaign's.
    difficulty : (float, float), optional
        Share of tasks that are hard, and share of skill left on them. For the rule exact-error; skills then count as
        those on easy tasks.
    skills : str, optional
        How gold becomes skills. In place of the campaign's way: ``averaged`` over the priors that gold leaves open; by
        ``one-point``, ``two-points``, ``range``, ``beta`` or ``mixture`` alone; ``plug-in`` or ``unbiased``.
    confidence : float, optional
        Chance that the mean error keeps its target. From .5 to .99, as far as gold tells: targets are lowered until it
        does. Default: errors are those of skills as gold tells them.
    trust_gold : bool
        Take gold as it is, below chance too.
    time_limit : float, optional
        Seconds in all; default: 60, in parts none.
    gap : float
        How far above the optimum the plan may be, as a share. A search may stop there.
    nodes : int, optional
        The most nodes of a search. Unlike seconds this is reproducible.
    isolated : bool
        Run the backend in a process of its own. It is ended when the time is up; third parties' always are.
    threads : int
        Threads of the solver.
    seed : int
        Seed of the solver.
    require : str
        served: every task, or no plan; proof: exit with 1 unless proven. Else, where some tasks cannot be served, there
        is a plan for as many as can be and the best that is left for the others, which ``short`` names
        (crowdopt.assign.best_effort).
    processes : int, optional
        Processes, for a campaign in parts. 0: in this one.
    cluster : str, optional
        Dask scheduler, for a campaign in parts. Such as tcp://host:8786.
    listener : callable, optional
        Hears of incumbents and bounds, which only get better, and of the seconds so far. Where it returns True the
        search stops and answers with the best that it has; what it raises is raised here. In a notebook a bar does.
    output : path, optional
        Plan folder to write. As :func:`crowdopt.write_plan` does.
    force : bool
        Replace what is there.
    """

    program: Literal["ip", "lp"] = "ip"
    epsilon: float | None = None
    rule: Annotated[str, Word(place="RULE")] | None = None
    difficulty: Annotated[tuple[float, float], Word(place="SHARE LEFT")] | None = None
    skills: str | None = None
    confidence: float | None = None
    trust_gold: bool = False
    time_limit: float | None = None
    gap: float = 0.001
    nodes: int | None = None
    isolated: bool = False
    threads: Threads = 1
    seed: Seed = 0
    require: Literal["nothing", "served", "proof"] = "nothing"
    processes: Processes | None = None
    cluster: Annotated[str, Word(place="ADDRESS")] | None = None
    listener: Listener | None = None
    output: AnyPath | None = None
    force: bool = False

    @property
    def seconds(self) -> float:
        """The limit, or what is allowed where none is named."""
        return SECONDS if self.time_limit is None else self.time_limit

    @property
    def strict(self) -> bool:
        """Whether there is a plan for every task or none."""
        return self.require == "served"


@dataclass(frozen=True, kw_only=True)
class AdaptiveOptions(PlanOptions):
    """Options of a plan that looks at answers before it asks again."""

    method: Adaptive = field(kw_only=False)


@dataclass(frozen=True, kw_only=True)
class InPartsOptions(PlanOptions):
    """Options of a plan whose tasks lie in parts."""

    processes: int
    output: AnyPath


@dataclass(frozen=True, kw_only=True)
class SolveOptions(PlanOptions):
    """Options of a plan by any method.

    Parameters
    ----------
    method : str or Adaptive
        exact; adaptive:rounds=2:expert=3; primal-approximation; or a backend. ``exact``: with a proof that needs no
        solver's word where that is possible. ``adaptive``: see :class:`Adaptive`. ``primal-approximation``: Ho et al.'s
        Algorithm 1, with ``:ties=least-covered`` in place of random ones. A backend (``crowdopt list backends``),
        perhaps with its own options, ``highs[presolve=off]``, gets the full program.
    """

    method: Annotated[str, Word()] | Adaptive = field(default="exact", kw_only=False)


SECONDS = 60.0
IP, LP = "ip", "lp"
EXACT = "exact"
SEARCHED = "with such groups or own rows the whole program was searched by {}, in place of the exact method"
ROUGH, MOMENT = 0.05, 1.0  # a gap beyond which another try is worth while; seconds for it at least


@dataclass(frozen=True)
class MethodSearch:
    """A search for a plan: its method, its program and its limits."""

    method: str
    program: str
    options: Options
    listener: Listener | None
    clock: Clock
    isolated: bool = False

    def within(self, seconds: float) -> MethodSearch:
        """The same search for so many seconds."""
        return replace(self, options=replace(self.options, time_limit=seconds), clock=Clock(seconds))


def by_method(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    """The plan by the method that was asked for."""
    name, options, listener = base_of(search.method), search.options, search.listener
    is_exact, is_whole = name == EXACT, search.program == IP
    if name == APPROXIMATION:
        if not is_whole:
            raise InputError(f"method {APPROXIMATION} plans whole labels; ask for the program ip")
        return approximate(instance, solve_program, options, made(search.method, METHODS, "method").ties)
    if instance.the_rule.average:
        return _on_average(instance, search)
    if is_exact and is_whole:
        return solve_exact(instance, SOLVERS, options, listener)
    if is_exact and has_joint_limits(instance):
        handed = _linear(replace(search, method=SEARCH), listener, instance, options)
        return replace(handed, method=SEARCH, note=SEARCHED.format(SEARCH))
    if is_whole and instance.the_rule.checked:
        return solve_checked(instance, partial(_linear, search, None), options, listener)
    return _linear(search, listener, instance, options)


def _on_average(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    """A plan that keeps the average; where that is far from its bound, one for each task if it is cheaper."""
    if search.method != EXACT:
        raise InputError(
            f"rule mean-error is for the average of all tasks, and {search.method} plans task by task; use exact"
        )
    plan = solve_average(instance, SOLVERS, search.options, search.listener)
    if plan.bound == inf or plan.interrupted:
        return plan
    if plan.gap > ROUGH:
        each = _of_each(instance, search.within(max(MOMENT, search.clock.left)))
        plan = replace(cheaper(plan, each.pairs), interrupted=each.interrupted)
    return plan


def _of_each(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    return solve_exact(replace(instance, rule="exact-error"), SOLVERS, search.options)


def cheaper(plan: Plan, pairs: Ints | None) -> Plan:
    """The plan with these pairs if they cost less; what is known of the optimum stays."""
    value = inf if plan.objective is None else plan.objective
    if pairs is None or plan.instance.prices(pairs).sum() >= value:
        return plan
    known = plan.certificate, plan.certified_bound, plan.duals
    return Plan.of(plan.instance, "ip", *known, pairs, method=plan.method, backend=plan.backend, seed=plan.seed)


def base_of(method: str) -> str:
    """A method without its options, where it is the approximation; others as they are."""
    name = method.partition(":")[0]
    return name if name == APPROXIMATION else method


def _linear(search: MethodSearch, listener: Listener | None, instance: AssignmentInstance, options: Options) -> Plan:
    """The rule's linear program, by the method asked for; with the listener and the options of a stage of it."""
    method, program = search.method, search.program
    if method == EXACT:
        return (solve_exact if program == IP else solve_linearly)(instance, SOLVERS, options, listener)
    chosen = named(method)
    if program == IP and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; ask for the program lp or choose another method")
    linear = method if program != IP or (chosen.duals and taken_apart(method)[0] != "highs") else RELAXATIONS
    solver = partial(solve_program, isolated=True) if search.isolated else solve_program
    return solve_full(instance, program, solver, method, options, listener, linear)


LOWERED = "with targets times {:.3g}, so that the mean error keeps the campaign's with chance {:g}, as gold tells"
UNSURE = "no plan was found that keeps the targets with chance {:g} as far as gold tells: more gold would help"

LESS = 1e-6  # relative


class ConfidenceParams(NamedTuple):
    """Numbers of the search for targets."""

    tries: int = 6  # plans at most, each with its part of the time
    enough: float = 0.97  # of the targets, from which errors are near enough to them
    steep: float = 1.5  # power of errors over targets, by which these are lowered first
    close: float = 1.01  # times the targets that do, up to which others are not tried


PARAMS = ConfidenceParams()


def confident(
    instance: AssignmentInstance,
    chance: float,
    seconds: float,
    made: Callable[[AssignmentInstance, float], Plan],
    params: ConfidenceParams = PARAMS,
) -> Plan:
    """The cheapest of a few plans for lowered targets whose mean error keeps the mean target in so many crowds.

    made: ``made(instance, seconds)``: the plan for the targets of an instance. -> the last one, which says so, where
    none keeps it.
    """
    least, most = DOUBT.shares
    if not least <= chance <= most:
        raise InputError(f"confidence must lie between {least} and {most}, not {chance}")
    goal, low, high, factor = float(instance.epsilon.mean()), 0.0, np.inf, 1.0
    kept: Plan | None = None
    last: Plan | None = None
    for _ in range(params.tries):
        plan = made(_lowered(instance, factor), seconds / params.tries)
        if plan.found and plan.pairs is not None and not len(plan.pairs):  # it rests on no skill
            return plan
        if plan.found:
            known = _known(plan, chance)
            last = replace(plan, left_open=known)
            if known.high <= goal:
                kept, low = last, factor
                if factor == 1 or known.high >= params.enough * goal:
                    break
            else:
                high = factor * _slack(plan)
        elif last is None:  # there is none for the targets themselves
            return plan
        else:
            low = factor
        if low and high <= params.close * low:
            break
        factor = float(np.sqrt(low * high)) if low else min(high, factor * (goal / known.high) ** params.steep)
    if kept is None:
        assert last is not None
        return replace(last, is_sure=False, note="; ".join(filter(None, [last.note, UNSURE.format(chance)])))
    share = float(kept.instance.epsilon.sum() / instance.epsilon.sum())
    lowered = LOWERED.format(share, chance) if share < 1 else ""
    return replace(kept, note="; ".join(filter(None, [lowered, kept.note])))


def _slack(plan: Plan) -> float:
    """Just below the share of its targets that a plan keeps as well: for less there is another plan."""
    if not plan.instance.the_rule.checked or plan.pairs is None:
        return 1.0
    errors, epsilon = most_errors(plan.instance, plan.pairs), plan.instance.epsilon
    share = errors.mean() / epsilon.mean() if plan.instance.the_rule.average else (errors / epsilon).max()
    return float(min(1.0, share)) * (1 - LESS)


def _known(plan: Plan, chance: float) -> LeftOpen:
    known = None if plan.pairs is None or plan.amounts is not None else left_open(plan.instance, plan.pairs, chance)
    if known is None:
        needs = "skills that rest on gold, whole labels, and a campaign without labels so far"
        raise InputError(f"a confidence needs {needs}; leave it out")
    return known


def _lowered(instance: AssignmentInstance, factor: float) -> AssignmentInstance:
    """The instance with so much of its targets, which plans record."""
    if factor == 1:
        return instance
    one = instance.one_target
    return overridden(instance, {"epsilon": (instance.epsilon * factor).tolist() if one is None else one * factor})
