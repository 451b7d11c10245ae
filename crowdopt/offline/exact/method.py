"""The exact method: a proven bound from the classes, plans by aiming, rounding and splitting, the rest by search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from crowdopt.core.certificate import PROVEN, Certificate, relative_gap
from crowdopt.core.solution import Listener, Options, Progress, Solve
from crowdopt.crowd.classes import Classes, Ints, classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.offline.exact.relaxation import Relaxation, has_whole_prices, relax_classes
from crowdopt.offline.exact.rounding import round_amounts
from crowdopt.offline.exact.split import Split, are_compiled, deal_evenly
from crowdopt.offline.full import ENOUGH, Clock, solve_full
from crowdopt.plan import Plan, breaches, decide, worst_breach
from crowdopt.programs import target

ATTEMPTS = 24  # plans tried in all; deterministic, unlike seconds
MODEST = 5_000  # pairs up to which searching the full program soon pays
STUCK = 8  # attempts (2 on modest instances) without a better plan, after which the full program is searched
SMALL = 600  # pairs up to which a short search over the full program comes first
QUICK = 100  # nodes of that search: not seconds, so that equal runs agree
LARGEST = 4_000_000  # pairs up to which the full program is searched at all
FINISHING, SHARING, TRADING = (4, 2_000), (2, 1_000), (300, 300_000)  # work per task and at most, in pairs looked at
SQUEEZES = 60  # labels that are tried to be taken out of a plan again
STEP = 1e-4  # of the bound: the least that money is raised by where prices are no integers


@dataclass
class Search:
    """The best plan so far and the bound it is held against."""

    instance: AssignmentInstance
    classes: Classes
    solve: Solve
    backend: str
    options: Options
    clock: Clock
    listener: Listener | None
    bound: float
    best: Ints | None = None
    value: float = field(default=np.inf)
    interrupted: bool = False

    @property
    def done(self) -> bool:
        """Whether the gap asked for is reached or the time is over."""
        return self.closed or self.clock.over or self.interrupted

    @property
    def closed(self) -> bool:
        """Whether the plan is as good as was asked for."""
        return relative_gap(self.value, self.bound) <= max(PROVEN, self.options.gap) if self.best is not None else False

    def offer(self, pairs: Ints) -> bool:
        """Keep a plan that holds and is cheaper than the best one; returns whether it was kept."""
        value = float(self.instance.prices(pairs).sum())
        if value >= self.value or breaches(self.instance, pairs):
            return False
        self.best, self.value = pairs, value
        self.tell()
        return True

    def tell(self, note: str = "") -> None:
        """Report where things stand."""
        if self.listener is not None:
            value = None if self.best is None else self.value
            bound = self.bound if np.isfinite(self.bound) else None
            self.listener(Progress(perf_counter() - self.clock.started, value, bound, note))

    def attempts(self) -> None:
        """Aim at one sum of money after another until the plan is proven, or nothing gets better."""
        limit = ATTEMPTS if self.options.nodes is None else min(ATTEMPTS, self.options.nodes)
        idle, patience = 0, STUCK if self.instance.n_tasks * self.instance.n_workers > MODEST else 2
        for number, money in enumerate(self._sums()):
            if self.done or number >= limit or idle >= patience:
                return
            pairs = self._attempt(money, seed=self.options.seed + number)
            idle = 0 if pairs is not None and self.offer(pairs) else idle + 1

    def _sums(self) -> Iterator[float]:
        """What to aim at: the bound, then more and more; after a plan is found, evenly between the bound and it."""
        step = 1.0 if has_whole_prices(self.classes) else STEP * max(1.0, self.bound)
        more = 0.0
        while self.best is None or self.bound + more * step < self.value - step / 2:
            yield self.bound + more * step
            more = 1.0 if more == 0 else 2 * more
        part = 2
        while True:
            for k in range(1, part):
                yield self.bound + np.floor((self.value - self.bound) * k / part / step) * step
            part += 1

    def _attempt(self, money: float, seed: int) -> Ints | None:
        """One plan that costs about so much: aim, round, deal evenly if that does, else split and mend."""
        options = replace(self.options, time_limit=self.clock.left, start=None)
        aimed = self.solve(target.of_classes(self.classes, money), "highs-simplex", options)
        self.interrupted |= aimed.interrupted
        if aimed.primal is None or self.done:
            return None
        amounts = aimed.program.column("u").view(aimed.primal)
        whole = round_amounts(self.classes, amounts, float(aimed.primal[-1]), money)
        pairs = deal_evenly(self.classes, whole)
        return self._mended(whole, money, seed) if pairs is None else pairs

    def _work(self, kind: tuple[int, int]) -> int:
        return min(kind[0] * self.instance.n_tasks, kind[1])

    def _mended(self, whole: Ints, money: float, seed: int) -> Ints | None:
        if not are_compiled():
            self.tell("compiling once")
        split = Split.dealt(self.classes, whole, money, seed)
        finishing, sharing, trading = (self._work(kind) for kind in (FINISHING, SHARING, TRADING))
        split.level()
        split.finish(finishing)
        if not split.covered and split.everybody.size <= 5_000:
            split.trade(trading)
        if not split.covered:
            split.escalate(sharing)
        if not split.covered and split.top_up():
            return None
        split.thin()
        if split.cost > self.bound + 0.5:
            split.squeeze(SQUEEZES, sharing, trading)
        return split.pairs()


def solve_exact(
    instance: AssignmentInstance,
    kind: str,
    solve: Solve,
    backend: str,
    options: Options,
    listener: Listener | None = None,
) -> Plan:
    """Solve over classes of interchangeable tasks and workers; prove by multipliers; search only for what is left.

    Parameters
    ----------
    kind : str
        ``ip`` or ``lp``.
    backend : str
        Who searches the full program where the structure does not suffice: from the plan found here, with the better
        of both bounds.
    """
    clock = Clock(options.time_limit, perf_counter())
    classes = classes_of(instance)
    relaxation = relax_classes(classes, solve, options, whole=kind == "ip")
    if kind == "lp" or not np.isfinite(relaxation.certificate.bound) or relaxation.solution.interrupted:
        return _linear_plan(instance, kind, relaxation, options)
    search = Search(instance, classes, solve, backend, options, clock, listener, relaxation.certificate.bound)
    pairs = instance.n_tasks * instance.n_workers
    plan = _plan(search, relaxation)
    if pairs <= SMALL:
        plan = _searched(search, plan, QUICK)
    if not plan.proven and not search.done:
        try:
            search.attempts()
        except KeyboardInterrupt:
            search.interrupted = True
        plan = _plan(search, relaxation, plan.certificate)
    if not plan.proven and not search.done and pairs <= LARGEST:
        plan = _searched(search, plan, search.options.nodes)
    return plan


def _searched(search: Search, plan: Plan, nodes: int | None) -> Plan:
    """Search the full program on from what is known; the better of both plans and of both bounds."""
    allowed = min((limit for limit in (nodes, search.options.nodes) if limit is not None), default=None)
    options = replace(search.options, time_limit=max(ENOUGH, search.clock.left), nodes=allowed)
    found = solve_full(search.instance, "ip", search.solve, search.backend, options, search.listener, head=plan)
    search.interrupted |= found.interrupted
    if found.pairs is not None:
        search.offer(found.pairs)
    search.bound = max(search.bound, found.bound)
    return replace(found, interrupted=search.interrupted)


def _plan(search: Search, relaxation: Relaxation, known: Certificate | None = None) -> Plan:
    """The best plan so far, with the best bound known."""
    instance, linear = search.instance, relaxation.certificate
    best = linear if known is None or known.bound <= linear.bound else known
    certificate = Certificate(
        value=search.value if search.best is not None else None,
        bound=best.bound,
        proof=best.proof,
        violation=worst_breach(instance, search.best) if search.best is not None else None,
        fraction=0.0 if search.best is not None else None,
    )
    certified = linear.bound if linear.proof == "certificate" else -np.inf
    return _result(instance, "ip", certificate, certified, relaxation, search.best, None, search)


def _linear_plan(instance: AssignmentInstance, kind: str, relaxation: Relaxation, options: Options) -> Plan:
    """The LP's own answer: shares of labels, or that there is no plan."""
    known, pairs, amounts = relaxation.certificate, None, None
    full = relaxation.full() if kind == "lp" and known.bound < np.inf else None
    certificate = replace(known, value=None, violation=None, fraction=None)
    if full is not None:
        pairs = np.argwhere(full > 0)
        amounts = full[tuple(pairs.T)]
        value, worst = float(instance.prices(pairs) @ amounts), worst_breach(instance, pairs, amounts)
        certificate = replace(known, value=value, violation=worst, fraction=0.0)
    certified = known.bound if known.proof == "certificate" else -np.inf
    return _result(instance, kind, certificate, certified, relaxation, pairs, amounts, options)


def _result(
    instance: AssignmentInstance,
    kind: str,
    certificate: Certificate,
    certified: float,
    relaxation: Relaxation,
    pairs: Ints | None,
    amounts: np.ndarray | None,
    made: Search | Options,
) -> Plan:
    stopped = made.interrupted if isinstance(made, Search) else relaxation.solution.interrupted
    return Plan(
        instance=instance,
        program=kind,
        status=decide(certificate, pairs is not None),
        pairs=pairs,
        amounts=amounts,
        certificate=certificate,
        certified_bound=certified,
        duals=relaxation.duals(),
        method="exact",
        backend=made.backend if isinstance(made, Search) else relaxation.solution.backend,
        seed=made.options.seed if isinstance(made, Search) else made.seed,
        interrupted=stopped,
    )
