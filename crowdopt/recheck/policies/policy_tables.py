"""An adaptive plan's tables, read against its campaign: types, askers, where tasks stand, and the moves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.policy_text import named, read_counted, read_votes
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.expected_figures import Move
from crowdopt.recheck.policies.told_law import Counts, ToldLaw, asks_for_labels, told_law

SUM = 1e-9  # how far shares of the same votes may be from adding up to 1


@dataclass
class TypeOfPlan:
    """Tasks that the plan treats alike."""

    name: str
    tasks: list[int]
    law: ToldLaw
    standing: dict[Counts, int] = field(default_factory=dict)
    stands: dict[int, Counts] = field(default_factory=dict)
    moves: dict[tuple[int, Counts], list[Move]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PolicyTables:
    """What the tables say, in the campaign's indices."""

    askers: dict[str, list[int]]  # workers of each
    asker: Ints  # (workers,); -1 for a worker who is none, since their labels tell nothing
    types: list[TypeOfPlan]


def plan_types(instance: AssignmentInstance, labels: Ints, stored: StoredPolicy, report: Report) -> PolicyTables | None:
    """Askers, and types with their laws; None, and complaints, where a table contradicts the campaign or itself."""
    workers = instance.worker_ids
    tasks = instance.task_ids
    if stored.workers["worker"] != workers or stored.tasks["task"] != tasks:
        table = stored.tasks if stored.workers["worker"] == workers else stored.workers
        report.complain(table.path.name, "its rows are not those of the campaign, one each and in order")
        return None
    askers = _askers(instance, stored, report)
    of_type = None if askers is None else _of_type(stored, report)
    if askers is None or of_type is None or not _are_alike(instance, askers, of_type, report):
        return None
    index = {name: g for g, name in enumerate(askers)}
    place = np.array([index.get(name, -1) for name in stored.workers["asker"]], np.int64)
    types = [
        TypeOfPlan(name, some, told_law(instance, some[0], list(askers.values()))) for name, some in of_type.items()
    ]
    if labels.size != len(instance.collected):
        report.complain("collected.csv", "does not say what the labels in are")
        return None
    return PolicyTables(askers, place, types)


def _askers(instance: AssignmentInstance, stored: StoredPolicy, report: Report) -> dict[str, list[int]] | None:
    """Workers of each asker; None, and a complaint, where one whose labels tell something has none."""
    askers: dict[str, list[int]] = {}
    for j, name in enumerate(stored.workers["asker"]):
        if name:
            askers.setdefault(name, []).append(j)
        elif not _tells_nothing(instance, j):
            who = instance.worker_id(j)
            report.complain("workers.csv", f"worker {who} is no asker, though their labels tell something")
            return None
    return askers


def _of_type(stored: StoredPolicy, report: Report) -> dict[str, list[int]] | None:
    """Tasks of each type of the plan; None, and a complaint, where the tables name different ones."""
    of_type: dict[str, list[int]] = {name: [] for name in stored.types["type"]}
    for i, name in enumerate(stored.tasks["type"]):
        of_type.setdefault(name, []).append(i)
    if list(of_type) != stored.types["type"] or not all(of_type.values()):
        report.complain("types.csv", "its types are not those of tasks.csv, one row each")
        return None
    return of_type


def policy_tables(
    instance: AssignmentInstance, labels: Ints, stored: StoredPolicy, report: Report
) -> PolicyTables | None:
    """The tables with where tasks stand and the moves there; None, and complaints, as above."""
    tables = plan_types(instance, labels, stored, report)
    if tables is None:
        return None
    types = tables.types
    _stand(instance, labels, tables)
    if any(float(one.law.weight(votes).sum()) <= 0 for one in types for votes in one.standing):
        report.complain("collected.csv", "has labels that cannot be, by the campaign's own skills")
        return None
    return tables if _read_moves(instance, stored, tables, report) else None


def _tells_nothing(instance: AssignmentInstance, worker: int) -> bool:
    """Whether the worker's labels fall alike whatever the class, none of them is in, and no limit asks for any."""
    if asks_for_labels(instance):
        return False
    if (instance.collected[:, 1] == worker).any():
        return False
    if instance.vote_law is not None:
        return bool((instance.vote_law.accuracy[:, worker] == 1 / instance.classes).all())
    if instance.confusion is None:
        return bool((instance.accuracy[instance.task_type, worker] == 1 / instance.classes).all())
    tables = instance.confusion[np.unique(instance.task_type), worker]
    return bool((tables == tables[:, :1]).all())


def _are_alike(
    instance: AssignmentInstance, askers: dict[str, list[int]], of_type: dict[str, list[int]], report: Report
) -> bool:
    """Whether tasks of a type, and workers of an asker, differ in nothing that the policy goes by."""
    forbidden = np.zeros((instance.n_tasks, instance.n_workers), bool)
    forbidden[tuple(instance.forbidden.T)] = True
    fixed = np.zeros_like(forbidden)
    fixed[tuple(instance.fixed.T)] = True
    of_tasks = [forbidden, fixed, instance.task_type, instance.epsilon, instance.max_labels, instance.min_labels]
    of_tasks += [instance.prior] if instance.prior.ndim == 2 else []
    of_workers = [forbidden.T, fixed.T, instance.accuracy.T, instance.cost.T, instance.capacity, instance.min_load]
    of_workers += [np.isin(np.arange(instance.n_workers), group.members) for group in instance.groups]
    if instance.confusion is not None:
        of_workers.append(instance.confusion.swapaxes(0, 1))
    if instance.vote_law is not None:
        of_workers.append(instance.vote_law.accuracy.T)
    for name, some in of_type.items():
        first = some[0]
        for i in some:
            if not all((rows[i] == rows[first]).all() for rows in of_tasks):
                report.complain("tasks.csv", f"task {instance.task_id(i)} is not like the first of type {name}")
                return False
    for name, workers in askers.items():
        a = workers[0]
        for b in workers[1:]:
            if not all((rows[a] == rows[b]).all() for rows in of_workers):
                report.complain("workers.csv", f"worker {instance.worker_id(b)} is not like the first of asker {name}")
                return False
    return True


def _stand(instance: AssignmentInstance, labels: Ints, tables: PolicyTables) -> None:
    """Where each task stands: the labels already in, counted by asker and class."""
    counts = np.zeros((instance.n_tasks, len(tables.askers), int(instance.classes)), np.int64)
    np.add.at(counts, (instance.collected[:, 0], tables.asker[instance.collected[:, 1]], labels), 1)
    for one in tables.types:
        for i in one.tasks:
            votes = tuple(tuple(row) for row in counts[i].tolist())
            one.standing[votes] = one.standing.get(votes, 0) + 1
            one.stands[i] = votes
        had = counts[one.tasks].sum(axis=2).max(axis=0)
        one.law = replace(one.law, members=np.maximum(one.law.members, had))


def _read_moves(instance: AssignmentInstance, stored: StoredPolicy, tables: PolicyTables, report: Report) -> bool:
    """The rows of policy.csv by where they belong; whether all can be read and shares add up."""
    table, number = stored.policy, {one.name: one for one in tables.types}
    names = tuple(instance.class_names or map(str, range(int(instance.classes))))
    asker = {name: g for g, name in enumerate(tables.askers)}
    label = {name: k for k, name in enumerate(names)}
    rounds, shares = table.counts("round"), table.numbers("share")
    for row in range(table.rows):
        try:
            one = number[table["type"][row]]
            votes = _counts(read_votes(table["votes"][row], asker, label), len(asker), len(label))
            what = _what(table["action"][row], table["what"][row], asker, label)
        except (KeyError, ValueError) as error:
            report.problems.append(str(table.error(row, "votes", f"cannot be read: {error}")))
            return False
        move = Move(row, table["action"][row], what, float(shares[row]))
        one.moves.setdefault((int(rounds[row]), votes), []).append(move)
    for one in tables.types:
        for moves in one.moves.values():
            total = sum(move.share for move in moves)
            if abs(total - 1) > SUM or min(move.share for move in moves) < 0:
                report.problems.append(str(table.error(moves[0].row, "share", f"the shares here add up to {total!r}")))
                return False
    return True


def _counts(votes: list[tuple[int, int, int]], askers: int, classes: int) -> Counts:
    table = np.zeros((askers, classes), np.int64)
    for asker, label, number in votes:
        table[asker, label] += number
    return tuple(tuple(row) for row in table.tolist())


def _what(action: str, text: str, asker: dict[str, int], label: dict[str, int]) -> tuple[int, ...]:
    if action == "answer":
        return (label[named(text)],)
    if action == "expert" and not text:
        return ()
    if action != "ask":
        raise ValueError(f"{action} {text} is not an action of a plan")
    number = [0] * len(asker)
    for name, count in read_counted(text):
        number[asker[named(name)]] += count
    if not any(number):
        raise ValueError("it names neither a worker nor the expert to ask")
    return tuple(number)
