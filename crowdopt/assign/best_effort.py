"""Where there is no plan for all tasks: most tasks served, then the least errors above targets, then the least cost.

Small instances are chosen from all their sets of labels, in that order. Elsewhere the search for plans is asked for
most tasks: leaving one short has a price, beside which labels cost next to nothing. What it leaves goes, label by
label, where it lowers a bound on errors most for its price; labels that lower no error are taken back, and those who
are served are planned anew at least cost beside what the others have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints, nth_alike, parts_of
from crowdopt.assign.budget import spent_best
from crowdopt.assign.oracle import Sets, Swept
from crowdopt.assign.plan import Plan
from crowdopt.assign.prices import Linear
from crowdopt.assign.problem import Problem, problem_of
from crowdopt.assign.search import Search, SearchParams, solve_exact
from crowdopt.assign.standing import NEVER, Solvers, Standing, alarm
from crowdopt.assign.state import Holding
from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, Options, Status
from crowdopt.crowd.alike import of_tasks
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import BHATTACHARYYA, EXACT_ERROR, bhattacharyya_error
from crowdopt.crowd.vote_errors import CERTAIN, breaches, errors_of_sets, most_errors, short_tasks, worst_breach
from crowdopt.errors import InputError
from crowdopt.programs import masters

Again = Callable[[AssignmentInstance, float], Plan]  # ``(instance, seconds)``: a plan by the method that was asked for

SURE = 1 - 1e-12  # prior of a task that asks nothing
SAME = 1e-9  # error; how closely the least sum of errors is kept while labels are saved


@dataclass(frozen=True)
class BestParams:
    """How most is made of what there is."""

    sets: int = 4_000  # of all rows and kinds, up to which all are chosen from
    labels: float = 0.1  # what all labels cost together, beside a task that is left short
    search: float = 0.6  # of the time: for most tasks
    last: float = 0.9  # of what is left: for a cheaper plan of those who are served
    parts: int = 7  # numbers of tasks of each lot that are tried
    least: float = 0.8  # of those that the linear program serves, so many at least
    rounds: int = 3  # of handing out what is left: labels that are taken back go to others
    wide: int = 64  # labels of a task


PARAMS = BestParams()


def best_effort(plan: Plan, hopeless: int, again: Again, solvers: Solvers, clock: Clock) -> Plan:
    """The plan of most tasks that was found, with ``short`` the others; as given where nothing keeps the other limits.

    plan: none, of an instance that has no plan for all tasks, or for which none was found in time; hopeless: tasks that
    no labels could serve.
    """
    instance = plan.instance
    if instance.budget is not None and instance.prices(instance.fixed).sum() > instance.budget:
        return plan
    if instance.the_rule.average:
        found = _kept(instance, _least_on_average(instance, solvers, clock))
    elif (found := _of_every_set(instance, solvers, clock, plan.seed)) is None:
        found, interrupted = _found(plan, hopeless, again, solvers, clock)
        plan = replace(plan, interrupted=interrupted)
    if found is None or not (len(found[0]) or plan.status is Status.INFEASIBLE):
        return plan  # an empty plan hands nothing out: what is known of the whole says more
    pairs, short = found
    refuted = plan.status is Status.INFEASIBLE
    if not short.size:  # a solver that said that there is no plan was wrong
        made: dict[str, Any] = {"method": plan.method, "backend": plan.backend, "seed": plan.seed, "note": plan.note}
        known = Certificate(None, -np.inf, "none", None, None) if refuted else plan.certificate
        proven = (-np.inf, None) if refuted else (plan.certified_bound, plan.duals)
        return Plan.of(instance, "ip", known, *proven, pairs, **made)
    # else what is known bounds plans of all tasks, and this is none
    bound, proof = (plan.bound, plan.proof) if refuted else (-np.inf, "none")
    cost = float(instance.prices(pairs).sum())
    known = Certificate(cost, bound, proof, worst_breach(instance, pairs, short=short), 0.0)
    return replace(plan, pairs=pairs, short=short, certificate=known, certified_bound=-np.inf, duals=None)


def _kept(instance: AssignmentInstance, pairs: Ints) -> tuple[Ints, Ints] | None:
    """The labels, (l, 2), and which tasks are short, (k,), if these excused every limit is kept."""
    short = short_tasks(instance, pairs)
    return None if breaches(instance, pairs, short=short) else (pairs, short)


def _found(
    plan: Plan, hopeless: int, again: Again, solvers: Solvers, clock: Clock
) -> tuple[tuple[Ints, Ints] | None, bool]:
    """Most tasks served, what is left for the others, then the least cost; who is short; whether Ctrl-C came."""
    instance, interrupted = plan.instance, False
    every = [plan.partial, _soon(instance, clock), instance.fixed]
    tried = [_served(instance, pairs) for pairs in every if pairs is not None]
    legal = [short.size for pairs, short in tried if not breaches(instance, pairs, short=short)]
    if not clock.over and min(legal, default=instance.n_tasks) > hopeless:
        search = most_tasks(instance, solvers, Clock(PARAMS.search * clock.left), plan.seed)
        interrupted = search.standing.interrupted
        tried += [] if search.found is None else [_served(instance, search.found)]
    for pairs, short in sorted(tried, key=lambda one: one[1].size):
        handed = _kept(instance, _handed_out(instance, pairs, short, clock))
        if (found := handed or _kept(instance, pairs)) is not None:
            return (found if interrupted else _cheaper(instance, *found, again, clock)), interrupted
    return None, interrupted


def _served(instance: AssignmentInstance, pairs: Ints) -> tuple[Ints, Ints]:
    """The labels of tasks that they serve, and fixed ones; who is short."""
    short = short_tasks(instance, _sorted(instance, pairs))
    return _sorted(instance, pairs[~np.isin(pairs[:, 0], short)]), short


def _sorted(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Pairs with the fixed ones, each once, in order."""
    return np.unique(np.concatenate([pairs, instance.fixed]), axis=0)


def _plain(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance by sums that are enough for its own rule where no task is hard."""
    return replace(instance, rule=BHATTACHARYYA.name, difficulty=NONE, vote_law=None)


def _by_errors(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance by exact errors, whoever errs together; limits stay as they are."""
    groups = tuple(replace(group, dependent=False) for group in instance.groups)
    return replace(instance, rule=EXACT_ERROR.name, groups=groups)


def _soon(instance: AssignmentInstance, clock: Clock) -> Ints:
    """Tasks served one after another, those of least need first: that takes little time."""
    problem = problem_of(instance)
    with alarm(clock) as rung:
        held = Holding.empty(problem, PARAMS.wide, 0, rung)
        held.weigh(np.arange(problem.tasks))
        held.complete(problem.rows.cost, whole_or_none=True)
        held.mend()
        pairs, lost = problem.pairs(*held.labels(), rung)
    return pairs[~np.isin(pairs[:, 0], lost)]


@dataclass(eq=False)
class MostServed(Search):
    """A search for most tasks: one that is left short costs 1, labels next to nothing."""

    left: int = 0  # so many tasks at least are short
    point: Linear | None = None

    def hear(self, swept: Swept) -> bool:
        """As :meth:`Search.hear`, of tasks."""
        if np.isfinite(swept.bound):
            self.left = max(self.left, int(np.ceil(swept.bound - PARAMS.labels - 1e-6)))
        return self.enough(0.0)

    def enough(self, near: float) -> bool:
        """Whether no more is tried."""
        return self.standing.done or self.standing.best is not None or self.problem.tasks - self.most <= self.left

    @property
    def found(self) -> Ints | None:
        """Labels of those who are served, (k, 2)."""
        return self.standing.partial if self.standing.best is None else self.standing.best

    @property
    def goes_on(self) -> bool:
        """Whether what was chosen is bettered at last."""
        return True

    def is_long(self, point: Linear) -> bool:
        """As :meth:`Search.is_long`, of the tasks that are not left short."""
        self.point = point
        assert point.short is not None
        served = float(self.problem.tasks_in @ (1 - point.short))
        return super().is_long(replace(point, amounts=point.amounts * (self.problem.tasks / max(1.0, served))))

    def deals(self, duals: Floats | None) -> None:
        """A plan for so many tasks of each lot as the linear program serves, those of least need; or for fewer."""
        problem, instance, options = self.problem, self.standing.instance, self.standing.options
        if duals is not None:
            return
        assert self.point is not None and self.point.short is not None
        lot, low, high = problem.lot_of[problem.kind_of], PARAMS.least, 1.0
        order = np.lexsort((problem.kind_of, lot))
        place = nth_alike(lot[order])
        quick = replace(options, gap=1.0, nodes=self.params.nodes)

        def dealt(part: AssignmentInstance) -> Ints | None:
            limit = self.standing.clock.within(quick, None)
            return solve_exact(part, self.standing.solvers, limit, params=SearchParams(dealt_alone=True)).pairs

        for number in range(PARAMS.parts):
            part = high if number == 0 else (low + high) / 2
            count = np.floor(part * problem.tasks_in * (1 - self.point.short) + 1e-6)
            served = np.sort(order[place < count[lot[order]]])
            if self.standing.done or not served.size:
                break
            others = instance.fixed[~np.isin(instance.fixed[:, 0], served)]
            new = _planned(instance, served, others, dealt)
            low, high = (low, part) if new is None else (part, high)
            if new is not None:
                self._complete(Holding.of_labels(problem, *_labels(problem, new), PARAMS.wide))
            if low == high:
                break

    def offer_sets(self, sets: Sets, of: Ints) -> None:
        """Offer what tasks have, and what they can have beside."""
        with alarm(self.standing.clock) as rung:
            self._complete(Holding.of_sets(self.problem, sets, of, PARAMS.wide, self.standing.options.seed, rung))

    def _complete(self, held: Holding) -> None:
        assert self.climb.best is not None
        if self.problem.coupling.lower.size > self.problem.coupling.loads:  # labels beside may break shares and rows
            self.offer(*held.labels(), held.short)
        held.complete(self.problem.coupling.prices(self.climb.best.duals), whole_or_none=True)
        held.mend()
        self.offer(*held.labels(), held.short)

    def _is_plan(self, sets: Sets, of: Ints) -> bool:
        self.offer_sets(sets, of)
        return self.enough(0.0)


def most_tasks(instance: AssignmentInstance, solvers: Solvers, clock: Clock, seed: int) -> MostServed:
    """The search for most tasks, over: who is served, and how many are short at least."""
    problem = problem_of(instance)
    ceiling = float((problem.rows.cost.max(axis=0) * problem.room).sum()) or 1.0
    cheap = PARAMS.labels / ceiling
    rows = problem.rows._replace(cost=cheap * problem.rows.cost)
    coupling = replace(problem.coupling, rows=rows)
    if coupling.has_budget:
        upper = coupling.upper.copy()
        upper[-1] *= cheap
        coupling = replace(coupling, upper=upper)
    short = np.ones(problem.count.size)
    problem = replace(problem, rows=rows, coupling=coupling, constant=0.0, short=short)
    options = Options(time_limit=clock.left, seed=seed)
    standing = Standing(instance=instance, solvers=solvers, options=options, clock=clock, listener=None)
    search = MostServed(problem, standing)
    try:
        search.run()
    except KeyboardInterrupt:
        standing.interrupted = True
    return search


def _handed_out(instance: AssignmentInstance, pairs: Ints, short: Ints, clock: Clock) -> Ints:
    """What is left: first labels that workers must give, then whatever lowers errors of tasks that are short."""
    plain, left = problem_of(_plain(instance)), short
    scale = bhattacharyya_error(
        np.zeros(instance.n_tasks), np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    )
    for _ in range(PARAMS.rounds):
        held = Holding.of_labels(plain, *_labels(plain, pairs), PARAMS.wide)
        held.fill()
        have = plain.instance.collected_evidence + plain.instance.supply(_of(plain, held))
        held.spread(left, have, scale)
        bought = _of(plain, held)
        if len(bought) == len(pairs):
            break
        if clock.over:
            return bought
        pairs = _thinned(instance, bought, left)
        left = np.intersect1d(left, short_tasks(instance, pairs))
    return pairs


def _labels(problem: Problem, pairs: Ints) -> tuple[Ints, Ints]:
    """Task and class of labels that are not fixed."""
    instance = problem.instance
    new = pairs[~np.isin(instance.pair_keys(pairs), instance.pair_keys(instance.fixed))]
    return new[:, 0], problem.worker_class[new[:, 1]]


def _of(problem: Problem, held: Holding) -> Ints:
    """The pairs of what is held."""
    return problem.pairs(*held.labels(), NEVER)[0]


def _thinned(instance: AssignmentInstance, pairs: Ints, tasks: Ints) -> Ints:
    """Some tasks without labels that their errors do not need, as far as their targets go."""
    if instance.confusion is not None:
        return pairs
    groups = tuple(replace(group, min_per_task=0) for group in instance.groups)
    nothing = np.zeros(instance.n_tasks, np.int64)
    problem = problem_of(_by_errors(replace(instance, min_labels=nothing, groups=groups)))
    held = Holding.of_labels(problem, *_labels(problem, pairs), PARAMS.wide)
    target = np.maximum(instance.epsilon, most_errors(instance, pairs)) + CERTAIN
    jury = held.jury._replace(target=target, need=np.zeros(target.size), kind_of=np.arange(target.size))
    held = Holding(problem, held.terms, held.state, jury)
    held.weigh(tasks)
    held.thin(problem.rows.cost, tasks)
    return _of(problem, held)


def _cheaper(instance: AssignmentInstance, pairs: Ints, short: Ints, again: Again, clock: Clock) -> tuple[Ints, Ints]:
    """Those who are served planned anew beside the labels of the others, if that costs less."""
    served = np.setdiff1d(np.arange(instance.n_tasks), short)
    if served.size and not clock.over:
        given = pairs[np.isin(pairs[:, 0], short)]
        new = _planned(instance, served, given, lambda part: again(part, PARAMS.last * clock.left).pairs)
        found = None if new is None else _kept(instance, new)
        saves = found is not None and instance.prices(found[0]).sum() < instance.prices(pairs).sum()
        if found is not None and saves and found[1].size <= short.size:
            return found
    return pairs, short


def _planned(
    instance: AssignmentInstance, served: Ints, given: Ints, plan: Callable[[AssignmentInstance], Ints | None]
) -> Ints | None:
    """A plan for some tasks beside labels that the others are given, as labels of all; None where none was found."""
    tied = instance.own_rows is not None or any(group.has_share_limits for group in instance.groups)
    try:
        part = (_asking_nothing if tied else _without)(instance, served, given)
    except InputError:  # what the others have leaves too little for fixed pairs
        return None
    new = plan(part)
    if new is None:
        return None
    return _sorted(instance, new if tied else np.concatenate([np.column_stack([served[new[:, 0]], new[:, 1]]), given]))


def _without(instance: AssignmentInstance, served: Ints, given: Ints) -> AssignmentInstance:
    """Some tasks alone, with what labels of the others leave of time and money."""
    load, budget = np.bincount(given[:, 1], minlength=instance.n_workers), instance.budget
    return replace(
        of_tasks(instance, served),
        capacity=instance.capacity - load,
        min_load=np.maximum(0, instance.min_load - load),
        budget=None if budget is None else max(0.0, budget - float(instance.prices(given).sum())),
    )


def _asking_nothing(instance: AssignmentInstance, served: Ints, given: Ints) -> AssignmentInstance:
    """All tasks, of which only some ask for anything: the others' labels are fixed, and their prior is sure."""
    others = ~np.isin(np.arange(instance.n_tasks), served)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes)).copy()
    prior[others] = (1 - SURE) / (instance.classes - 1)
    prior[others, 0] = SURE
    fixed = np.concatenate([instance.fixed[~others[instance.fixed[:, 0]]], given])
    return replace(
        instance,
        prior=prior if instance.the_rule.heeds_prior else instance.prior,
        demand=np.where(others, 0.0, instance.demand),
        min_labels=np.where(others, 0, instance.min_labels),
        fixed=fixed,
    )


def _least_on_average(instance: AssignmentInstance, solvers: Solvers, clock: Clock) -> Ints:
    """Labels that lower the mean error most, whatever its target."""
    every = np.arange(instance.n_tasks)
    money = float((np.minimum(instance.capacity, instance.n_tasks) * instance.cost.max(axis=0)).sum())
    try:
        most = money if instance.budget is None else instance.budget
        pairs = spent_best(instance, most, solvers.solve, Options(time_limit=clock.left))
    except InputError:  # a limit that only programs keep
        return _handed_out(instance, instance.fixed, every, clock)
    return _thinned(instance, pairs, every)


def _of_every_set(instance: AssignmentInstance, solvers: Solvers, clock: Clock, seed: int) -> tuple[Ints, Ints] | None:
    """The best choice of one set for each task, where all sets are few: by three programs, one objective after another.

    ``max sum of served tasks``, then ``min sum of max(0, error - target)``, then ``min sum c z``.
    """
    if instance.confusion is not None:  # of which no exact error is known
        return None
    problem = problem_of(_by_errors(instance))
    every = problem.every_set(PARAMS.sets, in_part=True)
    if every is None:
        return None
    sets = Sets(*every[:3])
    kind = np.arange(problem.count.size)
    at, which = parts_of(
        np.searchsorted(sets.row, np.arange(problem.rows.type.size + 1)), problem.row_of, np.arange(sets.row.size)
    )
    kind = np.repeat(kind, np.diff(at))
    if which.size > PARAMS.sets:
        return None
    serves, above = _outcomes(instance, problem, sets, every[3], kind, which)
    program, first = _choice(problem, sets, kind, which)
    columns = slice(first, first + which.size)
    unserved, excess, price = np.zeros((3, program.cost.size))
    unserved[columns], excess[columns], price[columns] = ~serves, above, program.cost[columns]
    times = None
    for number, (cost, room) in enumerate(((unserved, 0.5), (excess, SAME), (price, 0.0))):
        options = Options(time_limit=clock.left, seed=seed)
        solution = solvers.solve(replace(program, cost=cost), BRANCHING, options)
        if solution.primal is None or not certify(solution).is_feasible():
            break
        times = np.rint(solution.primal[columns]).astype(np.int64)
        program = program.with_rows(
            f"stage {number}", (1,), cost[None, :], -np.inf, float(cost[columns] @ times) + room
        )
    if times is None:
        return None
    task = np.argsort(problem.kind_of, kind="stable")  # kinds ascend, and so do the columns
    chosen = sets.some(np.repeat(which, times))
    pairs, lost = problem.pairs(task[chosen.owner], chosen.label, NEVER)
    return None if lost.size else _kept(instance, pairs)


def _outcomes(
    instance: AssignmentInstance, problem: Problem, sets: Sets, whole: Bools, kind: Ints, which: Ints
) -> tuple[Bools, Floats]:
    """Whether sets serve kinds, and by how much errors are above their targets where they do not, (columns,)."""
    assert problem.votes is not None
    first = np.unique(problem.kind_of, return_index=True)[1]  # a task of each kind
    pairs = problem.votes.with_held(sets.row, sets.owner, sets.label)
    error = errors_of_sets(instance, problem.votes.task[sets.row], pairs)[which]
    type_of = instance.task_type[problem.votes.task[sets.row]]
    worth = np.bincount(
        sets.owner, instance.evidence[type_of[sets.owner], problem.votes.worker[sets.label]], sets.row.size
    )
    need = (instance.residual_need - instance.supply(instance.fixed))[first]
    serves = whole[which] & (worth[which] >= need[kind] - COVERAGE)
    if instance.the_rule.checked:
        serves &= error <= instance.epsilon[first][kind] + CERTAIN
    return serves, np.where(serves, 0.0, np.maximum(0.0, error - instance.epsilon[first][kind]))


def _choice(problem: Problem, sets: Sets, kind: Ints, which: Ints) -> tuple[Program, int]:
    """One set for each task, all that ties tasks kept; the place of the first set's column."""
    coupling, count = problem.coupling, problem.count
    mine = sets.some(which)
    type_of = problem.rows.type[mine.row[mine.owner]]
    own = sparse.csc_array((np.ones(which.size), (kind, np.arange(which.size))), shape=(count.size, which.size))
    matrix = sparse.csc_array(sparse.vstack([own, coupling.use(type_of, mine.label, mine.owner, which.size)]))
    none = np.zeros(coupling.lower.size)
    cost = np.bincount(mine.owner, problem.rows.cost[type_of, mine.label], which.size).astype(np.float64)
    program = masters.of_sets((coupling.lower, coupling.upper), count, cost, matrix, 0.0, (none, none))
    first = masters.before_sets(count.size, none.size)
    upper, whole = np.append(np.zeros(first), count[kind].astype(np.float64)), np.arange(program.cost.size) >= first
    row_upper = program.row_upper.copy()
    row_upper[program.row("task").span] = count
    return replace(program, upper=upper, integer=whole, row_upper=row_upper), first
