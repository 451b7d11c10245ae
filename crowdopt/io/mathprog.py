"""Data for models/assignment.mod and models/assignment_dual.mod: a campaign as GNU MathProg reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.errors import InputError

RULES = ("hoeffding", "bhattacharyya")  # that the models know
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
LONGEST = 100  # characters of a symbol that GLPK takes


def data_section(instance: AssignmentInstance, dual: bool = False) -> str:
    """The data section: ``glpsol -m assignment.mod -d FILE``. Parameters at their defaults are left out.

    Parameters
    ----------
    instance : AssignmentInstance
    dual : bool
        For assignment_dual.mod, which knows no fixed pairs, label limits, least loads, budget, groups or own rows.

    Raises
    ------
    InputError
        If the model does not know the rule, priors, observed labels or (the dual) a limit; if an id is too long.
    """
    _refuse(instance, dual)
    tasks = [_symbol(instance.task_id(i)) for i in range(instance.n_tasks)]
    workers = [_symbol(instance.worker_id(j)) for j in range(instance.n_workers)]
    types = [_symbol(instance.type_id(k)) for k in range(instance.n_types)]
    lines = ["data;", "", _set("TASKS", tasks), _set("WORKERS", workers), _set("TYPES", types), ""]
    lines += [f"param rule := {instance.rule};"] * (instance.rule != RULES[0])
    lines += [f"param L := {instance.classes};"] * (instance.classes != 2)
    lines += [
        _vector("tau", tasks, [types[k] for k in instance.task_type]),
        _vector("epsilon", tasks, instance.epsilon),
    ]
    lines += [_vector("M", workers, instance.capacity), _table("p", types, workers, instance.accuracy)]
    if (instance.cost != 1).any():
        lines.append(_table("c", types, workers, instance.cost))
    if (instance.demand != 1).any():
        lines.append(_vector("share", tasks, instance.demand))
    for name in ("forbidden", "collected") if dual else ("forbidden", "collected", "fixed"):
        pairs = [f"({tasks[i]},{workers[j]})" for i, j in getattr(instance, name).tolist()]
        lines += [_set(name.upper(), pairs)] * bool(pairs)
    return "\n".join([*lines, *([] if dual else _limits(instance, tasks, workers)), "", "end;"]) + "\n"


def _limits(instance: AssignmentInstance, tasks: list[str], workers: list[str]) -> list[str]:
    lines = []
    for name, keys, values, unset in (
        ("fewest", tasks, instance.min_labels, 0),
        ("most", tasks, instance.max_labels, UNLIMITED),
        ("load", workers, instance.min_load, 0),
    ):
        there = np.flatnonzero(values != unset)
        lines += [_vector(name, [keys[k] for k in there], values[there])] * bool(there.size)
    lines += [] if instance.budget is None else [f"param budget_limit := {float(instance.budget)!r};"]
    return [*lines, *_groups(instance, workers), *_own(instance, tasks, workers)]


def _groups(instance: AssignmentInstance, workers: list[str]) -> list[str]:
    groups = instance.groups
    names = [_symbol(group.name) for group in groups]
    lines = [_set("GROUPS", names)] * bool(names)
    lines += [_set(f"OF[{name}]", [workers[j] for j in one.members]) for name, one in zip(names, groups, strict=True)]
    for name, values, usual in (
        ("least_of", [group.min_per_task for group in groups], 0),
        ("most_of", [group.max_per_task for group in groups], None),
        ("least_share", [group.min_share for group in groups], 0),
        ("most_share", [group.max_share for group in groups], 1),
        ("dependent", [int(group.dependent) for group in groups], 0),
    ):
        there = [k for k, value in enumerate(values) if value != usual]
        lines += [_vector(name, [names[k] for k in there], [values[k] for k in there])] * bool(there)
    return lines


def _own(instance: AssignmentInstance, tasks: list[str], workers: list[str]) -> list[str]:
    rows = instance.own_rows
    if rows is None:
        return []
    names = [_symbol(name) for name in rows.names]
    entries: dict[tuple[int, int, int], float] = {}
    for k, (i, j), value in zip(rows.row.tolist(), rows.pairs.tolist(), rows.coefficient.tolist(), strict=True):
        entries[k, i, j] = entries.get((k, i, j), 0.0) + value
    keys = [f"[{names[k]},{tasks[i]},{workers[j]}]" for k, i, j in entries]
    lines = [_set("OWN", names)] + [_vector("own_entry", keys, entries.values())] * bool(keys)
    for name, side in (("own_lower", rows.lower), ("own_upper", rows.upper)):
        there = np.flatnonzero(np.isfinite(side)).tolist()
        lines += [_vector(name, [names[k] for k in there], side[there])] * bool(there)
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


def _symbol(name: str) -> str:
    if len(name) > LONGEST or "\n" in name:
        raise InputError(f"GLPK takes ids of up to {LONGEST} characters on one line, not {name[:20]!r}...")
    return name if PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _set(name: str, members: Sequence[str]) -> str:
    return f"set {name} := {' '.join(members)};"


def _vector(name: str, keys: Sequence[str], values: Iterable[object]) -> str:
    return f"param {name} := {', '.join(f'{key} {_text(value)}' for key, value in zip(keys, values, strict=True))};"


def _table(name: str, rows: Sequence[str], columns: Sequence[str], values: Iterable[Iterable[object]]) -> str:
    body = [f"{row} {' '.join(map(_text, entries))}" for row, entries in zip(rows, values, strict=True)]
    return f"param {name} : {' '.join(columns)} :=\n" + "\n".join(body) + ";"


def _text(value: object) -> str:
    """A symbol as it is; a number so that it is read back to the last digit."""
    return value if isinstance(value, str) else f"{float(value):.17g}"  # type: ignore[arg-type]
