"""Data for models/assignment.mod, assignment_dual.mod and selection.mod, as GNU MathProg reads them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance

RULES = ("hoeffding", "bhattacharyya")  # that the models know
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
LONGEST = 100  # characters of a symbol that GLPK takes
ONE = [""]  # the key of a parameter that is a single number


def assignment_data(instance: AssignmentInstance, dual: bool = False) -> str:
    """The data section: ``glpsol -m assignment.mod -d FILE``. What is at its default is left out.

    Of a rule that is no linear constraint the one that implies it; a comment says so.

    dual: for assignment_dual.mod, which knows no fixed pairs, label limits, least loads, budget, groups or own rows.
    Raises InputError if the model does not know the rule, priors, observed labels or (the dual) a limit; if an id is
    too long.
    """
    about, instance = f"# by {named_rule(instance)}", linear_of(instance)
    if instance.rule not in RULES or instance.has_prior or instance.observed:
        raise InputError(f"the models know {', '.join(RULES)}, equal priors, labels already in without their answers")
    tasks = [_symbol(instance.task_id(i)) for i in range(instance.n_tasks)]
    workers = [_symbol(instance.worker_id(j)) for j in range(instance.n_workers)]
    types = [_symbol(instance.type_id(k)) for k in range(instance.n_types)]
    skills = [f"{kind} {worker}" for kind, worker in product(types, workers)]
    forbidden, collected, fixed = (
        _set(name.upper(), [f"({tasks[i]},{workers[j]})" for i, j in getattr(instance, name).tolist()])
        for name in ("forbidden", "collected", "fixed")
    )
    lines = [about, _set("TASKS", tasks), _set("WORKERS", workers), _set("TYPES", types), forbidden, collected]
    lines += [_param("rule", ONE, [instance.rule], RULES[0]), _param("L", ONE, [instance.classes], 2)]
    lines += [_param("tau", tasks, [types[k] for k in instance.task_type]), _param("epsilon", tasks, instance.epsilon)]
    lines += [_param("M", workers, instance.capacity), _param("share", tasks, instance.demand, 1)]
    lines += [_param("p", skills, instance.accuracy.reshape(-1)), _param("c", skills, instance.cost.reshape(-1), 1)]
    limits = [fixed, _param("budget_limit", ONE, [instance.budget], None), *_joint_limits(instance, tasks, workers)]
    limits += [_param("fewest", tasks, instance.min_labels, 0), _param("most", tasks, instance.max_labels, UNLIMITED)]
    limits += [_param("load", workers, instance.min_load, 0)]
    if dual and any(limits):
        raise InputError("the paper's dual knows no fixed pairs, label limits, least loads, budget, groups or own rows")
    return _section(lines + limits)


def _joint_limits(instance: AssignmentInstance, tasks: list[str], workers: list[str]) -> list[str]:
    groups, own = [group for group in instance.groups if group.has_limits], instance.own_rows
    names = [_symbol(group.name) for group in groups]
    lines = [_set("GROUPS", names)]
    lines += [_set(f"OF[{name}]", [workers[j] for j in one.members]) for name, one in zip(names, groups, strict=True)]
    lines += [_param("least_of", names, [group.min_per_task for group in groups], 0)]
    lines += [_param("most_of", names, [group.max_per_task for group in groups], None)]
    lines += [_param("least_share", names, [group.min_share for group in groups], 0)]
    lines += [_param("most_share", names, [group.max_share for group in groups], 1)]
    lines += [_param("dependent", names, [group.dependent for group in groups], False)]
    if own is not None:
        rows, entries = [_symbol(name) for name in own.names], defaultdict[str, float](float)
        for r, (i, j), value in zip(own.row.tolist(), own.pairs.tolist(), own.coefficient.tolist(), strict=True):
            entries[f"{rows[r]} {tasks[i]} {workers[j]}"] += value
        lines += [_set("OWN", rows), _param("own_entry", list(entries), entries.values())]
        lines += [_param("own_lower", rows, own.lower, -np.inf), _param("own_upper", rows, own.upper, np.inf)]
    return lines


def selection_data(instance: SelectionInstance) -> str:
    """The data section: ``glpsol -m selection.mod -d FILE``. What is at its default is left out."""
    if instance.limits_groups:
        raise InputError("models/selection.mod does not know the most workers of a group; export to .mps or .lp")
    workers = [_symbol(instance.worker_id(j)) for j in range(instance.n_workers)]
    groups = [_symbol(name) for name in instance.groups or map(str, range(instance.n_groups))]
    price = np.zeros(len(workers)) if instance.price is None else instance.price
    lines = [_set("WORKERS", workers), _param("L", ONE, [instance.classes]), _param("K", ONE, [instance.sizes])]
    lines += [_param("n", workers, instance.asked), _param("correct", workers, instance.correct)]
    lines += [_set(name.upper(), [workers[i] for i in getattr(instance, name)]) for name in ("required", "barred")]
    lines += [_param("price", workers, price, 0), _param("money_limit", ONE, [instance.money], None)]
    lines += [_set("GROUPS", groups), _param("fewest", groups, instance.fewest, 0)]
    lines += [_set(f"OF[{g}]", [workers[i] for i in np.flatnonzero(instance.group == k)]) for k, g in enumerate(groups)]
    return _section(lines)


def _symbol(name: str) -> str:
    """An id as GLPK reads it, in quotes where it must be."""
    if len(name) > LONGEST or "\n" in name:
        raise InputError(f"GLPK takes ids of up to {LONGEST} characters on one line, not {name[:20]!r}...")
    return name if PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _set(name: str, members: list[str]) -> str:
    return f"set {name} := {' '.join(members)};" if members else ""


def _param(name: str, keys: list[str], values: Iterable[Any], default: object = "") -> str:
    """``param NAME := key value, key value;`` of the values that are not the default; nothing where all are."""
    there = [(key, value) for key, value in zip(keys, values, strict=True) if value != default]
    entries = [f"{key} {value if isinstance(value, str) else format(float(value), '.17g')}" for key, value in there]
    return f"param {name} := {', '.join(entries)};" if entries else ""


def _section(lines: list[str]) -> str:
    return "\n".join(["data;", "", *filter(None, lines), "", "end;"]) + "\n"
