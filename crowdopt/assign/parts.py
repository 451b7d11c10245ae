"""A campaign whose tasks lie in parts: a coordinator who knows prices and sums and never a task, and what a part does.

``max_w  sum_j M_j w_j + sum_p g_p(w), w <= 0``: a sample of all parts' tasks tells the prices w, each part the sum g_p
of its tasks' cheapest sets at them. The best prices of s tasks are off by about ``1 / sqrt(s)`` of themselves, and the
bound, flat at its top, by ``1 / s``. Workers' time is dealt to the parts as the sample's labels are, and each part is
planned by itself. Sums go in the order of the parts, and nothing depends on the clock or on who computed what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Protocol

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.choose import Chooser
from crowdopt.assign.master import Master, Pool
from crowdopt.assign.oracle import EffortParams, Oracle
from crowdopt.assign.prices import Climb, linear, sampled
from crowdopt.assign.problem import Problem, ProblemParams, problem_of
from crowdopt.assign.search import solve_exact
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options
from crowdopt.crowd.instance import AssignmentInstance

ENDLESS = 1e9  # seconds: what is computed in parts does not depend on the clock
SAMPLE = 20_000  # tasks of whom prices are told, at most
APART = ProblemParams(apart=True)  # in other parts the same workers differ


@dataclass(frozen=True)
class PartsParams:
    """How parts are planned."""

    margin: float = 2e-7  # relative to the tasks' values; between what is computed here and what is claimed
    deals: int = 4  # times that time is dealt to parts that are not whole
    gap: float = 1e-3  # of a part's plan
    tries: int = 200  # nodes of a part's search, and improvements


PARAMS = PartsParams()


class TimeIsUp(Exception):
    """The parts were asked something that they did not answer before the time limit."""


class Parts(Protocol):
    """The parts, wherever they lie: each question is put to all of them, answers come in their order."""

    tasks: Ints  # (parts,): how many each has
    fixed: Ints  # (workers,): fixed labels of all
    constant: float  # what these cost

    def price(self, prices: Floats) -> Sequence[tuple[float, float]]:
        """At prices of workers, (workers,), at most 0: the sum of each part's bounds, and of their absolute values."""
        ...

    def plan(self, some: Sequence[int], room: Ints) -> Sequence[tuple[Ints, float] | None]:
        """Plan some parts within their room (some, workers): labels of each worker that are not fixed, and their cost.

        Where every task has its set the part writes its labels; else None.
        """
        ...


@dataclass(frozen=True, eq=False)
class PartsAnswer:
    """What is known in the end."""

    prices: Floats  # (workers,): the multipliers that prove the bound; at most 0
    bound: float  # what no plan costs less than; infinite: there is none
    load: Ints | None  # (workers,): labels of each worker, fixed ones included; None where no plan was found
    cost: float | None
    is_late: bool = False  # whether time was up before a plan was whole


def solve_parts(
    parts: Parts,
    sample: tuple[AssignmentInstance, Ints],
    solvers: Solvers,
    seed: int,
    hear: Callable[[str, float, float | None], None],
) -> PartsAnswer:
    """Bound and plan of all parts; sample: some of the tasks, with the whole capacities, and the part of each."""
    instance, part_of = sample
    room, constant, bound = instance.capacity - parts.fixed, parts.constant, -np.inf
    prices, loads = _sampled(instance, part_of, parts.tasks, room, solvers, seed)
    try:
        bound = _bound(parts.price(prices), prices, room, instance, constant)
        plans = None if bound == np.inf else _planned(parts, room, loads, lambda text: hear(text, bound, None))
    except TimeIsUp:
        return PartsAnswer(prices, bound, None, None, is_late=True)
    if plans is None:
        return PartsAnswer(prices, bound, None, None)
    load = np.sum([load for load, _ in plans], axis=0) + parts.fixed
    cost = fsum([constant, *(cost for _, cost in plans)])
    return PartsAnswer(prices, min(bound, cost), load, cost)


def _bound(
    said: Sequence[tuple[float, float]], prices: Floats, room: Ints, instance: AssignmentInstance, constant: float
) -> float:
    """What all parts prove together; infinite where all labels that there are cost less."""
    value = fsum([*(room * prices).tolist(), *(value for value, _ in said)]) + constant
    every = float(instance.cost.max(axis=0) @ room) + constant
    if value > every + 1.0:
        return np.inf
    value -= PARAMS.margin * (fsum(size for _, size in said) + abs(constant))
    return next_integer(value) if instance.has_whole_prices else value


def _sampled(
    instance: AssignmentInstance, part_of: Ints, tasks: Ints, room: Ints, solvers: Solvers, seed: int
) -> tuple[Floats, Ints]:
    """The best prices of the sample, (workers,), and what its parts ask of each worker, (parts, workers)."""
    clock, options, rng = Clock(ENDLESS), Options(time_limit=ENDLESS, seed=seed), np.random.default_rng(seed)
    share = instance.n_tasks / int(tasks.sum())
    given = np.bincount(instance.fixed[:, 1], minlength=room.size)
    whole = problem_of(replace(instance, capacity=room + given), APART)
    problem = whole.part(np.arange(whole.count.size), share)
    oracle, pool = Oracle(problem, options.threads), Pool(problem)
    swept = oracle.sweep(np.zeros(problem.coupling.lower.size), EffortParams(), clock)
    assert swept is not None
    pool.add(swept.sets)
    if not np.isfinite(swept.bound):
        return np.zeros(room.size), np.zeros((tasks.size, room.size), np.int64)
    short = 6 * swept.cost + 3 * problem.unit
    climb = Climb(problem, oracle, clock, lambda _: False, pool, short, best=swept)
    point, _ = linear(sampled(problem, rng, climb.params.cells), solvers.solve, options)
    if point is not None:
        climb.visit(point.duals, through=0)
    assert climb.best is not None
    climb.seed(climb.best.duals, rng)
    for rounds in climb.params.rounds:
        if not climb.run(rounds):
            break
    best = climb.best.duals
    prices = np.minimum(best[: problem.coupling.loads], 0.0)[whole.worker_class]
    sets, of = Chooser(Master(pool, short), oracle, clock, rng, solvers.solve, options).dive(
        np.arange(problem.tasks), pool.sets.some(part_of[:0]), part_of[:0], climb.duals
    )
    label = np.argsort(whole.worker_class)[sets.label]
    asked = np.zeros((tasks.size, room.size))
    np.add.at(asked, (part_of[of[sets.owner]], label), 1.0 / share)
    return prices, np.rint(asked).astype(np.int64)


def _planned(parts: Parts, room: Ints, loads: Ints, tell: Callable[[str], None]) -> list[tuple[Ints, float]] | None:
    """Plans of all parts within their room; what they leave is dealt to those that lack some, a few times."""
    dealt, some = deal_room(room, loads, parts.tasks), np.arange(parts.tasks.size)
    plans: dict[int, tuple[Ints, float]] = {}
    for _ in range(PARAMS.deals):
        tell(f"planning {some.size} parts")
        found = zip(some.tolist(), parts.plan(some.tolist(), dealt), strict=True)
        plans |= {part: plan for part, plan in found if plan is not None}
        some = np.array([part for part in some.tolist() if part not in plans], np.int64)
        if not some.size:
            return [plans[part] for part in range(parts.tasks.size)]
        taken = np.sum([load for load, _ in plans.values()], axis=0) if plans else 0
        dealt = deal_rest(room - taken, some.size)
    return None


def swept(problem: Problem, prices: Floats) -> tuple[float, float]:
    """What the tasks of a part cost at least at prices of workers, and the same of absolute values."""
    duals = np.zeros(problem.coupling.lower.size)
    duals[problem.worker_class] = prices
    sweep = Oracle(problem, 1).sweep(duals, EffortParams(), Clock(ENDLESS))
    assert sweep is not None
    return float(problem.count @ sweep.value), float(problem.count @ np.abs(sweep.value))


def planned(instance: AssignmentInstance, room: Ints, solvers: Solvers, seed: int) -> Ints | None:
    """A plan of a part within its room, fixed labels apart, (k, 2): task and worker of each label that is not fixed."""
    given = np.bincount(instance.fixed[:, 1], minlength=room.size)
    options = Options(time_limit=ENDLESS, seed=seed, gap=PARAMS.gap, nodes=PARAMS.tries, threads=1)
    pairs = solve_exact(replace(instance, capacity=room + given), solvers, options).pairs
    if pairs is None:
        return None
    return pairs[~np.isin(instance.pair_keys(pairs), instance.pair_keys(instance.fixed))]


def shortest(instance: AssignmentInstance) -> tuple[int, float, float] | None:
    """A task whom all workers together cannot give its need: the task, what they can, what it needs; None: nobody."""
    every = instance.evidence.sum(axis=1)[instance.task_type]
    task, worker = instance.barred.T
    np.subtract.at(every, task, instance.evidence[instance.task_type[task], worker])
    lack = instance.floor - every
    worst = int(lack.argmax())
    return (worst, float(every[worst]), float(instance.floor[worst])) if lack[worst] > 1e-9 else None


def deal_room(room: Ints, loads: Ints, tasks: Ints) -> Ints:
    """What each part may use: what it asks for, plus its tasks' share of what is left, or less where all ask too much.

    room (workers,): labels that each worker can give; loads (parts, workers): what each part asks for; tasks (parts,):
    how many each has; -> (parts, workers): each column adds up to the worker's room.
    """
    asked = loads.sum(axis=0)
    spare = np.maximum(0, room - asked)
    share = np.broadcast_to((tasks / tasks.sum())[:, None], loads.shape)
    cut = loads * np.minimum(1.0, room / np.maximum(1, asked))
    return np.where(asked <= room, loads + _whole(share * spare, spare), _whole(cut, np.minimum(room, asked)))


def deal_rest(rest: Ints, parts: int) -> Ints:
    """Equal shares of what no part has for those that lack some, (parts, workers)."""
    return _whole(np.broadcast_to(rest / parts, (parts, rest.size)), rest)


def _whole(amounts: Floats, total: Ints) -> Ints:
    """Amounts (parts, workers) rounded so that each column has its total: the largest remainders up."""
    down = np.floor(amounts + 1e-9).astype(np.int64)
    missing = total - down.sum(axis=0)
    order = np.argsort(-(amounts - down), axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(amounts))[:, None], axis=0)
    return np.asarray(down + (rank < missing))
