"""An adaptive plan's tables against its campaign: moves, first round, limits, and what its multipliers prove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import UNIT
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import is_number
from crowdopt.errors import InputError
from crowdopt.io.policy import StoredPolicy, named, read_counted, read_votes
from crowdopt.recheck.findings import Report
from crowdopt.recheck.policy_law import Counts, Figures, Move, Recursion, ToldLaw, asks_for_labels, fallen, told_law

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


SLACK = 1e-9  # relative; of expected labels
LIMITS_TABLE = "limits.csv"


@dataclass(frozen=True)
class PricedLimits:
    """What the multipliers add to the price of an asker's vote, (types, askers), at most, and to the bound."""

    price: Floats
    total: float
    sizes: Floats  # (types, askers): of what went into a price
    size: float  # of what went into the bound


def linear_limits(instance: AssignmentInstance, tables: PolicyTables) -> dict[tuple[str, str], tuple[Floats, float]]:
    """By limit and name: weight of a vote (types, askers) and the side, of ``sum of weights <= side``."""
    shape, found = (len(tables.types), len(tables.askers)), dict[tuple[str, str], tuple[Floats, float]]()
    first = [(one.tasks[0], k) for k, one in enumerate(tables.types)]
    workers = [some[0] for some in tables.askers.values()]
    had = instance.collected[:, 1]
    for group in instance.groups:
        inside = np.isin(np.arange(instance.n_workers), group.members).astype(np.float64)
        ours, all_labels, mine = float(inside[had].sum()), float(had.size), np.broadcast_to(inside[workers], shape)
        if group.max_share < 1:
            found["max_share", group.name] = mine - group.max_share, group.max_share * all_labels - ours
        if group.min_share > 0:
            found["min_share", group.name] = group.min_share - mine, ours - group.min_share * all_labels
    for g, some in enumerate(tables.askers.values()):
        least = sum(float(instance.min_load[j]) for j in some)
        if least > 0:
            weight = np.zeros(shape)
            weight[:, g] = -1.0
            found["min_tasks", instance.worker_id(some[0])] = weight, -least
    rows = instance.own_rows
    for number, name in enumerate(rows.names if rows is not None else ()):
        assert rows is not None
        entries = _entries(instance, number)
        weight = np.array([[entries.get((i, j), 0.0) for j in workers] for i, _ in first])
        if np.isfinite(rows.upper[number]):
            found["row_most", name] = weight, float(rows.upper[number])
        if np.isfinite(rows.lower[number]):
            found["row_least", name] = -weight, -float(rows.lower[number])
    return found


def _entries(instance: AssignmentInstance, number: int) -> dict[tuple[int, int], float]:
    rows, found = instance.own_rows, dict[tuple[int, int], float]()
    assert rows is not None
    mine = np.flatnonzero(rows.row == number).tolist()
    for k in mine:
        pair = int(rows.pairs[k, 0]), int(rows.pairs[k, 1])
        found[pair] = found.get(pair, 0.0) + float(rows.coefficient[k])
    return found


def rows_are_alike(instance: AssignmentInstance, tables: PolicyTables) -> bool:
    """Whether own rows count all labels of a type's tasks and an asker's workers the same."""
    types = [one.tasks for one in tables.types]
    rows = instance.own_rows
    for number in range(len(rows.names) if rows is not None else 0):
        table = np.zeros((instance.n_tasks, instance.n_workers))
        for pair, value in _entries(instance, number).items():
            table[pair] = value
        for workers in tables.askers.values():
            mine = table[:, workers]
            if (mine != mine[:, :1]).any() or any((mine[tasks] != mine[tasks[:1]]).any() for tasks in types):
                return False
    return True


def check_limits(instance: AssignmentInstance, tables: PolicyTables, loads: Floats, report: Report) -> None:
    """Expected labels keep the limits; loads (types, askers): expected labels."""
    for (limit, name), (weight, side) in linear_limits(instance, tables).items():
        scale = max(1.0, float((np.abs(weight) * loads).sum()), float(loads.sum()))
        if float((weight * loads).sum()) > side + SLACK * scale:
            report.complain("policy.csv", f"the labels expected break {limit} of {name}")


def priced_limits(
    instance: AssignmentInstance, stored: StoredPolicy, tables: PolicyTables, report: Report
) -> PricedLimits | None:
    """None, and a complaint, where limits.csv is not about the campaign's limits, or a multiplier is above 0."""
    limits, total, size = linear_limits(instance, tables), 0.0, 0.0
    price, sizes = np.zeros((2, len(tables.types), len(tables.askers)))
    table = stored.limits
    named = [] if table is None else list(zip(table["limit"], table["name"], strict=True))
    duals = np.zeros(0) if table is None else table.numbers("dual")
    if len(set(named)) != len(named) or set(named) != set(limits) or (duals > 0).any():
        report.complain(
            LIMITS_TABLE, "it must have each linear limit of the campaign once, with a multiplier of at most 0"
        )
        return None
    for key, dual in zip(named, duals.tolist(), strict=True):
        weight, side = limits[key]
        with np.errstate(over="ignore"):
            price, total = price + dual * weight, total + dual * side
            sizes, size = sizes + abs(dual) * np.abs(weight), size + abs(dual * side)
    return PricedLimits(price, total, sizes, size)


KEPT = 1e-9  # relative; rounding of float64


@dataclass(frozen=True, eq=False)
class ClassLimits:
    """The limits that plan.json says, and its multipliers; (classes,), infinity and 0 where there is none."""

    names: tuple[str, ...]
    limit: Floats
    dual: Floats

    @property
    def stated(self) -> bool:
        """Whether there is any."""
        return bool(np.isfinite(self.limit).any())

    def proves(self, tables: PolicyTables, times: float) -> float:
        """What the multipliers take off the bound."""
        some = np.isfinite(self.limit)
        return times * float((self.dual[some] * self.limit[some] * _of_class(tables)[some]).sum())


def class_limits(claims: dict[str, Any], instance: AssignmentInstance) -> ClassLimits:
    """Limits and multipliers by name of the class; InputError for what is none."""
    names = tuple(instance.class_names or map(str, range(int(instance.classes))))
    limit, dual = np.full(len(names), np.inf), np.zeros(len(names))
    said, priced = claims.get("class_error", {}), claims.get("class_dual", {})
    for key, table, column in (("class_error", said, limit), ("class_dual", priced, dual)):
        if not isinstance(table, dict) or not all(name in names and is_number(x) for name, x in table.items()):
            raise InputError(f"plan.json: {key} must have numbers by class, not {table!r}")
        for name, number in table.items():
            column[names.index(name)] = float(number)
    if set(said) != set(priced) or not all(0 < x <= 1 for x in said.values()) or (dual < 0).any():
        raise InputError("plan.json: each class_error lies above 0, to 1, and has a class_dual of at least 0")
    return ClassLimits(names, limit, dual)


def _of_class(tables: PolicyTables) -> Floats:
    """Tasks of each class that are expected, given the labels that are in."""
    total = 0.0
    for one in tables.types:
        for votes, tasks in one.standing.items():
            weight = one.law.weight(votes)
            total = total + tasks * weight / weight.sum()
    return np.asarray(total)


def check_classes(
    stored: StoredPolicy, limits: ClassLimits, tables: PolicyTables, every: list[Figures], times: float, report: Report
) -> None:
    """The policy keeps the limits, and plan.json says what it expects."""
    if not limits.stated:
        return
    missed = {name: sum(figures.of_class.get(k, 0.0) for figures in every) for k, name in enumerate(limits.names)}
    of_class = dict(zip(limits.names, _of_class(tables).tolist(), strict=True))
    for name, limit in zip(limits.names, limits.limit.tolist(), strict=True):
        if missed[name] > times * limit * of_class[name] * (1 + KEPT) + KEPT:
            share = missed[name] / of_class[name]
            report.complain(
                "policy.csv", f"of class {name} a share of {share:.9g} is expected to be answered otherwise"
            )
    said = stored.claims.get("missed")
    if not isinstance(said, dict) or set(said) != set(missed):
        report.complain("plan.json", f"missed says {said!r}, which has not each class once")
        return
    for name, share in said.items():
        if not is_number(share) or abs(share * of_class[name] - missed[name]) > KEPT * max(1.0, of_class[name]):
            report.complain("plan.json", f"missed says {share!r} of class {name}, which is not what is expected")


WHOLE = 1e-6  # tasks


def check_each_task(tables: PolicyTables, report: Report) -> None:
    """What the policy says first of each task is a set, or an answer, that keeps its target before votes are seen."""
    for one in tables.types:
        for votes, tasks in one.standing.items():
            for move in one.moves.get((0, votes), []):
                if abs(move.share * tasks - np.rint(move.share * tasks)) > WHOLE:
                    report.complain(
                        "policy.csv", f"row {move.row + 1} is for {move.share * tasks:.9g} tasks, not whole"
                    )
                elif not one.law.keeps_at_once(*_wrong(one, votes, move)):
                    report.complain("policy.csv", f"row {move.row + 1}: errs more than the target of each task allows")


def _wrong(one: TypeOfPlan, votes: Counts, move: Move) -> tuple[float, float]:
    """Chance of the votes and a wrong answer after the move, and of the votes."""
    weight = one.law.weight(votes)
    if move.action != "ask":
        return float(weight.sum() - weight[move.what[0]]), float(weight.sum())
    wrong = 0.0
    for (_, after), orders in fallen(votes, move.what, 1, 1.0):
        law = one.law.weight(after)
        right = sum(answer.share * float(law[answer.what[0]]) for answer in one.moves.get((1, after), []))
        wrong += orders * (float(law.sum()) - right)
    return wrong, float(weight.sum())


Asked = tuple[int, ...]  # votes of each asker
PLACE = "assignment.csv"


def check_first_round(instance: AssignmentInstance, stored: StoredPolicy, tables: PolicyTables, report: Report) -> None:
    """Each task gets a set that the policy asks for where it stands, or none; shares hold up to one task or exactly."""
    pairs, m = stored.pairs, instance.n_workers
    keys = instance.pair_keys(pairs)
    if np.unique(keys).size < keys.size or np.isin(keys, instance.pair_keys(instance.barred)).any():
        report.complain(PLACE, "has a pair twice, or one that is forbidden or whose label is in")
        return
    load = np.bincount(pairs[:, 1], minlength=m)
    for j in np.flatnonzero(load > instance.capacity).tolist():
        report.complain(PLACE, f"worker {instance.worker_id(j)} has {load[j]} tasks, capacity {instance.capacity[j]}")
    for j in np.unique(pairs[tables.asker[pairs[:, 1]] < 0, 1]).tolist():
        report.complain(PLACE, f"worker {instance.worker_id(j)} is asked, who is no asker")
        return
    asked = np.zeros((instance.n_tasks, len(tables.askers)), np.int64)
    np.add.at(asked, (pairs[:, 0], tables.asker[pairs[:, 1]]), 1)
    full = {g for g, some in enumerate(tables.askers.values()) if (load[some] >= instance.capacity[some]).any()}
    for one in tables.types:
        _check_type(instance, one, [tuple(row) for row in asked.tolist()], full, report)


def _check_type(
    instance: AssignmentInstance, one: TypeOfPlan, asked: list[Asked], full: set[int], report: Report
) -> None:
    spare = 1.0 if one.law.at_once is None else WHOLE
    for votes, tasks in one.standing.items():
        shares = {move.what: move.share for move in one.moves.get((0, votes), []) if move.action == "ask"}
        counts: dict[Asked, int] = dict.fromkeys(shares, 0)
        for i in (i for i in one.tasks if one.stands[i] == votes and any(asked[i])):
            if asked[i] not in shares:
                report.complain(PLACE, f"task {instance.task_id(i)} is asked what the policy does not ask here")
                return
            counts[asked[i]] += 1
        for what, share in shares.items():
            short = counts[what] < share * tasks - spare and not any(
                number and g in full for g, number in enumerate(what)
            )
            if short or counts[what] > share * tasks + spare:
                report.complain(
                    PLACE, f"{counts[what]} tasks of type {one.name} where the policy asks {share * tasks:.6g}"
                )


# least price of all tasks of a type: its place, itself, prices of a wrong answer by true class, of each asker's vote,
# of the expert
LeastPrice = Callable[[int, TypeOfPlan, Floats, Floats, float | None], float]
ROUNDED = 1e-7  # relative; what rounding may add to a bound before it proves nothing
STEPS = 8  # roundings that a price passes through
TOO_LARGE = "the multipliers prove nothing: they are too large"


def priced_policy(
    instance: AssignmentInstance,
    stored: StoredPolicy,
    tables: PolicyTables,
    terms: tuple[LeastPrice, float | None, float, ClassLimits],
    report: Report,
) -> float | None:
    """``sum n V - mu epsilon n + sum M w + budget``, from the multipliers of types.csv, workers.csv and plan.json.

    terms: least prices, the expert's price, how many times the targets errors may be, limits by class; -> None, and a
    complaint, where multipliers are missing, of the wrong sign or so large that rounding decides.
    """
    least, expert, times, classes = terms
    error, capacity = stored.types.numbers("dual"), stored.workers.numbers("dual")
    money: Any = stored.claims.get("budget_dual", 0.0)
    if not is_number(money) or (instance.budget is None and "budget_dual" in stored.claims):
        report.complain("plan.json", f"budget_dual says {money!r}, which prices no budget of this campaign")
        return None
    of_asker = np.array([capacity[some[0]] for some in tables.askers.values()])
    limits = priced_limits(instance, stored, tables, report)
    if limits is None:
        return None
    if not _have_signs(error, capacity, float(money), np.append(of_asker, 0.0)[tables.asker], report):
        return None
    if instance.the_rule.average and (error != error[0]).any():
        report.complain("types.csv", "the mean error has one multiplier for all types")
        return None
    asked = None if expert is None else expert * (1 - float(money))
    with np.errstate(all="ignore"):
        sides = [float((capacity * instance.capacity).sum()), float(money) * (instance.budget or 0.0), limits.total]
        sides += [-classes.proves(tables, times)] if classes.stated else []
        for k, one in enumerate(tables.types):
            asking = one.law.price * (1 - float(money)) - of_asker - limits.price[k]
            sides.append(least(k, one, error[k] + classes.dual, asking, asked))
            sides.append(-times * float(error[k]) * float(instance.epsilon[one.tasks].sum()))
        total = float(np.sum(sides))
        off = (
            STEPS
            * UNIT
            * (float(np.abs(sides).sum()) + _size(tables, error + classes.dual.max(), of_asker, float(money), limits))
        )
    if not (np.isfinite(total) and off <= ROUNDED * max(1.0, abs(total))):
        report.complain("types.csv, workers.csv", TOO_LARGE)
        return None
    return total


def _have_signs(error: Floats, capacity: Floats, money: float, of_asker: Floats, report: Report) -> bool:
    """Whether no multiplier has the wrong sign, and workers of an asker have one; of_asker: of each worker's asker."""
    if (error >= 0).all() and (capacity <= 0).all() and money <= 0 and (of_asker == capacity).all():
        return True
    report.complain("types.csv, workers.csv", "multipliers of errors are at least 0, of capacities and money at most")
    return False


def _size(tables: PolicyTables, error: Floats, of_asker: Floats, money: float, limits: PricedLimits) -> float:
    """What goes into the prices of all tasks, whether it cancels or not."""
    total = limits.size
    for k, one in enumerate(tables.types):
        vote = one.law.price * (1 - money) + np.abs(of_asker) + limits.sizes[k]
        labels = min(one.law.most, int(one.law.members.sum()))
        total += len(one.tasks) * (float(error[k]) + labels * float(vote.max(initial=0.0)))
    return total


def priced_by_state(rounds: int | None) -> LeastPrice:
    """Least prices of all tasks of a type, over the states of their votes."""

    def least(_: int, one: TypeOfPlan, error: Floats, asking: Floats, expert: float | None) -> float:
        recursion = Recursion(one.law, error, asking, expert, rounds)
        return sum(tasks * recursion.value(votes) for votes, tasks in one.standing.items())

    return least
