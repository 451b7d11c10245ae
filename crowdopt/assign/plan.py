"""An answer together with what is known to be true of it.

Prices in the largest unit of which each is a multiple: every plan's cost is whole then, so bounds are rounded up.

Tasks that ask nothing are left out of every program; what is known of the others is known of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import gcd, isfinite, lcm
from typing import Any, ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import BOUND, Certificate, is_refuted, pulling_sides
from crowdopt.core.program import Program
from crowdopt.core.solution import PROVEN, Listener, Status, told_in
from crowdopt.crowd.alike import Classes, of_tasks
from crowdopt.crowd.doubt import LeftOpen
from crowdopt.crowd.instance import PRICES, AssignmentInstance
from crowdopt.crowd.vote_errors import NEAR, broken, exact_errors, most_errors, open_tasks, worst_breach
from crowdopt.errors import OwnFault
from crowdopt.notebooks import InFrames, as_arrow, how_good, number
from crowdopt.programs.elastic import JOINT

REPORT = "this is a fault of crowdopt, not of the campaign: please report it with the campaign"
WORTHLESS = -1.0  # a bound below this says less than that nothing costs less than nothing: not worth keeping


@dataclass(frozen=True, eq=False)
class Duals:
    """Row multipliers of the assignment LP in the house's sign: the change of the cost per unit of its row's side."""

    task: Floats  # (tasks,): x_i >= 0, the price of one unit of evidence
    worker: Floats  # (workers,): -z_j <= 0 where the capacity binds, > 0 where the minimum load does
    labels: Floats  # (tasks,): > 0 where the fewest labels bind, < 0 where the most do
    budget: float = 0.0  # <= 0
    wrong: float = 0.0  # <= 0: of one more wrong answer expected, under a rule for the average
    # of the blocks ``group``, ``most_share``, ``least_share`` and ``own`` of the program, where it has them
    joint: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, program: Program, multipliers: Floats) -> Duals:
        """A program's row multipliers by name, with the wrong-signed noise that proves nothing taken off."""
        pulls = pulling_sides(program, multipliers)
        rows = {block.name: block.view(pulls).copy() for block in program.rows}
        labels = rows.get("labels", np.zeros(rows["cover"].size))
        budget = float(rows["budget"][0]) if "budget" in rows else 0.0
        return cls(
            rows["cover"], rows["capacity"], labels, budget, joint={name: rows[name] for name in JOINT if name in rows}
        )

    def of_members(self, classes: Classes) -> Duals:
        """Those of classes, each for each of its members."""
        task, joint = classes.task_class, dict(self.joint)
        if "group" in joint:
            joint["group"] = np.ascontiguousarray(joint["group"][:, task])
        worker = self.worker[classes.worker_class]
        return replace(self, task=self.task[task], worker=worker, labels=self.labels[task], joint=joint)


@dataclass(frozen=True, eq=False)
class Repaired:
    """What an approximation took before its plan was mended, and what mending changed."""

    labels: int  # that it took
    short: int  # tasks that it left short of their need
    lacking: float  # evidence that those lacked in all
    # task and worker of the labels that mending bought and took away
    added: Ints  # (k, 2)
    removed: Ints  # (k, 2)


@dataclass(frozen=True, eq=False)
class Plan(InFrames):
    """Who labels what, or why there is no plan, with the certificate.

    Parameters
    ----------
    instance : AssignmentInstance
    program : str
        ``ip``: whole labels; ``lp``: shares of labels, for bounds and prices.
    status : Status
        OPTIMAL only where the gap is closed; INFEASIBLE, UNDECIDED: there is no plan, at best one that leaves tasks
        ``short``.
    pairs : (k, 2) int, optional
        Task and worker of each label, sorted.
    amounts : (k,) float, optional
        Share of each label, for an LP plan.
    certificate : Certificate
        The best bound known, and where it comes from.
    certified_bound : float
        The bound that ``duals`` prove by themselves.
    duals : Duals, optional
    method, backend, seed, seconds, started, interrupted
        How it was made.
    note : str
        Why another method than the one asked for took over; empty where none did.
    promise : str
        Where the plan is one of a linear rule in place of a checked one: the latter, whose promise the plan keeps. The
        bound is the linear rule's alone.
    gave_up : bool
        Whether the search ended before its time was up.
    spending : dict
        Of a plan made for a sum of money: ``money``, and what it expects to be wrong, ``wrong``, ``wrong_bound``.
    repaired : Repaired, optional
        Of an approximation: what it was before it was mended.
    left_open : LeftOpen, optional
        What the plan errs with as far as gold tells, where skills rest on gold (crowdopt.crowd.doubt).
    is_sure : bool
        Whether its mean error keeps the targets with the confidence that was asked for, if any was.
    short : (k,) int
        Tasks that get less than they ask for, where there is no plan for all: the best that was found for those.
    partial : (k, 2) int, optional
        Without a plan for all: labels of most tasks, with which the best effort begins.
    """

    instance: AssignmentInstance
    program: str
    status: Status
    pairs: Ints | None
    amounts: Floats | None
    certificate: Certificate
    certified_bound: float
    duals: Duals | None
    method: str
    backend: str
    seed: int = 0
    seconds: float = 0.0
    started: str = field(default="", repr=False)
    interrupted: bool = field(default=False, repr=False)
    note: str = ""
    promise: str = ""
    gave_up: bool = field(default=False, repr=False)
    spending: dict[str, float] = field(default_factory=dict)
    repaired: Repaired | None = None
    left_open: LeftOpen | None = None
    is_sure: bool = field(default=True, repr=False)
    short: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    partial: Ints | None = None

    @classmethod
    def of(
        cls,
        instance: AssignmentInstance,
        program: str,
        known: Certificate,
        certified: float,
        duals: Duals | None,
        pairs: Ints | None,
        amounts: Floats | None = None,
        **made: Any,
    ) -> Plan:
        """A plan of these pairs (None: there is none) against the best bound known; the rest is recomputed.

        A solver's bound that the plan's own cost refutes gives way to what the multipliers prove.

        Parameters
        ----------
        instance : AssignmentInstance
        program : str
            ``ip`` or ``lp``.
        known : Certificate
            The best bound, and where it comes from.
        certified : float
            What ``duals`` prove by themselves.
        duals : Duals, optional
        pairs : (k, 2) int, optional
            Task and worker of each label.
        amounts : (k,) float, optional
            Shares of labels, where the plan is the LP's.
        """
        value = None
        if pairs is not None:
            prices = instance.prices(pairs)
            value = float(prices.sum() if amounts is None else (prices * amounts).sum())
        if certified < WORTHLESS and duals is not None:
            certified, duals = -np.inf, duals if duals.wrong < 0 else None  # those prove wrong answers all the same
        known = _as_far_as_it_stands(known, certified, value)
        if pairs is not None and known.bound < np.inf:
            worst = worst_breach(instance, pairs, amounts)
            certificate = replace(known, value=value, violation=worst, fraction=0.0)
        else:
            pairs = amounts = None
            certificate = replace(known, value=None, violation=None, fraction=None)
        status = decide(certificate, pairs is not None)
        return cls(instance, program, status, pairs, amounts, certificate, certified, duals, **made)

    def held_against(self, stated: AssignmentInstance) -> Plan:
        """The plan, if it keeps what was asked for, whatever made it, and costs no less than its own proof says.

        stated: the instance as it was read; of shares of labels the plan's own, whose rule counts them.

        Raises OwnFault where it does not.
        """
        says = ""
        if self.pairs is not None:
            instance = stated if self.amounts is None else self.instance
            says = broken(instance, self.pairs, self.amounts, self.short)
        cost, proven = self.objective, self.bound if self.found and self.proof == "certificate" else -np.inf
        if not says and cost is not None and proven > cost + NEAR * max(1.0, abs(cost)):
            says = f"it costs {cost:.10g}, less than the {proven:.10g} that its own multipliers prove"
        if says:
            raise OwnFault(f"the plan that was found does not hold, and is not handed out: {says}; {REPORT}")
        return self

    @property
    def found(self) -> bool:
        """Whether there is a plan, in which every task gets what it asks for."""
        return self.pairs is not None and not self.short.size

    @property
    def objective(self) -> float | None:
        """What the plan costs."""
        return self.certificate.value

    @property
    def bound(self) -> float:
        """What every plan costs at least."""
        return self.certificate.bound

    @property
    def gap(self) -> float:
        """``objective / bound - 1``: how far the plan may be above the optimum."""
        return self.certificate.gap

    @property
    def proof(self) -> str:
        """Where the bound comes from: ``certificate``, ``solver`` or ``none``."""
        return self.certificate.proof

    @property
    def proven(self) -> bool:
        """Whether the answer is settled: an optimal plan, or that there is none for all tasks."""
        return self.status in (Status.OPTIMAL, Status.INFEASIBLE)

    @property
    def of_rule(self) -> str:
        """Words that a bound or an optimum needs where it is a rule's and not the promise's."""
        return self.instance.the_rule.of_rule

    @property
    def labels(self) -> float:
        """Number of labels the plan buys."""
        return float(self.shares.sum())

    @cached_property
    def shares(self) -> Floats:
        """Share of each pair's label, (k,): 1 in a plan of whole labels."""
        if self.amounts is not None:
            return self.amounts
        return np.ones(len(_chosen(self)))

    @cached_property
    def prices(self) -> Floats:
        """What the label of each pair is paid, (k,)."""
        return self.instance.prices(_chosen(self))

    @cached_property
    def evidence(self) -> Floats:
        """Evidence of each task, labels already in included, (tasks,)."""
        return self.instance.collected_evidence + self.instance.supply(_chosen(self), self.amounts)

    @cached_property
    def exact_error(self) -> tuple[Floats, Floats] | None:
        """Exact error of each task's vote, (above, width), for plans of whole labels under a checked rule."""
        if not self.instance.the_rule.checked or self.amounts is not None or self.pairs is None:
            return None
        return exact_errors(self.instance, _chosen(self))

    @cached_property
    def vote_error(self) -> Floats | None:
        """Exact error of each task's vote, (tasks,), whatever the rule promises; None where it is not known.

        Not of shares of labels, of workers who may err together or who mix classes up in their own ways.
        """
        instance = self.instance
        together = instance.confusion is not None or bool((instance.dependence > 1).any())
        unknown = together or self.pairs is None or self.amounts is not None
        return None if unknown else most_errors(instance, _chosen(self))

    @cached_property
    def task_labels(self) -> Floats:
        """Labels that the plan adds to each task, (tasks,)."""
        return np.bincount(_chosen(self)[:, 0], weights=self.shares, minlength=self.instance.n_tasks).astype(float)

    @cached_property
    def loads(self) -> Floats:
        """Labels each worker gives, (workers,)."""
        return np.bincount(_chosen(self)[:, 1], weights=self.shares, minlength=self.instance.n_workers).astype(float)

    @property
    def violation(self) -> float | None:
        """The largest breach of a limit; at most COVERAGE. None without a plan."""
        return self.certificate.violation

    in_notebooks: ClassVar[tuple[str, ...]] = ("objective", "bound", "gap", "proven", "proof", "labels")

    @property
    def in_words(self) -> str:
        """How good the plan provably is, as a sentence; empty where there is none."""
        if not self.found:
            return ""
        word = f"on {self.backend}'s word; the plan's own multipliers prove {number(self.certified_bound)}"
        return how_good(self.proven, self.gap, self.bound, self.proof, rule=self.of_rule, word=word)

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first labels, and how many there are."""
        some = zip(_chosen(self)[:most].tolist(), self.prices[:most].tolist(), strict=True)
        rows = [
            {"task": self.instance.task_id(i), "worker": self.instance.worker_id(j), "price": price}
            for (i, j), price in some
        ]
        return rows, len(_chosen(self))

    def table(self) -> Any:
        """The plan as an Arrow table with columns task, worker, price (and value for an LP plan)."""
        ids = {
            "task": [self.instance.task_id(i) for i in _chosen(self)[:, 0]],
            "worker": [self.instance.worker_id(j) for j in _chosen(self)[:, 1]],
            "price": self.prices,
        }
        return as_arrow(ids if self.amounts is None else {**ids, "value": self.amounts})


def _chosen(plan: Plan) -> Ints:
    return np.zeros((0, 2), np.int64) if plan.pairs is None else plan.pairs


def _as_far_as_it_stands(known: Certificate, certified: float, value: float | None) -> Certificate:
    """A bound as the plan and the multipliers leave it: worth keeping, refuted by the one, confirmed by the others."""
    if known.bound < WORTHLESS:
        return replace(known, bound=-np.inf, proof="none")
    if known.proof == "solver" and is_refuted(known.bound, value):
        return replace(known, bound=certified, proof="certificate" if isfinite(certified) else "none")
    if known.proof == "solver" and known.bound <= certified + BOUND * max(1.0, abs(certified)):
        return replace(known, proof="certificate")
    return known


def decide(certificate: Certificate, found: bool) -> Status:
    """What may be said of a plan: OPTIMAL where value and bound meet, INFEASIBLE where the bound is infinite."""
    if certificate.bound == np.inf:
        return Status.INFEASIBLE
    if not found:
        return Status.UNDECIDED
    met = certificate.proof != "none" and abs(certificate.gap) <= PROVEN
    return Status.OPTIMAL if met else Status.FEASIBLE


def queues(pairs: Ints) -> list[tuple[int, Ints]]:
    """Each worker in the plan with their tasks, both in ascending order.

    -> list of (int, (k,) int): worker and tasks.
    """
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    workers, starts = np.unique(pairs[order, 1], return_index=True)
    tasks = np.split(pairs[order, 0], starts[1:]) if workers.size else []
    return list(zip(workers.tolist(), tasks, strict=True))


MANY = 1_000  # prices that all differ have no unit worth looking for


def in_units(
    instance: AssignmentInstance,
    listener: Listener | None,
    solve: Callable[[AssignmentInstance, Listener | None], Plan],
) -> Plan:
    """The plan of the instance with prices in units as one of the instance.

    With prices c and budget B divided by the unit u, costs, bounds and multipliers are u times those found; money's own
    multiplier has no unit.
    """
    unit = price_unit(instance.cost)
    if unit is None:
        return solve(instance, listener)
    size = float(unit)
    budget = None if instance.budget is None else float(Fraction(Decimal(repr(float(instance.budget)))) / unit)
    part = replace(instance, cost=np.rint(instance.cost / size), budget=budget)

    plan = solve(part, told_in(listener, lambda cost: cost * size))
    value = None if plan.pairs is None else float(instance.prices(plan.pairs).sum())
    return replace(
        plan,
        instance=instance,
        certificate=replace(plan.certificate, value=value, bound=plan.bound * size),
        certified_bound=plan.certified_bound * size,
        duals=None if plan.duals is None else _scaled(plan.duals, size),
    )


def price_unit(cost: Floats) -> Fraction | None:
    """The largest unit of which every price, as it is written in decimals, is a multiple; None for 1, or too small."""
    prices = np.unique(cost[cost > 0])
    if not 0 < prices.size <= MANY:
        return None
    exact = [Fraction(Decimal(repr(one))) for one in prices.tolist()]
    bottom = lcm(*(one.denominator for one in exact))
    unit = Fraction(gcd(*(int(one * bottom) for one in exact)), bottom)
    return None if unit == 1 or float(prices[-1] / unit) > PRICES[1] else unit


def _scaled(duals: Duals, size: float) -> Duals:
    return replace(
        duals,
        task=size * duals.task,
        worker=size * duals.worker,
        labels=size * duals.labels,
        wrong=size * duals.wrong,
        joint={name: size * values for name, values in duals.joint.items()},
    )


def presolved(instance: AssignmentInstance, solve: Callable[[AssignmentInstance], Plan]) -> Plan:
    """The plan of the open tasks alone (crowdopt.crowd.vote_errors) as a plan of all.

    Cost and bound stay what they are: a task that is left out needs no label, and with multipliers 0 it takes nothing
    from the bound, whatever the prices of time and money are.
    """
    kept = open_tasks(instance)
    if kept.size == instance.n_tasks:
        return solve(instance)
    plan = solve(of_tasks(instance, kept))
    duals = None if plan.duals is None else _duals_of_all(instance.n_tasks, kept, plan.duals)

    def of_all(pairs: Ints | None) -> Ints | None:
        return None if pairs is None else np.column_stack([kept[pairs[:, 0]], pairs[:, 1]])

    return replace(plan, instance=instance, pairs=of_all(plan.pairs), partial=of_all(plan.partial), duals=duals)


def _duals_of_all(n: int, kept: Ints, duals: Duals) -> Duals:
    """Multipliers of some tasks as those of all: 0 for the others."""

    def spread(values: Floats) -> Floats:
        every = np.zeros((*values.shape[:-1], n))
        every[..., kept] = values
        return every

    joint = {name: spread(values) if name == "group" else values for name, values in duals.joint.items()}
    return replace(duals, task=spread(duals.task), labels=spread(duals.labels), joint=joint)
