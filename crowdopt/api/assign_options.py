"""Options of the call ``assign``: of any plan, of one of fixed sets, and of one that looks at answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Literal

from crowdopt.api.binding import AnyPath, TableLike
from crowdopt.core.solution import Listener
from crowdopt.crowd.groups import OwnRows
from crowdopt.errors import InputError


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Options of any plan.

    Parameters
    ----------
    rule, epsilon : str, float, optional
        Evidence rule, and error target of every task, in place of the instance's; the plan records them.
    difficulty : (float, float), optional
        In place of the instance's: the share of tasks that are hard, and how much of a worker's edge over guessing is
        left there (crowdopt.crowd.rules). For the rule exact-error; skills then count as those on easy tasks.
    skills : str, optional
        How gold becomes accuracies, in place of the campaign's way: ``averaged`` over the priors that gold leaves open;
        by ``one-point``, ``two-points``, ``range``, ``beta`` or ``mixture`` alone; ``plug-in`` or ``unbiased``. The
        plan records it.
    time_limit : float
        Seconds in all.
    threads, seed : int
        Handed to the solver.
    trust_gold : bool
        Whether a folder's gold is taken as it is, even where workers are below chance.
    strict : bool
        Whether there is a plan for every task or none; else, where some cannot be served, a plan for as many as can be
        and the best that is left for the others, which ``short`` names (crowdopt.assign.best_effort).
    listener : callable, optional
        Hears of incumbents and bounds, which only get better, and of the seconds so far. Where it returns True the
        search stops and answers with the best that it has; what it raises is raised here. In a notebook a bar does.
    output : path, optional
        Folder to write the plan to, as :func:`crowdopt.write_plan` does.
    force : bool
        Whether a plan that is there may be replaced.
    rounds : int, optional
        Of an adaptive plan: in how many rounds it asks, each for a set of votes at once; default: one vote at a time.
    expert : float, optional
        Of an adaptive plan: the price of an answer that is right.
    given_votes : bool
        Of an adaptive plan: whether each answer's error given its votes is at most its target; default: the error
        before votes are seen, so that an answer of votes that fell badly may err more.
    class_error : mapping of str to float, optional
        Of an adaptive plan: of the tasks whose true class has this name, the share that may be answered otherwise, in
        expectation over all of them: false negatives and false positives apart. Beside the targets.
    each_task : bool
        Of an adaptive plan of one round: whether each task gets a set that keeps its target before its votes are seen;
        default: the mean over the tasks of a type does, some of which may get no label.
    """

    rule: str | None = None
    epsilon: float | None = None
    difficulty: tuple[float, float] | None = None
    skills: str | None = None
    time_limit: float = 60.0
    threads: int = 1
    seed: int = 0
    trust_gold: bool = False
    strict: bool = False
    listener: Listener | None = None
    output: AnyPath | None = None
    force: bool = False
    rounds: int | None = None
    expert: float | None = None
    given_votes: bool = False
    class_error: Mapping[str, float] | None = None
    each_task: bool = False


@dataclass(frozen=True, kw_only=True)
class AdaptiveOptions(PlanOptions):
    """Options of a plan that looks at answers before it asks again."""

    adaptive: Literal[True]

    def __post_init__(self) -> None:
        if self.rounds is not None and (isinstance(self.rounds, bool) or self.rounds < 1):
            raise InputError(f"rounds must be a whole number of at least 1, not {self.rounds}")
        if self.expert is not None and not (isfinite(self.expert) and self.expert >= 0):
            raise InputError(f"the expert's price must be finite and at least 0, not {self.expert}")
        if self.class_error and self.given_votes:
            raise InputError("limits given the votes and limits by true class are for two plans; leave one of them out")
        if self.each_task and (self.rounds != 1 or self.expert is not None or self.given_votes or self.class_error):
            raise InputError(
                "each_task is about sets asked at once: it goes with rounds=1 (--rounds 1), and with neither an expert "
                "nor limits given the votes or by class"
            )
        for name, limit in (self.class_error or {}).items():
            if not 0 < limit <= 1:
                raise InputError(f"the limit of class {name} must lie above 0, to 1, not {limit}")


@dataclass(frozen=True, kw_only=True)
class AssignOptions(PlanOptions):
    """Options of a plan of fixed sets; with ``adaptive`` they are refused unless they have their defaults.

    Parameters
    ----------
    method : str
        ``exact``: over classes of interchangeable tasks and workers, with a proof that needs no solver's word where
        that is possible; ``primal-approximation``: Ho et al.'s Algorithm 1 at the LP's prices, repaired
        (``:ties=least-covered`` in place of random ones); or a backend (``crowdopt backends`` lists them), perhaps with
        its own options, ``highs[presolve=off]``, which gets the full program.
    program : str
        ``ip`` for whole labels, ``lp`` for the relaxation. Of the rules exact-error and mean-error, which are no linear
        constraints, it is that of the rule bhattacharyya, which implies their promise: plan and note say so.
    rows : OwnRows or path, optional
        Linear limits of one's own in place of the instance's, or a table of them: row, task, worker, coefficient,
        lower, upper (io.campaign.own_rows). The plan records them, and their multipliers are part of its proof.
    gap : float
        Gap at which a search may stop: how far the plan may be above the optimum, as a share of it.
    nodes : int, optional
        Limit on the nodes of a search, for results that do not depend on the clock.
    isolated : bool
        Whether a backend runs in a process of its own, which is stopped if it does not keep the limit; third parties'
        backends always do.
    solver_options : sequence of str
        The solver's own options by its own names, ``["presolve=off"]``; or in the method's, ``highs[presolve=off]``.
    confidence : float, optional
        Chance, from .5 to .99, that the plan's mean error keeps the mean of the targets, as far as gold tells: targets
        are lowered until it does (crowdopt.api.confident). Default: errors are those of skills as gold tells them.
    adaptive : bool
        Whether the plan looks at answers before it asks again: the cheapest policy, whose errors, loads and cost are
        expectations (crowdopt.assign.cascade). Method, program, rows, gap, nodes and solver's options then say nothing
        and are refused.
    """

    method: str = field(default="exact", kw_only=False)
    program: str = "ip"
    rows: OwnRows | TableLike | None = None
    gap: float = 0.001
    nodes: int | None = None
    isolated: bool = False
    solver_options: Sequence[str] = ()
    confidence: float | None = None
    adaptive: bool = False

    def of_adaptive(self) -> AdaptiveOptions:
        """Those of an adaptive plan; InputError for a setting of fixed sets that it would ignore."""
        shared = {one.name: getattr(self, one.name) for one in fields(PlanOptions)}
        own = [one for one in fields(self) if one.name not in shared and one.name != "adaptive"]
        odd = [one.name for one in own if getattr(self, one.name) not in (one.default, [], None)]
        if odd:
            names = " and ".join(f"--{'option' if name == 'solver_options' else name}" for name in odd)
            raise InputError(f"{names} is about plans of fixed sets and says nothing of an adaptive one; leave it out")
        return AdaptiveOptions(adaptive=True, **shared)
