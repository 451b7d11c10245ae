"""Data for models/assignment.mod and models/assignment_dual.mod: a campaign as GNU MathProg reads it."""

from __future__ import annotations

import numpy as np

from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.errors import InputError
from crowdopt.io.programs.mathprog_text import section, set_of, symbol, table, vector

RULES = ("hoeffding", "bhattacharyya")  # that the models know


def data_section(instance: AssignmentInstance, dual: bool = False) -> str:
    """The data section: ``glpsol -m assignment.mod -d FILE``. Parameters at their defaults are left out.

    Of a rule that is no linear constraint the one that implies it; a comment says so.

    dual: for assignment_dual.mod, which knows no fixed pairs, label limits, least loads, budget, groups or own rows.
    Raises InputError if the model does not know the rule, priors, observed labels or (the dual) a limit; if an id is
    too long.
    """
    about, instance = f"# by {named_rule(instance)}", linear_of(instance)
    _refuse(instance, dual)
    tasks = [symbol(instance.task_id(i)) for i in range(instance.n_tasks)]
    workers = [symbol(instance.worker_id(j)) for j in range(instance.n_workers)]
    types = [symbol(instance.type_id(k)) for k in range(instance.n_types)]
    lines = [about, set_of("TASKS", tasks), set_of("WORKERS", workers), set_of("TYPES", types), ""]
    lines += [f"param rule := {instance.rule};"] * (instance.rule != RULES[0])
    lines += [f"param L := {instance.classes};"] * (instance.classes != 2)
    lines += [
        vector("tau", tasks, [types[k] for k in instance.task_type]),
        vector("epsilon", tasks, instance.epsilon),
    ]
    lines += [vector("M", workers, instance.capacity), table("p", types, workers, instance.accuracy)]
    if (instance.cost != 1).any():
        lines.append(table("c", types, workers, instance.cost))
    if (instance.demand != 1).any():
        lines.append(vector("share", tasks, instance.demand))
    for name in ("forbidden", "collected") if dual else ("forbidden", "collected", "fixed"):
        pairs = [f"({tasks[i]},{workers[j]})" for i, j in getattr(instance, name).tolist()]
        lines += [set_of(name.upper(), pairs)] * bool(pairs)
    return section([*lines, *([] if dual else _limits(instance, tasks, workers))])


def _limits(instance: AssignmentInstance, tasks: list[str], workers: list[str]) -> list[str]:
    lines = []
    for name, keys, values, unset in (
        ("fewest", tasks, instance.min_labels, 0),
        ("most", tasks, instance.max_labels, UNLIMITED),
        ("load", workers, instance.min_load, 0),
    ):
        there = np.flatnonzero(values != unset)
        lines += [vector(name, [keys[k] for k in there], values[there])] * bool(there.size)
    lines += [] if instance.budget is None else [f"param budget_limit := {float(instance.budget)!r};"]
    return [*lines, *_groups(instance, workers), *_own(instance, tasks, workers)]


def _groups(instance: AssignmentInstance, workers: list[str]) -> list[str]:
    groups = instance.groups
    names = [symbol(group.name) for group in groups]
    lines = [set_of("GROUPS", names)] * bool(names)
    lines += [set_of(f"OF[{name}]", [workers[j] for j in one.members]) for name, one in zip(names, groups, strict=True)]
    for name, values, usual in (
        ("least_of", [group.min_per_task for group in groups], 0),
        ("most_of", [group.max_per_task for group in groups], None),
        ("least_share", [group.min_share for group in groups], 0),
        ("most_share", [group.max_share for group in groups], 1),
        ("dependent", [int(group.dependent) for group in groups], 0),
    ):
        there = [k for k, value in enumerate(values) if value != usual]
        lines += [vector(name, [names[k] for k in there], [values[k] for k in there])] * bool(there)
    return lines


def _own(instance: AssignmentInstance, tasks: list[str], workers: list[str]) -> list[str]:
    rows = instance.own_rows
    if rows is None:
        return []
    names = [symbol(name) for name in rows.names]
    entries: dict[tuple[int, int, int], float] = {}
    for k, (i, j), value in zip(rows.row.tolist(), rows.pairs.tolist(), rows.coefficient.tolist(), strict=True):
        entries[k, i, j] = entries.get((k, i, j), 0.0) + value
    keys = [f"[{names[k]},{tasks[i]},{workers[j]}]" for k, i, j in entries]
    lines = [set_of("OWN", names)] + [vector("own_entry", keys, entries.values())] * bool(keys)
    for name, side in (("own_lower", rows.lower), ("own_upper", rows.upper)):
        there = np.flatnonzero(np.isfinite(side)).tolist()
        lines += [vector(name, [names[k] for k in there], side[there])] * bool(there)
    return lines


def _refuse(instance: AssignmentInstance, dual: bool) -> None:
    if instance.rule not in RULES or instance.has_prior or instance.observed:
        raise InputError(
            f"the models know the rules {' and '.join(RULES)}, equal priors and labels already in without their answers"
        )
    limits = [
        instance.fixed.size,
        (instance.min_labels > 0).any(),
        (instance.max_labels < UNLIMITED).any(),
        (instance.min_load > 0).any(),
        instance.budget is not None,
        has_joint_limits(instance),
    ]
    if dual and any(limits):
        raise InputError("the paper's dual knows no fixed pairs, label limits, least loads, budget, groups or own rows")
