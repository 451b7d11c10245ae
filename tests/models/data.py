"""Instances as MathProg data sections, and instances to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.stated.groups import Group, OwnRows


def section(instance: AssignmentInstance, dual: bool = False) -> str:
    """The data of models/assignment.mod, or of its dual, from what the instance was given, not what it makes of it."""
    tasks = [instance.task_id(i) for i in range(instance.n_tasks)]
    workers = [instance.worker_id(j) for j in range(instance.n_workers)]
    types = [f"k{k}" for k in range(instance.n_types)]
    lines = ["data;", _set("TASKS", tasks), _set("WORKERS", workers), _set("TYPES", types)]
    lines += [f"param rule := {instance.rule};", f"param L := {instance.classes};"]
    lines += [_vector("tau", tasks, [types[k] for k in instance.task_type])]
    lines += [_table("p", types, workers, instance.accuracy), _table("c", types, workers, instance.cost)]
    lines += [_vector("epsilon", tasks, instance.epsilon), _vector("share", tasks, instance.demand)]
    lines += [_vector("M", workers, instance.capacity)]
    pairs = ("forbidden", "collected") if dual else ("forbidden", "collected", "fixed")
    lines += [_set(name.upper(), [f"({tasks[i]},{workers[j]})" for i, j in getattr(instance, name)]) for name in pairs]
    return "\n".join([*lines, *([] if dual else _limits(instance, tasks, workers)), "end;"]) + "\n"


def selection_section(instance: SelectionInstance) -> str:
    """The data of models/selection.mod."""
    workers = [f"w{i}" for i in range(instance.n_workers)]
    groups = [f"g{g}" for g in range(instance.n_groups)]
    lines = ["data;", _set("WORKERS", workers), f"param L := {instance.classes};", f"param K := {instance.most};"]
    lines += [_vector("n", workers, instance.asked), _vector("correct", workers, instance.correct)]
    lines += [_set(name.upper(), [workers[i] for i in getattr(instance, name)]) for name in ("required", "barred")]
    if instance.group is not None:
        lines += [_set("GROUPS", groups), _vector("fewest", groups, instance.fewest)]
        of = [[w for w, g in zip(workers, instance.group, strict=True) if g == k] for k in range(len(groups))]
        lines += [_set(f"OF[{name}]", members) for name, members in zip(groups, of, strict=True)]
    if instance.price is not None:
        lines += [_vector("price", workers, instance.price), f"param money_limit := {float(instance.money)!r};"]
    return "\n".join([*lines, "end;"]) + "\n"


def _limits(instance: AssignmentInstance, tasks: list[str], workers: list[str]) -> list[str]:
    limited = np.flatnonzero(instance.max_labels < UNLIMITED)
    lines = [_vector("fewest", tasks, instance.min_labels), _vector("load", workers, instance.min_load)]
    lines += [_vector("most", [tasks[i] for i in limited], instance.max_labels[limited])]
    lines += [] if instance.budget is None else [f"param budget_limit := {float(instance.budget)!r};"]
    groups, own = instance.groups, instance.own_rows
    names = [group.name for group in groups]
    lines += [_set("GROUPS", names)] * bool(names)
    for group in groups:
        lines += [_set(f"OF[{group.name}]", [workers[j] for j in group.members])]
    if groups:
        most = [(group.name, group.max_per_task) for group in groups if group.max_per_task is not None]
        lines += [_vector("least_of", names, [group.min_per_task for group in groups])]
        lines += [_vector("most_of", [name for name, _ in most], [limit for _, limit in most])] * bool(most)
        lines += [_vector("least_share", names, [group.min_share for group in groups])]
        lines += [_vector("most_share", names, [group.max_share for group in groups])]
        lines += [_vector("dependent", names, [float(group.dependent) for group in groups])]
    if own is not None:
        keys = [f"[{own.names[r]},{tasks[i]},{workers[j]}]" for r, (i, j) in zip(own.row, own.pairs, strict=True)]
        lines += [_set("OWN", own.names), _vector("own_entry", keys, own.coefficient)]
        lines += [_vector("own_upper", own.names, own.upper)]
    return lines


def _set(name: str, members: Sequence[str]) -> str:
    return f"set {name} := {' '.join(members)};"


def _vector(name: str, keys: Sequence[str], values: Iterable[object]) -> str:
    return f"param {name} := {' '.join(f'{key} {_text(value)}' for key, value in zip(keys, values, strict=True))};"


def _table(name: str, rows: Sequence[str], columns: Sequence[str], values: Iterable[Iterable[object]]) -> str:
    body = [f"{row} {' '.join(map(_text, entries))}" for row, entries in zip(rows, values, strict=True)]
    return f"param {name} : {' '.join(columns)} :=\n" + "\n".join(body) + ";"


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(float(value))  # type: ignore[arg-type]


OPTIONS = ("priced", "forbidden", "fixed", "collected", "labels", "load", "budget", "demand", "groups", "own")


def drawn(
    seed: int, options: Iterable[str] = OPTIONS, rule: str = "bhattacharyya", classes: int = 2
) -> AssignmentInstance:
    """A small instance with the named options and no contradiction; feasible or not."""
    rng, options = np.random.default_rng(seed), set(options)
    n, m = int(rng.integers(2, 5)), int(rng.integers(3, 6))
    kinds = int(rng.integers(1, n + 1))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])
    forbidden, collected, fixed = (pairs[: n * m // 4], pairs[n * m // 4 : n * m // 2], pairs[n * m // 2 :][:1])
    fewest = rng.integers(0, 3, n)
    capacity = rng.integers(1, n + 1, m)
    return AssignmentInstance(
        accuracy=rng.choice([0.0, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0, rng.random()], (kinds, m)),
        task_type=rng.integers(0, kinds, n),
        capacity=capacity,
        epsilon=rng.uniform(0.01, 0.4, n),
        rule=rule,
        classes=classes,
        cost=rng.integers(0, 7, (kinds, m)) / 2 if "priced" in options else 1.0,
        forbidden=forbidden if "forbidden" in options else None,
        collected=collected if "collected" in options else None,
        fixed=fixed if "fixed" in options else None,
        min_labels=fewest if "labels" in options else None,
        max_labels=np.where(rng.random(n) < 0.5, UNLIMITED, fewest + m + 1) if "labels" in options else None,
        min_load=rng.integers(0, capacity + 1) if "load" in options else None,
        budget=float(rng.integers(0, 20)) / 2 if "budget" in options else None,
        groups=_groups(rng, m) if "groups" in options else (),
        own_rows=_own(rng, n, m) if "own" in options else None,
        demand=rng.uniform(0, 2, n) if "demand" in options else 1.0,
        tasks=[f"t{i}" for i in range(n)],
        workers=[f"w{j}" for j in range(m)],
    )


def _groups(rng: np.random.Generator, m: int) -> list[Group]:
    """Two families that share no worker, and a group across them with shares."""
    middle = int(rng.integers(1, m))
    return [
        Group("ours", range(middle), max_per_task=int(rng.integers(1, 3)), dependent=True),
        Group("theirs", range(middle, m), dependent=True, min_share=0.25),
        Group("across", range(0, m, 2), min_per_task=1, max_share=0.75),
    ]


def _own(rng: np.random.Generator, n: int, m: int) -> OwnRows:
    """One row over a few pairs."""
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])[:4]
    return OwnRows(("wish",), np.zeros(4, int), pairs, rng.integers(1, 4, 4) / 2, [-np.inf], [2.5])
