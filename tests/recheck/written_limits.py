"""Multipliers of groups, shares and own rows: drawn, read as limits.csv has them, and written out by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from crowdopt import AssignmentInstance, write_campaign, write_plan
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import Certificate
from crowdopt.crowd.stated.groups import Group, OwnRows
from crowdopt.io.tables.table_columns import Table
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.bounds.joint_pull import JointPull, joint_pull

Line = tuple[str, str, str, float]  # limit, name, task, dual

COEFFICIENTS = (-2.5, -1.0, 0.3, 1.0, 1.7)


def drawn_groups(rng: np.random.Generator, mine: np.ndarray | None, m: int, count: int) -> list[Group]:
    """Groups with every kind of limit; mine (m,): the group of each worker, or None where groups may overlap."""
    groups = []
    for g in range(count):
        members = np.flatnonzero(mine == g) if mine is not None else np.flatnonzero(rng.random(m) < 0.6)
        if members.size:
            least = int(rng.integers(0, 2))
            room = None if rng.random() < 0.3 else least + int(rng.integers(0, 3))
            shares = {"max_share": float(rng.choice([0.4, 0.8, 1.0])), "min_share": float(rng.choice([0.0, 0.1, 0.3]))}
            groups.append(Group(f"g{g}", tuple(members.tolist()), least, room, **shares))
    return groups


def drawn_rows(rng: np.random.Generator, n: int, m: int) -> OwnRows | None:
    """Up to two rows of up to all pairs, some twice, with one side or two; half the time none."""
    count = int(rng.choice([0, 0, 1, 2]))
    entries = [(row, i, j) for row in range(count) for i in range(n) for j in range(m) if rng.random() < 0.6]
    entries += entries[: int(rng.integers(0, 3))]
    if not entries:
        return None
    table, sides = np.array(entries), np.sort(rng.normal(0, 3, (count, 2)), axis=1)
    open_end = rng.integers(0, 3, count)
    lower, upper = np.where(open_end == 1, -np.inf, sides[:, 0]), np.where(open_end == 2, np.inf, sides[:, 1])
    values = rng.choice(COEFFICIENTS, len(entries))
    return OwnRows([f"r{k}" for k in range(count)], table[:, 0], table[:, 1:], values, lower, upper)


def drawn_lines(rng: np.random.Generator, instance: AssignmentInstance, scale: float) -> list[Line]:
    """A multiplier of either sign for each of them, so that some pull on a side that is not there."""
    lines = [(limit, group.name, "") for limit in ("max_share", "min_share") for group in instance.groups]
    tasks = [instance.task_id(i) for i in range(instance.n_tasks) if rng.random() < 0.2]
    lines += [("per_task", group.name, task) for group in instance.groups for task in tasks]
    lines += [("row", name, "") for name in (instance.own_rows.names if instance.own_rows else ())]
    return [(*line, float(dual)) for line, dual in zip(lines, scale * rng.normal(size=len(lines)), strict=True)]


def read(instance: AssignmentInstance, lines: list[Line]) -> JointPull:
    """The lines as verify takes them."""
    limit, name, task, dual = zip(*lines, strict=True) if lines else ((), (), (), ())
    columns = {"limit": list(limit), "name": list(name), "task": list(task), "dual": list(map(repr, dual))}
    report = Report()
    pull = joint_pull(instance, Table(Path("limits.csv"), columns, len(lines)), report)
    assert not report.problems
    return pull


def written_out(instance: AssignmentInstance, lines: list[Line]) -> tuple[list[float], list[list[float]]]:
    """What each line adds by itself, and what all take off each pair."""
    terms, pull = [], [[0.0] * instance.n_workers for _ in range(instance.n_tasks)]
    for line in lines:
        counts, low, high = _row(instance, line)
        side = low if line[3] > 0 else high
        if abs(side) < np.inf:
            terms.append(line[3] * side)
            for i, j, count in counts:
                pull[i][j] += line[3] * count
    return terms, pull


def _row(instance: AssignmentInstance, line: Line) -> tuple[list[tuple[int, int, float]], float, float]:
    limit, name, task, _ = line
    pairs = [(i, j) for i in range(instance.n_tasks) for j in range(instance.n_workers)]
    if limit == "row":
        own = instance.own_rows
        place = list(own.names).index(name)
        entries = zip(own.row.tolist(), own.pairs.tolist(), own.coefficient.tolist(), strict=True)
        return [(i, j, value) for row, (i, j), value in entries if row == place], own.lower[place], own.upper[place]
    group = next(one for one in instance.groups if one.name == name)
    had = [i for i, j in instance.collected.tolist() if j in group.members]
    if limit == "per_task":
        mine = [(i, j, 1.0) for i, j in pairs if instance.task_id(i) == task and j in group.members]
        before = sum(instance.task_id(i) == task for i in had)
        most = np.inf if group.max_per_task is None else max(0, group.max_per_task - before)
        return mine, max(0, group.min_per_task - before), most
    share = group.max_share if limit == "max_share" else group.min_share
    counts, side = [(i, j, (j in group.members) - share) for i, j in pairs], share * len(instance.collected) - len(had)
    return (counts, -np.inf, side) if limit == "max_share" else (counts, side, np.inf)


def summed_by_all_sets(
    instance: AssignmentInstance,
    worker: np.ndarray,
    budget: float,
    lines: list[Line],
    enough: Callable[[int, tuple[int, ...]], bool],
) -> tuple[float, float]:
    """The bound's sum with every task's sets tried one by one, and all groups heeded; and the size of its terms."""
    money = 0.0 if instance.budget is None else budget
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    joint, pull = written_out(instance, lines)
    terms = [*joint, money * (instance.budget or 0.0)]
    terms += (np.where(load > 0, instance.min_load, instance.capacity) * load).tolist()
    had = {(i, j) for i, j in instance.collected.tolist()}
    barred = {(i, j) for i, j in instance.barred.tolist()}
    forced = {(i, j) for i, j in instance.fixed.tolist()}
    low, high = instance.new_label_limits
    for i in range(instance.n_tasks):
        best = np.inf
        price = (1 - money) * instance.cost[instance.task_type[i]] - load - pull[i]
        free = [j for j in range(instance.n_workers) if (i, j) not in barred]
        must = {j for j in range(instance.n_workers) if (i, j) in forced}
        for count in range(len(free) + 1):
            for chosen in combinations(free, count):
                cost = float(sum(price[j] for j in chosen))
                if cost >= best or not low[i] <= count <= high[i] or not must <= set(chosen):
                    continue
                if _fits(instance, i, chosen, had) and enough(i, chosen):
                    best = cost
        terms.append(best)
    return sum(terms), sum(map(abs, terms))


def written_plan(
    place: Path, instance: AssignmentInstance, labels: list[int], claimed: float, levels: int = 0
) -> tuple[Path, Path]:
    """Campaign and plan of one task whose workers are these, certified by its sets without any multiplier."""
    duals = Duals(np.zeros(1), np.zeros(instance.n_workers), np.zeros(1), form="sets", levels=levels)
    known = Certificate(None, claimed, "certificate", None, None)
    pairs = np.array([[0, worker] for worker in labels])
    plan = Plan.of(instance, "ip", known, claimed, duals, pairs, method="exact", backend="highs")
    write_campaign(instance, place / "campaign")
    write_plan(plan, place / "plan")
    return place / "campaign", place / "plan"


def _fits(instance: AssignmentInstance, task: int, chosen: tuple[int, ...], had: set[tuple[int, int]]) -> bool:
    """Whether every group's labels of the task, those already in with them, are within its limits."""
    for group in instance.groups:
        before = sum((task, j) in had for j in group.members)
        new = sum(j in group.members for j in chosen)
        most = np.inf if group.max_per_task is None else max(0, group.max_per_task - before)
        if not max(0, group.min_per_task - before) <= new <= most:
            return False
    return True
