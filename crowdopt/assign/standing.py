"""What a method knows at any moment: its best plan, its best bound, the time left.

An alarm clock tells compiled loops of it: a thread beside them raises a flag when time is up, and they look at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import TIMEOUT_MAX, Event, Thread
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints
from crowdopt.assign.direct import solve_full
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import BOUND, Certificate
from crowdopt.core.clock import ENOUGH, Clock
from crowdopt.core.master import MakeMaster
from crowdopt.core.program import Program
from crowdopt.core.solution import PROVEN, Listener, Options, Progress, Solution, Solve, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import breaches, relaxation, short_tasks

NEVER: NDArray[np.bool_] = np.zeros(1, np.bool_)  # of loops that nobody ends early


@contextmanager
def alarm(clock: Clock) -> Iterator[Bools]:
    """A flag, (1,) bool, that becomes True when the clock is over; the watch on it ends with the block.

    Loops that look at it run without Python's lock, or the watch would never have its turn.

    clock: it may be paused meanwhile; -> (1,).
    """
    rung, ended = np.zeros(1, np.bool_), Event()

    def watch() -> None:
        while not clock.over:
            if ended.wait(min(clock.left, TIMEOUT_MAX)):
                return
        rung[0] = True

    Thread(target=watch, daemon=True).start()
    try:
        yield rung
    finally:
        ended.set()


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
        if self.instance.the_rule.checked and short_tasks(self.instance, pairs).size:
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
        """Search the full program on from what is known; keep what is better.

        Where votes decide it is that of what each of them takes at least: its bound holds, and its plan may.
        """
        allowed = min((limit for limit in (nodes, self.options.nodes) if limit is not None), default=None)
        options = replace(self.clock.within(self.options, allowed), time_limit=max(ENOUGH, self.clock.left))
        solve, backend = self.solvers.solve, self.solvers.backend
        head = replace(self.plan(), instance=relaxation(self.instance))
        found = solve_full(head.instance, "ip", solve, backend, options, self.listener, head=head)
        self.interrupted |= found.interrupted
        self.known = replace(found.certificate, value=None, violation=None, fraction=None)
        if found.pairs is not None:
            self.offer(found.pairs)
