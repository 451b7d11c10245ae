"""The engine: prices by column generation over sets of labels, plans by diving, one way for every limit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.direct import JOINT
from crowdopt.assign.engine.given_sets import Given, dive, loosened
from crowdopt.assign.engine.prepared import Prepared, levelled, problem_of
from crowdopt.assign.engine.set_master import SetMaster
from crowdopt.assign.engine.set_prices import NEAR, Climb, sweep
from crowdopt.assign.exact.relaxation import has_whole_prices
from crowdopt.assign.exact.split import pairs_of
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.certificate import Certificate, certify, next_integer, pulling_sides
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, Listener, Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import aggregated
from crowdopt.programs.assignment import shares_of

PARTS = 0.08, 0.15, 0.3, 0.5  # of the tasks made anew, in turn
TRIES = 60  # plans begun without a better one
ROUGHLY = 0.01  # of the gap asked for: how near prices come to the best
JITTER = 0.1  # of the order in which sets are fixed, after the first dive
PRICES, ROOMY = 0.35, 0.3  # of the time left, for prices near the first ones and for free ones
FINE = 60_000  # steps of a search for the bound
MARGIN = 2e-7  # relative; what whoever recomputes a bound may find less
SMALL = 40_000  # pairs up to which the whole program is searched in the end


@dataclass(eq=False)
class Engine:
    """A problem on its way to a plan.

    Parameters
    ----------
    problem : Prepared
    standing : Standing
        Is offered plans and bounds.
    """

    problem: Prepared
    standing: Standing
    levels: Prepared = field(init=False)
    master: SetMaster = field(init=False)
    best: Given | None = None

    def __post_init__(self) -> None:
        self.levels = levelled(self.problem)
        self.master = SetMaster(self.levels, self.standing.solvers.make_master)

    def run(self, first: Floats) -> None:
        """Climb, dive, and make parts of the plan anew while there is time and a gap.

        Parameters
        ----------
        first : (rows,) float
            Multipliers of the coupling rows to begin with.
        """
        clock = self.standing.clock
        near = max(NEAR, ROUGHLY * self.standing.options.gap)
        climb = Climb(self.levels, self.master, self.levels.coupling.valid(first), near=near)
        climb.begin()
        self._prove(climb)
        if self.standing.bound == np.inf:
            return
        for part, near in ((PRICES, True), (ROOMY, False)):
            self.master.start(climb.box if near else None)
            climb.run(clock.part(part))
            self._prove(climb)
        self._plans(climb)

    def _prove(self, climb: Climb) -> None:
        """Raise the bound by what the best multipliers prove, each kind of task with its own need."""
        bound = climb.bound
        if self.levels is not self.problem:
            bound = sweep(self.problem, climb.duals, steps=FINE, rich=False).bound
        bound -= MARGIN * max(1.0, abs(bound)) if np.isfinite(bound) else 0.0
        if has_whole_prices(self.problem.classes):
            bound = next_integer(bound)
        self.standing.raise_bound(bound, _set_duals(self.problem, climb.duals))

    def _plans(self, climb: Climb) -> None:
        standing, rng = self.standing, np.random.default_rng(self.standing.options.seed)
        limit = TRIES if standing.options.nodes is None else min(TRIES, standing.options.nodes)
        start, waited = Given.nothing(self.levels), 0
        while not standing.done and waited < limit:
            jitter = 0.0 if self.best is None else JITTER
            found = dive(self.master, start, climb.duals, rng, standing.clock, jitter)
            waited += 1
            if self.best is None or found.worth < self.best.worth:
                self.best, waited = found, 0
                if found.holds:
                    standing.offer(plan_pairs(found))
            start = loosened(self.best, climb.duals, PARTS[waited % len(PARTS)], rng)


def plan_pairs(given: Given) -> Ints:
    """Whole labels: each task of a kind takes one of its sets, workers of a class take turns.

    Parameters
    ----------
    given : Given
        Every task has a set.

    Returns
    -------
    (k, 2) int
    """
    problem = given.problem
    kind = problem.kind_of[problem.classes.task_class]
    tasks = np.argsort(kind, kind="stable")
    order = np.argsort([k for k, _ in given.sets], kind="stable").tolist()
    sets = [given.sets[s][1] for s in order]
    size = np.array([one.size for one in sets], np.int64)
    return pairs_of(problem.classes, np.repeat(tasks, size), np.concatenate([*sets, np.zeros(0, np.int64)]))


def solve_by_sets(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan | None:
    """The plan of an instance that the engine accepts; None where it has too many rows of tasks.

    Parameters
    ----------
    instance : AssignmentInstance
        One that :func:`crowdopt.assign.engine.prepared.accepts`.
    solvers : Solvers
    options : Options
    listener : callable, optional

    Returns
    -------
    Plan or None
    """
    clock = Clock(options.time_limit)
    problem = problem_of(instance)
    if problem is None:
        return None
    program = aggregated.of_classes(problem.classes)
    solution = solvers.solve(program, BY_SIZE, replace(options, time_limit=clock.left))
    known = certify(solution)
    known = Certificate(None, known.bound, known.proof, None, None)
    if known.proof == "certificate" and has_whole_prices(problem.classes):
        known = replace(known, bound=next_integer(known.bound))
    standing = Standing(
        instance=instance,
        solvers=solvers,
        options=options,
        clock=clock,
        listener=listener,
        duals=None if solution.dual is None else _linear_duals(problem, program, solution.dual),
        certified=known.bound if known.proof == "certificate" else -np.inf,
        known=known,
        interrupted=solution.interrupted,
    )
    if solution.dual is None or standing.done:
        return standing.plan()
    try:
        Engine(problem, standing).run(_first_prices(program, solution.dual))
        if not standing.done and instance.n_tasks * instance.n_workers <= SMALL:
            standing.in_full(None)
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing.plan()


def _first_prices(program: Program, dual: Floats) -> Floats:
    """The LP's multipliers of the rows that the engine couples tasks by."""
    names = [block.name for block in program.rows]
    coupled = [name for name in ("capacity", "most_share", "least_share", "budget") if name in names]
    return np.concatenate([program.row(name).view(dual).reshape(-1) for name in coupled])


def _set_duals(problem: Prepared, prices: Floats) -> Duals:
    """Multipliers of the coupling rows as those of the instance, each class's for each of its members."""
    classes, coupling = problem.classes, problem.coupling
    joint, start = {}, coupling.workers
    for name, _, bound in shares_of(classes.instance):
        joint[name] = prices[start : start + len(bound)].copy()
        start += len(bound)
    nothing = np.zeros(classes.task_class.size)
    budget = float(prices[-1]) if coupling.has_budget else 0.0
    worker = prices[: coupling.workers][classes.worker_class]
    return Duals(nothing, worker, nothing, budget, form="sets", joint=joint)


def _linear_duals(problem: Prepared, program: Program, multipliers: Floats) -> Duals:
    """The full program's multipliers: each class's for each of its members."""
    pulls = pulling_sides(program, multipliers)
    rows = {block.name: block.view(pulls) for block in program.rows}
    task, worker = problem.classes.task_class, problem.classes.worker_class
    joint = {name: rows[name].copy() for name in JOINT if name in rows}
    if "group" in joint:
        joint["group"] = np.ascontiguousarray(joint["group"][:, task])
    labels = rows["labels"][task] if "labels" in rows else np.zeros(task.size)
    budget = float(rows["budget"][0]) if "budget" in rows else 0.0
    return Duals(rows["cover"][task], rows["capacity"][worker], labels, budget, joint=joint)
