"""Data for models/assignment.mod and models/assignment_dual.mod: a campaign as GNU MathProg reads it."""

from __future__ import annotations

import numpy as np

from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.mathprog_text import section, set_of, symbol, table, vector

RULES = ("hoeffding", "bhattacharyya")  # that the models know


def data_section(instance: AssignmentInstance, dual: bool = False) -> str:
    """The data section: ``glpsol -m assignment.mod -d FILE``. Parameters at their defaults are left out.

    Parameters
    ----------
    instance : AssignmentInstance
    dual : bool
        For assignment_dual.mod, which knows no fixed pairs, label limits, least loads or budget.

    Raises
    ------
    InputError
        If the model does not know the rule, priors, observed labels or (the dual) a limit; if an id is too long.
    """
    _refuse(instance, dual)
    tasks = [symbol(instance.task_id(i)) for i in range(instance.n_tasks)]
    workers = [symbol(instance.worker_id(j)) for j in range(instance.n_workers)]
    types = [symbol(instance.type_id(k)) for k in range(instance.n_types)]
    lines = [set_of("TASKS", tasks), set_of("WORKERS", workers), set_of("TYPES", types), ""]
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
    return lines + ([] if instance.budget is None else [f"param budget_limit := {float(instance.budget)!r};"])


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
    ]
    if dual and any(limits):
        raise InputError("the paper's dual knows no fixed pairs, label limits, least loads or budget")
