"""The exact method under limits of groups: the LP over classes proves the bound, sets of labels make the plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.direct import JOINT, solve_full
from crowdopt.assign.grouped.grouped_knapsack import FREE, GroupedTask
from crowdopt.assign.grouped.set_generation import SetGeneration
from crowdopt.assign.plan import Duals, Plan, breaches
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import PROVEN, Certificate, certify, next_integer, pulling_sides, relative_gap
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, Listener, Options
from crowdopt.crowd.classes import Classes, classes_of, firsts
from crowdopt.crowd.group_limits import labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import aggregated
from crowdopt.programs.assignment import has_label_limits, shares_of
from crowdopt.programs.group_sets import MasterRows

KINDS = 60  # classes of tasks at most: each is priced by a knapsack of its own in every round
SMALL = 4_000  # pairs up to which the whole program is searched from the start
SEARCHED = 40_000  # pairs up to which it is searched after the sets, from their plan
PART = 0.6  # of the time, for the sets where a search follows


def knows(instance: AssignmentInstance) -> bool:
    """Whether sets of labels can be priced under the instance's limits: groups that are apart, and shares.

    Not with rows of one's own, which tell pairs apart, nor with limits on all labels of a task, fixed pairs or a
    budget. Small instances are for the search of the whole program.
    """
    if instance.own_rows is not None or instance.budget is not None or instance.fixed.size or instance.the_rule.checked:
        return False
    limited = membership(instance)[task_limits(instance)[0]]
    apart = bool((limited.sum(axis=0) <= 1).all())
    return apart and not has_label_limits(instance) and instance.n_tasks * instance.n_workers > SMALL


def solve_grouped(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan | None:
    """The plan; None where there are too many kinds of tasks to price each.

    The LP over classes (crowdopt.programs.aggregated, the rows of groups and shares among its own) has the optimum of
    the whole program's LP, and its multipliers certify the bound. The plan is column generation's: sets of labels
    that keep need and groups are priced by a grouped knapsack, and given to whole numbers of tasks.

    Parameters
    ----------
    instance : AssignmentInstance
        One that :func:`knows`.
    solvers : Solvers
    options : Options
    listener : callable, optional

    Returns
    -------
    Plan or None
    """
    clock = Clock(options.time_limit)
    classes = classes_of(instance, joint=True)
    if classes.tasks_in.size > KINDS:
        return None
    program = aggregated.of_classes(classes)
    solution = solvers.solve(program, BY_SIZE, replace(options, time_limit=clock.left))
    known = certify(solution)
    known = Certificate(None, known.bound, known.proof, None, None)
    if known.proof == "certificate" and (classes.cost == np.rint(classes.cost)).all():
        known = replace(known, bound=next_integer(known.bound))
    certified = known.bound if known.proof == "certificate" else -np.inf
    duals = None if solution.dual is None else _duals(classes, program, solution.dual)
    search = instance.n_tasks * instance.n_workers <= SEARCHED
    pairs = None
    if solution.dual is not None and np.isfinite(known.bound) and not solution.interrupted:
        rows = _rows(instance, classes)
        generation = SetGeneration(
            classes,
            _tasks(instance, classes),
            rows,
            known.bound,
            solvers.make_master,
            clock.part(PART) if search else clock,
        )
        chosen = generation.plan(_first_prices(program, solution.dual, rows))
        pairs = None if chosen is None else dealt(classes, chosen)
        pairs = None if pairs is None or breaches(instance, pairs) else pairs
    plan = Plan.of(
        instance,
        "ip",
        known,
        certified,
        duals,
        pairs,
        method="exact",
        backend=solvers.backend,
        seed=options.seed,
        interrupted=solution.interrupted,
    )
    value = np.inf if plan.objective is None else plan.objective
    done = relative_gap(value, known.bound) <= max(PROVEN, options.gap) if np.isfinite(value) else False
    if not search or done or clock.over or not np.isfinite(known.bound) or solution.interrupted:
        return plan
    left = replace(options, time_limit=clock.left)
    return solve_full(instance, "ip", solvers.solve, solvers.backend, left, listener, head=plan)


def _tasks(instance: AssignmentInstance, classes: Classes) -> list[GroupedTask]:
    """One task of each class; workers of no group with limits per task are a last group without a most."""
    limited, fewest, most = task_limits(instance)
    worker, task = firsts(classes.worker_class), firsts(classes.task_class)
    member = membership(instance)[limited][:, worker]
    group = np.where(member.any(axis=0), member.argmax(axis=0) if limited else 0, len(limited))
    tops = np.vstack([np.where(most[:, task] == UNBOUNDED, FREE, most[:, task]), np.full(task.size, FREE)])
    lows = np.vstack([fewest[:, task], np.zeros(task.size, np.int64)])
    copies = np.where(classes.capacity > 0, classes.room, 0)
    return [
        GroupedTask(classes.evidence[k], copies[k], group, lows[:, k], tops[:, k], float(classes.floor[k]))
        for k in range(task.size)
    ]


def _rows(instance: AssignmentInstance, classes: Classes) -> MasterRows:
    """Capacities (with least loads), then shares, as in the LP over classes."""
    s, worker = classes.workers_in, firsts(classes.worker_class)
    load = (s * classes.min_load).astype(np.float64)
    weight = [np.eye(s.size)]
    lower, upper = [np.where(load > 0, load, -np.inf)], [(s * classes.capacity).astype(np.float64)]
    member = membership(instance)[:, worker].astype(np.float64)
    for name, share, bound in shares_of(instance):
        side = share * len(instance.collected) - [labels_had(instance, h).sum() for h in bound]
        weight.append(member[bound] - share[:, None])
        lower.append(np.full(len(bound), -np.inf) if name == "most_share" else side)
        upper.append(side if name == "most_share" else np.full(len(bound), np.inf))
    return MasterRows(np.vstack(weight), np.concatenate(lower), np.concatenate(upper))


def _first_prices(program: Program, dual: Floats, rows: MasterRows) -> Floats:
    names = [block.name for block in program.rows]
    parts = [program.row(name).view(dual) for name in ("capacity", "most_share", "least_share") if name in names]
    prices: Floats = np.concatenate(parts)
    assert prices.size == rows.lower.size
    return prices


def _duals(classes: Classes, program: Program, multipliers: Floats) -> Duals:
    """The full program's multipliers: each class's for each of its members."""
    pulls = pulling_sides(program, multipliers)
    rows = {block.name: block.view(pulls) for block in program.rows}
    task, worker = classes.task_class, classes.worker_class
    joint = {name: rows[name].copy() for name in JOINT if name in rows}
    if "group" in joint:
        joint["group"] = np.ascontiguousarray(joint["group"][:, task])
    return Duals(rows["cover"][task], rows["capacity"][worker], np.zeros(task.size), 0.0, joint=joint)


def dealt(classes: Classes, chosen: list[tuple[int, Ints]]) -> Ints:
    """Whole labels: each task of a class takes the next set of its class, each set the next workers of a class in turn.

    A class of s workers that gives T labels in all, at most s to a task, gives each worker at most ceil(T / s).

    Parameters
    ----------
    classes : Classes
    chosen : list of (int, (G,) array)
        As many of each class as it has tasks.

    Returns
    -------
    (k, 2) int
        Task and worker of each label, sorted.
    """
    tasks = [iter(np.flatnonzero(classes.task_class == k).tolist()) for k in range(classes.tasks_in.size)]
    members = [np.flatnonzero(classes.worker_class == g) for g in range(classes.workers_in.size)]
    turn, pairs = np.zeros(len(members), np.int64), []
    for kind, count in chosen:
        task = next(tasks[kind])
        for g in np.flatnonzero(count).tolist():
            for _ in range(int(count[g])):
                pairs.append((task, int(members[g][turn[g] % members[g].size])))
                turn[g] += 1
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)
