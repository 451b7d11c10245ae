"""The cheapest adaptive plan of an instance: the program solved, its policy walked, its bound recomputed.

Where many workers differ in skill, orders of asking dealt to tasks, and their bound. Beside it what a belief about
dependence costs, and the targets with which a policy's next round is solved, given the votes so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import GOLDEN, AdaptivePlan, PolicyRow, by_place, dealt, row_at
from crowdopt.assign.cascade.panels import (
    ManyStates,
    Panel,
    SkillPanel,
    VotePanel,
    blank_plan,
    joint_laws,
    skill_panel,
    vote_panel,
)
from crowdopt.assign.cascade.policy import ENTRIES, Cascade, first_asked, first_round, walked
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BRANCHING, BY_SIZE, Listener, Options, Solution, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import ANSWER, ASK, EXPERT, AskingOrder, OrderShare
from crowdopt.crowd.law import NONE, Law
from crowdopt.errors import InputError
from crowdopt.programs.cascade import least_excess

NOISE = 1e-9  # of the tasks of a start, relative: what a solver leaves where it means 0


def cheapest_orders(
    panel: SkillPanel, expert: float | None, solvers: Solvers, options: Options, *, strict: bool = False
) -> AdaptivePlan:
    """``min expected cost`` over mixtures of orders, against a bound on every adaptive plan.

    expert: price of an answer that is right; strict: whether there is a plan for these targets or none; else, where
    none is found, one whose errors are a multiple of all targets.
    """
    from crowdopt.assign.cascade.orders import STEP, OrderGeneration  # its loops are compiled

    none = blank_plan(panel, Status.UNDECIDED, options.seed, expert=expert)
    search = OrderGeneration(panel, expert, solvers.make_master, options.seed)
    found = search.run(Clock(options.time_limit))
    if found is None or (strict and search.times > 1):
        return none
    every, starts = search.master.columns, panel.starts
    tasks = _without_noise(panel, found, np.array([one.start for one in every]))
    kept = np.flatnonzero(tasks)
    columns, tasks = [every[k] for k in kept.tolist()], tasks[kept]
    kind, start = np.array([starts[one.start].kind for one in columns]), np.array([one.start for one in columns])
    loads, orders = np.zeros(panel.instance.n_workers), []
    for one, count in zip(columns, tasks.tolist(), strict=True):
        here = starts[one.start]
        loads[list(one.order.workers)] += count * one.asked
        orders.append(OrderShare(here.kind, here.votes, one.order, count / here.tasks.size, count))
    rng, order_of = np.random.default_rng(options.seed), np.empty(panel.instance.n_tasks, np.int64)
    for number, begin in enumerate(starts):
        mine = np.flatnonzero(start == number)
        for task, k in dealt(tasks[mine].tolist(), begin.tasks, rng):
            order_of[task] = mine[k]
    wrong, by_expert = ([getattr(one, what) for one in columns] for what in ("wrong", "expert"))
    plan = replace(
        none,
        status=Status.FEASIBLE if search.times == 1 else Status.UNDECIDED,
        objective=sum(count * one.cost for one, count in zip(columns, tasks.tolist(), strict=True)),
        bound=search.bound,
        proof_of=search.best,
        loads=loads,
        errors=np.bincount(kind, weights=tasks * wrong, minlength=panel.first.size) / panel.tasks_in,
        to_expert=np.bincount(kind, weights=tasks * by_expert, minlength=panel.first.size) / panel.tasks_in,
        times=search.times,
        orders=tuple(orders),
        order_of=order_of,
        pairs=first_asked(orders, order_of, panel.instance.capacity),
        step=STEP,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _without_noise(panel: SkillPanel, amounts: Floats, start: Floats) -> Floats:
    """How many tasks follow each order: all of each start's, without a solver's noise."""
    count = np.array([float(one.tasks.size) for one in panel.starts])
    real = np.where(amounts > NOISE * count[start], amounts, 0.0)
    return np.asarray(real * (count / np.bincount(start, weights=real, minlength=count.size))[start])


TINY = 1e-300
GROWING = 0.8  # of the time, for more and more askers
SOON = 20_000  # entries of a program that is solved at once
SPARE = 1e-9  # relative; above the least multiple of the targets, so that the next solve finds a plan


def cheapest_policy(
    instance: AssignmentInstance,
    labels: Ints | None,
    solvers: Solvers,
    options: Options,
    *,
    rounds: int | None = None,
    expert: float | None = None,
    given_votes: bool = False,
    class_error: tuple[float, ...] = (),
    each_task: bool = False,
    listener: Listener | None = None,
    strict: bool = False,
) -> AdaptivePlan:
    """``min expected cost`` over all policies that keep errors, capacities and money in expectation.

    labels (collected,): the class that each label already in says; solvers: of linear programs; rounds: sets of votes
    that are asked for at once, at most so many; expert: price of an answer that is right; given_votes: whether each
    answer's error given its votes keeps its target, not only the mean over votes; class_error: by true class, the share
    that may be answered otherwise, infinity where that is not limited; each_task: of one round, whether whole tasks get
    sets each of which keeps the target, against the bound of the relaxation; strict: whether there is a plan for
    these targets or none; else, where they are out of reach, the plan whose errors are the least multiple of all of
    them.
    """
    if each_task and instance.the_rule.average:
        raise InputError(
            f"each_task is about targets of tasks, and rule {instance.rule} is about their mean; leave it out"
        )

    def with_askers(most: int | None) -> Cascade:
        panel = vote_panel(instance, labels, most)
        return Cascade(panel, expert, rounds, 1.0, given_votes, class_error, each_task)

    def by_orders() -> AdaptivePlan:

        left = clock.within(options, None)
        return cheapest_orders(skill_panel(instance, labels), expert, solvers, left, strict=strict)

    clock = Clock(options.time_limit)
    in_order = rounds is None and not (given_votes or class_error or each_task) and instance.classes == 2
    try:
        whole = cascade = with_askers(None)
    except ManyStates:
        if not in_order:
            raise
        return by_orders()
    if whole.most_entries > SOON:
        best, cascade = _by_askers(whole, with_askers, solvers.solve, options, clock.part(GROWING))
        if best is not None:
            return best
        if in_order:
            return by_orders()
    return _at_once(cascade, whole, solvers.solve, options, clock, listener, strict)


def _at_once(
    cascade: Cascade,
    whole: Cascade,
    solve: Solve,
    options: Options,
    clock: Clock,
    listener: Listener | None,
    strict: bool,
) -> AdaptivePlan:
    """The plan of one program; where targets are out of reach that of their least multiple. whole: all askers'."""
    found = solve(cascade.relaxed, BY_SIZE, clock.within(options, None), listener)
    none = _none(cascade, Status.INFEASIBLE if cascade is whole else Status.UNDECIDED, options)
    if found.status is not Status.INFEASIBLE or not certify(found).proves_infeasible():
        plan = _policy(cascade, found, solve, clock.within(options, None))
        if plan.objective is not None or not cascade.each_task:
            return plan
        none = plan  # shares of tasks keep the targets, and no whole ones were found
    times = None if strict else least_times(cascade, solve, options)
    if times is None:
        return none
    wider = replace(cascade, times=times * (1 + SPARE))
    best = _policy(wider, solve(wider.relaxed, BY_SIZE, options), solve, options)
    if best.objective is None or best.proof_of is None:
        return none
    if cascade is not whole:
        best = replace(best, bound=replace(_loose(whole), times=wider.times).bound(best.proof_of))
    return replace(best, status=none.status)


def _by_askers(
    whole: Cascade, with_askers: Callable[[int | None], Cascade], solve: Solve, options: Options, clock: Clock
) -> tuple[AdaptivePlan | None, Cascade]:
    """The cheapest plan found that asks only some askers, more and more of them while there is time; None without one.

    Its bound is the whole's: multipliers of any part price all askers. -> and the first part.
    """
    askers, best = len(whole.panel.workers), None
    soon = next((most for most in range(1, askers) if with_askers(most + 1).most_entries > SOON), askers)
    first = whole if soon == askers else with_askers(soon)
    for most in range(soon, askers + 1):
        if most > soon and clock.over:
            break
        part, left = first if most == soon else with_askers(most), clock.within(options, None)
        try:
            plan = _policy(part, solve(part.relaxed, BY_SIZE, left), solve, left)
        except ManyStates:
            break
        if plan.proof_of is not None:
            plan = replace(plan, bound=_loose(whole).bound(plan.proof_of))
            best = plan if best is None else _better(best, plan)
        if plan.interrupted or (best is not None and best.gap <= options.gap):
            break
    if best is not None:
        best = replace(best, status=Status.OPTIMAL if best.proven else Status.FEASIBLE)
    return best, first


def _loose(whole: Cascade) -> Cascade:
    """What no plan of the whole costs less than: where rounds have too many sets, votes one by one."""
    return whole if whole.most_entries <= ENTRIES else replace(whole, rounds=None, each_task=False)


def _better(plan: AdaptivePlan, other: AdaptivePlan) -> AdaptivePlan:
    """The cheaper of two plans under the higher of their bounds."""
    higher = max(plan, other, key=lambda one: one.bound)
    cheaper = min(plan, other, key=lambda one: np.inf if one.objective is None else one.objective)
    return replace(cheaper, bound=higher.bound, proof_of=higher.proof_of, interrupted=other.interrupted)


def least_times(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The least multiple of all targets that a plan keeps, where these are out of reach; None where none is found."""
    if cascade.given_votes or cascade.each_task:
        return _least_limit(cascade, solve, options)
    excess = solve(least_excess(cascade.program, cascade.sides), BY_SIZE, options)
    if excess.status is not Status.OPTIMAL or excess.primal is None:
        return None
    return 1 + float(excess.primal[-1])


def _least_limit(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The same of limits of an answer or a set: a multiple matters where it allows one more, so these are halved."""
    panel = cascade.panel
    errors = panel.error / panel.epsilon[panel.of_kind]
    every = [errors[panel.start > 0] if cascade.each_task else errors]
    for kind, votes, may in replace(cascade, each_task=False).sets if cascade.each_task else ():
        if (where := may[panel.start[may] > 0]).size:
            every.append(cascade.set_errors(votes, where) / panel.epsilon[kind])
    steps = np.unique(np.concatenate(every))
    steps = steps[steps > 1]
    low, high, backend = 0, steps.size, BRANCHING if cascade.each_task else BY_SIZE
    while low < high:
        middle = (low + high) // 2
        found = solve(replace(cascade, times=float(steps[middle])).program, backend, options)
        low, high = (low, middle) if found.primal is not None else (middle + 1, high)
    return float(steps[low]) if low < steps.size else None


def _policy(cascade: Cascade, found: Solution, solve: Solve, options: Options) -> AdaptivePlan:
    """The plan of a solution of the relaxation, where it is one, of whole tasks where that is asked for."""
    whole = solve(cascade.program, BRANCHING, options) if cascade.each_task else found
    none = _none(cascade, Status.UNDECIDED, options)
    none = replace(none, interrupted=found.interrupted or whole.interrupted)
    if found.status is not Status.OPTIMAL or whole.primal is None or found.dual is None:
        return none
    panel, program = cascade.panel, cascade.program
    dual = {block.name: block.view(found.dual) for block in program.rows}
    budget = float(dual["budget"][0]) if "budget" in dual else 0.0
    proof = panel.proof(-dual["error"][panel.error_rows], dual["capacity"], budget, dual.get("limit", 0.0))
    if cascade.sides.of_class is not None:
        classes = np.zeros(len(cascade.class_error))
        classes[cascade.sides.of_class[0]] = np.maximum(0.0, -dual["class_error"]) + 0.0
        proof = replace(proof, classes=tuple(classes.tolist()))
    walk = walked(cascade, np.where(program.integer, np.rint(whole.primal), whole.primal))
    plan = replace(
        none,
        status=Status.FEASIBLE,
        rows=tuple(walk.rows),
        objective=walk.cost,
        bound=cascade.bound(proof),
        proof_of=proof,
        loads=walk.loads,
        errors=walk.wrong / panel.tasks_in,
        to_expert=walk.expert / panel.tasks_in,
        pairs=first_round(panel, walk.rows, options.seed),
        missed=tuple((walk.missed / np.maximum(panel.of_class, TINY)).tolist()) if cascade.class_error else (),
        times=cascade.times,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _none(cascade: Cascade, status: Status, options: Options) -> AdaptivePlan:
    """No plan; INFEASIBLE is proven by the solver's ray."""
    names = "rounds", "expert", "given_votes", "class_error", "each_task"
    terms = {name: getattr(cascade, name) for name in names}
    return blank_plan(cascade.panel, status, options.seed, **terms)


@dataclass(frozen=True)
class LawPrice:
    """The cheapest adaptive plan by a law."""

    name: str
    promised: float  # cost that it expects
    cost: float  # cost that it comes to under the law that is true
    times: float  # largest error over its target, of all types, that it promises
    errs: float  # the same under the law that is true


def with_law(instance: AssignmentInstance, law: Law) -> AssignmentInstance:
    """The instance whose votes follow a law and nothing else."""
    return replace(instance, vote_law=law, difficulty=NONE)


def law_price(true: Cascade, law: Law, solve: Solve, options: Options) -> LawPrice | None:
    """Plan as if this law held, and follow the plan under the law of ``true``; None where the solver fails.

    true: of tasks without labels.

    Where the law's own plan cannot keep the targets it is the one of the least multiple of all of them.
    """
    panel, other = true.panel, with_law(true.panel.instance, law)
    joint = joint_laws(other, panel.first, panel.one, panel.states)
    believed = replace(true, panel=replace(panel, joint=joint))
    found = solve(believed.program, BY_SIZE, options)
    if found.status is Status.INFEASIBLE:
        times = least_times(believed, solve, options)
        if times is None:
            return None
        believed = replace(believed, times=times * (1 + SPARE))
        found = solve(believed.program, BY_SIZE, options)
    if found.status is not Status.OPTIMAL or found.primal is None:
        return None
    allowed = panel.epsilon * panel.tasks_in
    own, followed = walked(believed, found.primal), walked(believed, found.primal, panel)
    errors = (float((walk.wrong / allowed).max()) for walk in (own, followed))
    return LawPrice(law.name, own.cost, followed.cost, *errors)


LEAST, MOST = 1e-9, 0.49  # a target lies between 0 and 1/2


def onward_targets(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None) -> tuple[Floats, Floats]:
    """Expected error of the policy from where tasks stand now.

    The mean of each kind, (tasks,); and of each true class, (classes,), the share that is answered otherwise.

    The promise of an adaptive plan is about errors before votes are seen. Given votes its expected error moves, up as
    often as down in the mean; to ask for the first target again would promise more than was asked for, or what no vote
    can keep. Solved with these targets each round keeps the promise of the one before. A task with votes that the
    policy does not come to, because labels were lost, keeps its target.
    """
    here, classes = by_place(rows), np.arange(int(panel.instance.classes))

    @cache
    def missed(over: int, state: int) -> Floats:
        total, place = np.zeros(classes.size), (int(panel.of_kind[state]), over, panel.votes(state))
        if place not in here:
            raise InputError("policy.csv has no row for votes that its tasks come to; solve the campaign again")
        for row in here[place]:
            if row.action == ANSWER:
                total += row.share * np.where(classes == row.what[0], 0.0, panel.belief[state])
            elif row.action != EXPERT:
                reached, chances = panel.ahead(row.what, np.array([state]))
                for after, chance in zip(reached[0].tolist(), chances[0].tolist(), strict=True):
                    if chance > 0:
                        total += row.share * chance * missed(over + (rounds is not None), after)
        return total

    expected, of_class = panel.instance.epsilon.copy(), np.zeros(classes.size)
    for state, (over, _) in _now(panel, rows, rounds).items():
        wrong, mine = missed(over, state), panel.standing == state
        expected[mine] = wrong.sum()
        of_class += wrong * mine.sum()
    return _targets(panel, expected), np.clip(of_class / np.maximum(panel.of_class, LEAST), LEAST, 1.0)


def onward_orders(panel: SkillPanel, orders: Sequence[AskingOrder], order_of: Ints) -> tuple[Floats, bool]:
    """The same of orders, (tasks,); and whether any asks on.

    panel: with all labels in; order_of (tasks,): the order dealt to each task. An order counts its own workers' labels;
    the chances of the classes go by all.
    """
    from crowdopt.assign.cascade.orders import expected  # its loops are compiled

    wrong, asks = np.empty(panel.instance.n_tasks), False
    for start in panel.starts:
        labels = {worker: label for worker, label, _ in start.votes}
        for number in np.unique(order_of[start.tasks]).tolist():
            order, mine = orders[number], start.tasks[order_of[start.tasks] == number]
            wrong[mine] = expected(panel, start.kind, order, start.law, order.heard(labels))[1]
            asks |= order.turn(labels)[0] == ASK
    return _targets(panel, wrong), asks


def _targets(panel: Panel, error: Floats) -> Floats:
    """The mean error of each kind, within what a target can be, (tasks,)."""
    mean = np.bincount(panel.kind, weights=error) / panel.tasks_in
    return np.asarray(np.clip(mean, LEAST, MOST)[panel.kind])


def policy_answers(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None, likeliest: Ints, seed: int) -> Ints:
    """The class that the policy answers each task with where it stands, the likeliest where it does not, (tasks,).

    Limits by true class may ask for another class than the likeliest, and for a lot between two: tasks that stand alike
    take them in turn, as those of ``AdaptivePlan.next``.
    """
    now, answer, before = _now(panel, rows, rounds), likeliest.copy(), Counter[int]()
    for i, state in enumerate(panel.standing.tolist()):
        if ends := [row for row in now.get(state, (0, []))[1] if row.action == ANSWER]:
            before[state] += 1
            kind = int(panel.of_kind[state])
            offset = np.random.default_rng([seed, kind, state - int(panel.ends[kind])]).random()
            answer[i] = row_at(ends, (offset + before[state] * GOLDEN) % 1.0).what[0]
    return answer


def asks_more(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None) -> bool:
    """Whether the policy asks anything where tasks stand now, or tasks have votes that it does not come to."""
    now = _now(panel, rows, rounds)
    lost = any(state not in now for state in panel.standing.tolist())
    return lost or any(row.action == ASK for _, some in now.values() for row in some)


def _now(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None) -> dict[int, tuple[int, list[PolicyRow]]]:
    """Of each state in which tasks stand: after which round, once the first is over, the policy has it; its rows there.

    Without states that it does not come to.
    """
    here, found = by_place(rows), {}
    for state in np.unique(panel.standing).tolist():
        kind, votes = int(panel.of_kind[state]), panel.votes(state)
        for over in (0,) if rounds is None else (0, 1):  # the later one counts
            if (kind, over, votes) in here:
                found[state] = over, here[kind, over, votes]
    return found
