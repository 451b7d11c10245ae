"""What a method knows at any moment: its best plan, its best bound, the time left."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.direct import solve_full
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import BOUND, Certificate
from crowdopt.core.clock import ENOUGH, Clock
from crowdopt.core.master import MakeMaster
from crowdopt.core.program import Program
from crowdopt.core.solution import PROVEN, Listener, Options, Progress, Solution, Solve, Status, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches

DEFAULTS = Options()
UNKNOWN = Certificate(None, -np.inf, "none", None, None)


@dataclass(frozen=True)
class Solvers:
    """Who solves: programs by name, growing masters, and which backend searches the full program."""

    solve: Solve
    make_master: MakeMaster
    backend: str


@dataclass(kw_only=True)
class Standing:
    """The best plan so far and the bounds it is held against."""

    instance: AssignmentInstance
    solvers: Solvers
    options: Options
    clock: Clock
    listener: Listener | None
    duals: Duals | None = None  # the best multipliers
    certified: float = -np.inf  # the bound that they prove by themselves
    known: Certificate = UNKNOWN  # the best bound of all, and where it comes from
    best: Ints | None = None  # (k, 2): task and worker of each label of the best plan
    value: float = field(default=np.inf)  # what it costs; infinite without one
    interrupted: bool = False  # whether somebody asked to stop
    partial: Ints | None = None  # (k, 2): without a plan, labels that serve most tasks

    @property
    def bound(self) -> float:
        """What every plan costs at least."""
        return self.known.bound

    @cached_property
    def ceiling(self) -> float:
        """No plan costs more: all labels of all workers, or the budget."""
        dearest = self.instance.cost[np.unique(self.instance.task_type)].max(axis=0)
        every = float((dearest * np.minimum(self.instance.capacity, self.instance.n_tasks)).sum())
        return every if self.instance.budget is None else min(every, float(self.instance.budget))

    @property
    def pairs(self) -> int:
        """Pairs of the full program."""
        return self.instance.n_tasks * self.instance.n_workers

    @property
    def done(self) -> bool:
        """Whether the gap asked for is reached or the time is over."""
        return self.closed or self.clock.over or self.interrupted

    @property
    def closed(self) -> bool:
        """Whether the plan is as good as was asked for, or there is proven to be none."""
        if self.bound == np.inf:
            return True
        return self.best is not None and relative_gap(self.value, self.bound) <= max(PROVEN, self.options.gap)

    def offer(self, pairs: Ints) -> bool:
        """Keep a plan that holds and is cheaper than the best one; returns whether it was kept."""
        value = float(self.instance.prices(pairs).sum())
        if value >= self.value or breaches(self.instance, pairs):
            return False
        self.best, self.value = pairs, value
        self.tell()
        return True

    def raise_bound(self, bound: float, duals: Duals) -> None:
        """Take over multipliers that prove more than those known."""
        if bound > self.bound:
            self.duals, self.certified = duals, bound
            hopeless = bound > self.ceiling + BOUND * max(1.0, self.ceiling)
            self.known = Certificate(None, np.inf if hopeless else bound, "certificate", None, None)
            self.tell()

    def tell(self, note: str = "") -> None:
        """Report where things stand."""
        if self.listener is not None:
            value = None if self.best is None else self.value
            bound = self.bound if np.isfinite(self.bound) else None
            self.listener(Progress(perf_counter() - self.clock.started, value, bound, note))

    def plan(self) -> Plan:
        """The best plan so far, with the best bound."""
        plan = Plan.of(
            self.instance,
            "ip",
            self.known,
            self.certified,
            self.duals,
            self.best,
            method="exact",
            backend=self.solvers.backend,
            seed=self.options.seed,
            interrupted=self.interrupted,
        )
        return replace(plan, partial=self.partial if self.best is None else None)

    def solve(
        self, program: Program, backend: str = "highs", options: Options = DEFAULTS, listener: Listener | None = None
    ) -> Solution:
        """By whoever solves; Ctrl-C that ends a solver's search ends the method's too."""
        found = self.solvers.solve(program, backend, options, listener)
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    def in_full(self, nodes: int | None) -> None:
        """Search the full program on from what is known; keep what is better."""
        allowed = min((limit for limit in (nodes, self.options.nodes) if limit is not None), default=None)
        options = replace(self.clock.within(self.options, allowed), time_limit=max(ENOUGH, self.clock.left))
        solve, backend = self.solvers.solve, self.solvers.backend
        found = solve_full(self.instance, "ip", solve, backend, options, self.listener, head=self.plan())
        self.interrupted |= found.interrupted
        self.known = found.certificate
        if found.pairs is not None:
            self.offer(found.pairs)


def better(plan: Plan, other: Plan) -> Plan:
    """The cheaper pairs of two plans of an instance, under the higher of their bounds."""
    if other.status is Status.INFEASIBLE:
        return other
    higher, lower = (plan, other) if plan.bound >= other.bound else (other, plan)
    value = np.inf if higher.objective is None else higher.objective
    if lower.objective is None or lower.objective >= value:
        partial = max((plan.partial, other.partial), key=lambda one: 0 if one is None else np.unique(one[:, 0]).size)
        return replace(higher, interrupted=other.interrupted, partial=None if higher.found else partial)
    known = higher.certificate, higher.certified_bound, higher.duals
    found = Plan.of(
        plan.instance, "ip", *known, lower.pairs, method=lower.method, backend=higher.backend, seed=higher.seed
    )
    return replace(found, interrupted=other.interrupted, note=lower.note)
