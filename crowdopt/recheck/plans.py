"""What a plan folder says against what is recomputed: its tables, errors, money, tasks left short, and all else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import isfinite
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.certificate import BOUND, lowered
from crowdopt.core.solution import PROVEN, relative_gap
from crowdopt.crowd.doubt import PARAMS as DOUBT
from crowdopt.crowd.doubt import left_open
from crowdopt.crowd.instance import COVERAGE, FIELDS, AssignmentInstance
from crowdopt.crowd.vote_errors import (
    CERTAIN,
    breaches,
    errors_of,
    exact_errors,
    most_errors,
    short_tasks,
    worst_breach,
)
from crowdopt.documents import finite
from crowdopt.io.plan import (
    ADDED,
    BEST_EFFORT,
    EACH,
    LIMITS,
    ONE,
    REMOVED,
    REPAIR,
    VOTE_ERROR,
    StoredPlan,
    class_names,
    queue_files,
    stated_prior,
    votes_table,
    weights_table,
)
from crowdopt.io.policy import ORDER_FILE, STEP_FILE
from crowdopt.io.schema import PLAN_TABLES, QUEUE
from crowdopt.io.settings import BEYOND, RECORD, difficulty_table
from crowdopt.io.tables import Table, campaign_pairs, read_table
from crowdopt.recheck.bounds import PER_TASK, certified_bound, joint_pull, proved_by_sets
from crowdopt.recheck.findings import Report

WHOLE = ("exact-error", "mean-error")  # rules without a linear program: no vote counts a share of a label


def check_errors(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Every task's exact error is what the plan says it is, and at most its target, or they are on average.

    excused (tasks,): tasks that the plan leaves short, as it says.
    """
    above, width = exact_errors(instance, stored.pairs)
    is_kept = instance.the_rule.average and above.mean() <= instance.epsilon.mean() + CERTAIN
    if instance.the_rule.average and not is_kept and not excused.any():
        says = f"errs with probability {above.mean():.6g} on average, more than {instance.epsilon.mean():g}"
        report.complain("assignment.csv", f"the plan {says}")
    elif not is_kept:
        _check_each(instance, np.where(excused, 0.0, above), report)
    if stored.tasks.rows != instance.n_tasks:
        return
    if "exact_error" not in stored.tasks or ("exact_width" in stored.tasks) != bool(width.any()):
        report.complain(stored.tasks.path.name, "the exact errors, or how exact they are, are missing")
        return
    check_columns(stored.tasks, {"exact_error": above} | ({"exact_width": width} if width.any() else {}), report)


def refuse_errors(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Complain of exact errors in a plan whose rule has none: nobody computed them, so nobody can stand by them."""
    if instance.rule in WHOLE:
        says = f"has shares of labels, and rule {instance.rule} is about votes of whole ones"
        report.complain("assignment.csv", f"{says}: nothing is promised of any task")
    for name in ("exact_error", "exact_width"):
        if name in stored.tasks:
            says = f"has a column {name}, which plans of this kind by rule {instance.rule} do not have"
            report.complain(stored.tasks.path.name, says)


def _check_each(instance: AssignmentInstance, above: Floats, report: Report) -> None:
    for task in np.flatnonzero(above > instance.epsilon + CERTAIN).tolist():
        says = f"errs with probability {above[task]:.6g}, more than its {instance.epsilon[task]:g}"
        report.complain("assignment.csv", f"task {instance.task_id(task)}: {says}")


def check_spending(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """A plan made for a sum of money: what it spends, expects to be wrong, and says that every plan expects."""
    said = stored.claims["spending"]
    keys = {"money", "wrong"} | ({"wrong_bound"} & set(said) if isinstance(said, dict) else set())
    if stored.amounts is not None:
        report.complain("plan.json", "spending is about whole labels, and the plan has shares of them")
        return
    if not isinstance(said, dict) or set(said) != keys or any(type(value) is not float for value in said.values()):
        report.complain(
            "plan.json", f"spending says {said!r}; it must have numbers money, wrong and perhaps wrong_bound"
        )
        return
    if not instance.the_rule.average:
        report.complain("plan.json", f"spending is about rule mean-error, not {instance.rule}")
        return
    if (report.objective or 0.0) > said["money"] * (1 + SAME):
        report.complain("plan.json", f"the plan costs {report.objective!r}, more than the {said['money']!r} to spend")
    wrong = float(most_errors(instance, stored.pairs).sum())
    if not agrees(said["wrong"], wrong):
        report.complain("plan.json", f"wrong says {said['wrong']!r}, but it is {wrong!r}")
    report.wrong = wrong
    if "wrong_bound" in said:
        if said["wrong_bound"] > wrong * (1 + SAME) + SAME:
            says = f"wrong_bound says {said['wrong_bound']!r}, more than the plan's own {wrong!r}"
            report.complain("plan.json", says)
        report.wrong_bound = _wrong_bound(instance, stored, said, report)
        if said["wrong_bound"] > (report.wrong_bound or 0.0) * (1 + BOUND) + BOUND:
            says = f"wrong_bound says {said['wrong_bound']!r}, but the multipliers prove {report.wrong_bound!r}"
            report.complain("plan.json", says)


def _wrong_bound(
    instance: AssignmentInstance, stored: StoredPlan, said: dict[str, float], report: Report
) -> float | None:
    if stored.workers.rows != instance.n_workers or stored.tasks.rows != instance.n_tasks:
        return None
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        return None
    price = stored.claims.get("wrong_dual", 0.0)
    if type(price) is not float or not price < 0:
        return None
    allowed, money = float(instance.epsilon.sum()), min(said["money"], _most_money(instance))
    enough, joint = money + (allowed - said["wrong_bound"]) * price, joint_pull(instance, stored.limits, report)
    with np.errstate(all="ignore"):
        proven = proved_by_sets(instance, stored, 0.0, joint, enough, report)
    return _number(_least_wrong(proven, allowed, -price, money))


def _least_wrong(proven: float, allowed: float, price: float, money: float) -> float:
    """The least E for the money, since a plan with E wrong answers costs at least ``proven + (allowed - E) price``."""
    size = abs(proven) + allowed * price + money
    return lowered(proven + allowed * price - money, size) / price


def _number(bound: float) -> float | None:
    return max(0.0, bound) if np.isfinite(bound) else None


def _most_money(instance: AssignmentInstance) -> float:
    """What all labels of all workers cost at most: more money buys nothing."""
    room = np.minimum(instance.capacity, instance.n_tasks)
    return float((room * instance.cost.max(axis=0)).sum())


SAME = 1e-9  # relative; how far a stored number may be from the recomputed one


def check_tasks(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Labels, evidence, need and error bound of every task."""
    n = instance.n_tasks
    if not _same_ids(stored.tasks, "task", instance.task_ids, report):
        return
    evidence = instance.collected_evidence + instance.supply(stored.pairs, stored.amounts)
    wanted = {
        "labels": np.bincount(stored.pairs[:, 0], weights=stored.shares, minlength=n).astype(float),
        "evidence": evidence,
        "need": instance.need,
    }
    if not instance.the_rule.checked or stored.amounts is not None:  # else the exact errors stand there
        if "error_bound" not in stored.tasks:
            report.complain(stored.tasks.path.name, "the error that the rule guarantees of each task is missing")
            return
        wanted["error_bound"] = instance.error_bound(evidence)
    elif "error_bound" in stored.tasks:
        report.complain(stored.tasks.path.name, f"rule {instance.rule} goes by exact errors and has no error_bound")
    check_columns(stored.tasks, wanted, report)


def check_workers(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Load and capacity of every worker."""
    m = instance.n_workers
    if not _same_ids(stored.workers, "worker", instance.worker_ids, report):
        return
    loads = np.bincount(stored.pairs[:, 1], weights=stored.shares, minlength=m).astype(float)
    check_columns(stored.workers, {"load": loads, "capacity": instance.capacity.astype(np.float64)}, report)


def _same_ids(table: Table, column: str, wanted: list[str], report: Report) -> bool:
    if table[column] == wanted:
        return True
    report.complain(table.path.name, f"its {column}s are not those of the campaign, one row each and in order")
    return False


def check_columns(table: Table, wanted: dict[str, Floats], report: Report) -> None:
    """Complain of the first row of each column that is not the recomputed number, to SAME.

    table: as stored; wanted dict of (rows,) arrays: column -> what it must say.
    """
    for name, values in wanted.items():
        off = np.flatnonzero(np.abs(table.numbers(name) - values) > SAME * np.maximum(1.0, np.abs(values)))
        if off.size:
            row = int(off[0])
            report.problems.append(
                str(table.error(row, name, f"says {table[name][row]}, but it is {values[row].item()!r}"))
            )


def check_weights(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Every worker in the plan has the rule's weight for every type that they label, and nobody else has one.

    Weights of the same workers for other types, which older plans have, must be the rule's too.
    """
    one = instance.confusion is None
    table = weights_table(stored.folder) if one else votes_table(stored.folder)
    cells = _cells(instance, stored, table, (ONE if one else EACH).required[:-1])
    labelled = np.stack([stored.pairs[:, 1], instance.task_type[stored.pairs[:, 0]]], axis=1)
    votes = list(product(range(instance.classes), repeat=0 if one else 2))  # label and class
    needed = {(*cell, *vote) for cell in labelled.tolist() for vote in votes}
    if len(set(cells)) != len(cells) or not needed <= set(cells) or any(-1 in cell for cell in cells):
        what = "" if one else ", each label and class"
        report.complain(
            table.path.name,
            f"it must have one row for each worker in the plan and each type that they label{what}, and nobody else's",
        )
        return
    wanted = _weights_of(instance, np.array(cells, np.int64))
    given = table.numbers("weight")
    for row in np.flatnonzero(np.abs(given - wanted) > SAME * np.maximum(1.0, np.abs(wanted))).tolist():
        report.complain(
            table.path.name,
            f"worker {table['worker'][row]}, type {table['type'][row]} has {given[row].item()!r}, the rule says "
            f"{wanted[row].item()!r}",
        )


def _cells(
    instance: AssignmentInstance, stored: StoredPlan, table: Table, columns: Sequence[str]
) -> list[tuple[int, ...]]:
    """Each row's worker, type and, where there are such columns, label and class, by index; -1 for an unknown one."""
    names = {name: k for k, name in enumerate(class_names(instance))}
    known: dict[str, dict[str, int]] = {
        "worker": {instance.worker_id(j): j for j in np.unique(stored.pairs[:, 1]).tolist()},
        "type": {instance.type_id(k): k for k in range(instance.n_types)},
        "label": names,
        "class": names,
    }
    places = [[known[name].get(text, -1) for text in table[name]] for name in columns]
    return list(zip(*places, strict=True))


def _weights_of(instance: AssignmentInstance, cells: Ints) -> Floats:
    if instance.confusion is None:
        worker, kind = cells.reshape(-1, 2).T
        return instance.weight[kind, worker]
    worker, kind, label, true = cells.reshape(-1, 4).T
    return np.asarray(np.log(instance.confusion[kind, worker, true, label]))


def check_queues(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Every worker in the plan has a list of exactly their tasks, and nobody else has one."""
    folder = stored.folder / "queues"
    wanted: dict[str, list[str]] = {}
    names = queue_files(instance.worker_ids)
    for task, worker in stored.pairs.tolist():
        wanted.setdefault(names[worker], []).append(instance.task_id(task))
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()
    for name in sorted(there ^ wanted.keys()):
        report.complain(f"queues/{name}", "is missing" if name in wanted else "belongs to no worker in the plan")
    for name in sorted(there & wanted.keys()):
        if sorted(read_table(folder / name, QUEUE)["task"]) != sorted(wanted[name]):
            report.complain(f"queues/{name}", "does not list the worker's tasks in assignment.csv")


EQUAL = 1e-6  # relative; task values this close are equal: the prices are a solver's


def check_repaired(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Undo the repair: what is left must be what Algorithm 1 takes, and lack what plan.json says it lacks."""
    said = stored.claims["repaired"]
    if stored.amounts is not None:
        report.complain("plan.json", "repaired is about whole labels, and the plan has shares of them")
        return
    if not _numbers(said):
        report.complain("plan.json", f"repaired says {said!r}; it must have numbers labels, short and lacking")
        return
    table = read_table(stored.folder / REPAIR, PLAN_TABLES["repair"])
    pairs, change = campaign_pairs(table, instance), np.array(table["change"], str)
    if not np.isin(change, (ADDED, REMOVED)).all():
        report.complain(REPAIR, f"change must be {ADDED} or {REMOVED}")
        return
    plan, m = _keys(stored.pairs, instance.n_workers), instance.n_workers
    added, removed = _keys(pairs[change == ADDED], m), _keys(pairs[change == REMOVED], m)
    if not np.isin(added, plan).all() or np.isin(removed, plan).any() or np.unique(removed).size < removed.size:
        report.complain(REPAIR, "added labels must be in the plan and removed ones not")
        return
    key = np.sort(np.concatenate([np.setdiff1d(plan, added), removed]))
    taken = np.column_stack([key // m, key % m])
    lack = np.maximum(0.0, instance.need - instance.collected_evidence - instance.supply(taken))
    short = lack > COVERAGE
    for name, value in (("labels", len(taken)), ("short", int(short.sum())), ("lacking", float(lack[short].sum()))):
        if not agrees(said[name], value):
            report.complain("plan.json", f"repaired.{name} says {said[name]!r}, but it is {value!r}")
    if "" not in stored.tasks["dual"] and stored.tasks.rows == instance.n_tasks:
        _check_taken(instance, taken, stored.tasks.numbers("dual"), report)


def _numbers(said: Any) -> bool:
    if not isinstance(said, dict) or set(said) != {"labels", "short", "lacking"}:
        return False
    return all(type(value) in (int, float) and isfinite(value) for value in said.values())


def _keys(pairs: Ints, workers: int) -> Ints:
    return np.asarray(pairs[:, 0] * workers + pairs[:, 1])


def _check_taken(instance: AssignmentInstance, taken: Ints, price: Floats, report: Report) -> None:
    """Every worker has the open tasks of highest value, none below 0, as many as there are or the worker can do."""
    with np.errstate(all="ignore"):
        for worker in range(instance.n_workers):
            kind, own = instance.task_type, taken[taken[:, 1] == worker, 0]
            value = instance.evidence[kind, worker] * price - instance.cost[kind, worker]
            near = EQUAL * max(1.0, float(np.abs(value).max(initial=0.0)))
            fixed = instance.fixed[instance.fixed[:, 1] == worker, 0]
            chosen, left = np.setdiff1d(own, fixed), instance.need > COVERAGE
            left[np.concatenate([own, instance.barred[instance.barred[:, 1] == worker, 0]])] = False
            worst = value[chosen].min(initial=np.inf)
            best = value[left].max(initial=-np.inf)
            more = own.size < instance.capacity[worker]
            if worst < -near or (best > near if more else best > worst + near and chosen.size > 0):
                who = instance.worker_id(worker)
                report.complain("assignment.csv", f"repair undone, {who} has other tasks than Algorithm 1 gives them")
                return


SHORT = "short"  # entry of plan.json and column of tasks.csv
FEW = 8  # labels of a task: more are not looked for, as even a search that is cut short looks for so many


def tasks_said_short(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> Bools:
    """Tasks that plan.json names as short, (tasks,); report: takes the complaint where that is no list of tasks."""
    said, n = stored.claims.get(SHORT, []), instance.n_tasks
    place = instance.task_places
    excused = np.zeros(n, bool)
    if (SHORT in stored.claims) != (stored.claims.get("status") == BEST_EFFORT) or stored.amounts is not None:
        if SHORT in stored.claims or stored.claims.get("status") == BEST_EFFORT:
            report.complain("plan.json", f"status {BEST_EFFORT!r} and a list {SHORT!r} of tasks belong together")
        return excused
    if not isinstance(said, list) or any(type(one) is not str or one not in place for one in said):
        report.complain("plan.json", f"{SHORT} says {str(said)[:80]}, which is no list of the campaign's tasks")
        return excused
    if len(set(said)) < len(said):
        report.complain("plan.json", f"{SHORT} names a task twice")
    excused[[place[one] for one in said]] = True
    return excused


def check_short(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Each task named gets less than it asks for, and the table says so too.

    Of the others the limits are looked at elsewhere. excused (tasks,): those named; report: takes the complaints.
    """
    report.short = int(excused.sum())
    if not excused.any() and SHORT not in stored.claims:
        for name in (SHORT, "target", VOTE_ERROR):
            if name in stored.tasks:
                report.complain(stored.tasks.path.name, f"has a column {name}, but plan.json names no task as short")
        return
    served = np.setdiff1d(np.flatnonzero(excused), short_tasks(instance, stored.pairs))
    for task in served.tolist():
        report.complain("plan.json", f"{SHORT} names task {instance.task_id(task)}, which gets what it asks for")
    spare = None if served.size else _served_by_spare_labels(instance, stored.pairs, excused)
    if spare is not None:
        report.complain(
            "plan.json", f"{SHORT} names task {instance.task_id(spare)}, which labels that are left would serve"
        )
    if stored.tasks.rows != instance.n_tasks:
        return
    if SHORT not in stored.tasks or "target" not in stored.tasks:
        report.complain(stored.tasks.path.name, f"the columns target and {SHORT} are missing")
        return
    if stored.tasks[SHORT] != ["yes" if one else "no" for one in excused.tolist()]:
        report.complain(stored.tasks.path.name, f"its column {SHORT} does not name the tasks that plan.json names")
    check_columns(stored.tasks, {"target": instance.epsilon}, report)
    if VOTE_ERROR in stored.tasks:
        check_columns(stored.tasks, {VOTE_ERROR: most_errors(instance, stored.pairs)}, report)


def _served_by_spare_labels(instance: AssignmentInstance, pairs: Ints, excused: Bools) -> int | None:
    """The first task said to be short that the best labels left, FEW in all at most, serve within every limit."""
    if instance.the_rule.average:
        return None
    room = instance.capacity - np.bincount(pairs[:, 1], minlength=instance.n_workers)
    spent = instance.prices(pairs).sum()
    for task in np.flatnonzero(excused).tolist():
        worth = np.where(room > 0, instance.evidence[instance.task_type[task]], 0.0)
        mine = pairs[pairs[:, 0] == task, 1]
        worth[[*mine, *instance.barred[instance.barred[:, 0] == task, 1]]] = 0.0
        most = min(int((worth > 0).sum()), FEW - mine.size, int(instance.new_label_limits[1][task]) - mine.size)
        best = np.argsort(-worth, kind="stable")[: max(0, most)]
        low, high = 0, best.size + 1
        while high - low > 1:
            middle = (low + high) // 2
            more = _is_served(instance, task, np.append(mine, best[:middle]))
            low, high = (low, middle) if more else (middle, high)
        new = np.column_stack([np.full(best[:high].size, task), best[:high]])
        if high > best.size or (instance.budget is not None and spent + instance.prices(new).sum() > instance.budget):
            continue
        others = np.setdiff1d(np.flatnonzero(excused), task)
        if not breaches(instance, np.concatenate([pairs, new]), short=others):
            return task
    return None


def _is_served(instance: AssignmentInstance, task: int, workers: Ints) -> bool:
    had = instance.collected[instance.collected[:, 0] == task, 1][: 0 if instance.observed else None]
    worth = instance.evidence[instance.task_type[task], workers].sum()
    if instance.collected_evidence[task] + worth < instance.need[task] - COVERAGE:
        return False
    if not instance.the_rule.checked:
        return True
    error = errors_of(instance, np.array([task]), [np.append(had, workers)])[0]
    return bool(error <= instance.epsilon[task] + CERTAIN)


def _needless(instance: AssignmentInstance, pairs: Ints) -> tuple[int, int] | None:
    """A label that costs something and can be taken back within every limit, among the dearest ones."""
    price = instance.prices(pairs)
    for k in np.argsort(-price, kind="stable")[: 0 if instance.the_rule.average else DEAREST].tolist():
        task, worker = pairs[k].tolist()
        others = pairs[(pairs[:, 0] == task) & (pairs[:, 1] != worker), 1]
        if price[k] > 0 and _is_served(instance, task, others) and not breaches(instance, np.delete(pairs, k, axis=0)):
            return task, worker
    return None


HELD = {"status", "program", "proven", "proof", "objective", "bound", "certified_bound", "gap", "violation", "labels"}
HELD |= {"cost", "tasks", "workers", "rule", "classes", "epsilon", "skills", "prior", "difficulty"}
HELD |= {"wrong_dual", "budget_dual", "spending", "repaired", "short", "left_open", RECORD, BEYOND}
MADE = {"title", "method", "backend", "seed", "note", "edition", "versions"}  # how it was made: no claim about the plan


def refuse_unheld(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Complain of entries, files and multipliers that belong to no claim of this plan; report: takes the complaints."""
    claims = stored.claims
    priced = "" not in stored.tasks["dual"] and "" not in stored.workers["dual"]
    for table in (stored.tasks, stored.workers):
        if not priced and any(table["dual"]):
            report.complain(table.path.name, "has multipliers, though not of every task and worker")
    for key in sorted(claims.keys() - HELD - MADE):
        report.complain("plan.json", f"has an entry {key!r}, which nothing is held against")
    reasons = {
        "wrong_dual": (priced and instance.the_rule.average, f"rule {instance.rule} prices no error, or nothing does"),
        "budget_dual": (instance.budget is not None, "the campaign has no budget"),
    }
    for key, (belongs, why) in reasons.items():
        if key in claims and not belongs:
            report.complain("plan.json", f"{key} says {claims[key]!r}, but {why}")
    if instance.the_rule.average and "labels_dual" in stored.tasks:
        report.complain(stored.tasks.path.name, f"has a column labels_dual, for which rule {instance.rule} has no use")
    if BEYOND in claims and not names_fields(claims[BEYOND]):
        report.complain("plan.json", f"{BEYOND} says {claims[BEYOND]!r}, which is no list of what a plan cannot record")
    _refuse_files(instance, stored, report)


def names_fields(said: Any) -> bool:
    """Whether an entry names some of what a plan cannot record."""
    named = {one.beyond for one in FIELDS if one.beyond}
    return isinstance(said, list) and bool(said) and all(one in named for one in said)


def _refuse_files(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    joint = bool(instance.groups) or instance.own_rows is not None
    for name, belongs, why in (
        (REPAIR, "repaired" in stored.claims, "plan.json says nothing of a repair"),
        (LIMITS, joint, "the campaign has no groups, shares or rows"),
        ("queues", stored.amounts is None, "shares of labels are no lists of tasks"),
        *((name, False, "this plan asks no one by one") for name in ("policy.csv", ORDER_FILE, STEP_FILE)),
    ):
        if (stored.folder / name).exists() and not belongs:
            report.complain(name, f"is there, but {why}")
    table = stored.limits
    pairs = [] if table is None else zip(table["limit"], table["task"], strict=True)
    for where in [where for limit, where in pairs if where and limit != PER_TASK][:1]:
        report.complain(LIMITS, f"names the task {where!r} for a limit that is not one task's")


DEAREST = 500  # labels that are looked at, where a solver's word is all there is
EXCESS = 1e-6  # relative; by how much evidence that may be short by COVERAGE lets a plan cost less than its bound


def check_claims(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Recompute whatever plan.json says of the plan, and complain of what differs.

    excused (tasks,): tasks that it leaves short, as it says: such a plan has no bound.
    """
    shares = stored.shares
    is_integer = stored.amounts is None
    report.objective = float((instance.prices(stored.pairs) * shares).sum())
    report.labels = float(shares.sum())
    report.violation = worst_breach(instance, stored.pairs, stored.amounts, np.flatnonzero(excused))
    report.certified_bound = certified_bound(instance, stored, report, is_integer)
    if excused.any() and (stored.claims.get("bound") is not None or report.certified_bound is not None):
        report.complain("plan.json", "has a bound, but no plan of all tasks is claimed that it could be a bound of")
    report.bound, report.proof = _bound(stored, report)
    gap = relative_gap(report.objective, report.bound if report.bound is not None else -np.inf)
    report.proven = report.proof != "none" and abs(gap) <= PROVEN
    spare = _needless(instance, stored.pairs) if report.proven and report.proof == "solver" and is_integer else None
    if spare is not None:
        task, worker = instance.task_id(spare[0]), instance.worker_id(spare[1])
        report.complain("plan.json", f"is proven on a solver's word, but task {task} does without worker {worker}")
    for name, value in {
        "objective": report.objective,
        "cost": report.objective,
        "labels": report.labels,
        "violation": report.violation,
        "gap": finite(gap),
        **settings_said(instance, instance.has_prior or instance.observed),
        "program": "ip" if is_integer else "lp",
        "proven": report.proven,
        "status": BEST_EFFORT if excused.any() else "optimal" if report.proven else "feasible",
        "proof": report.proof,  # a solver's word for what multipliers prove as well claims too little, not too much
    }.items():
        less = name == "proof" and (stored.claims.get(name), value) == ("solver", "certificate")
        if not less and not agrees(stored.claims.get(name), value):
            report.complain("plan.json", f"{name} says {stored.claims.get(name)!r}, but it is {value!r}")


def check_left_open(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Recompute what the plan says that gold leaves open."""
    said = stored.claims["left_open"]
    share = said.get("share") if isinstance(said, dict) else None
    known, (least, most) = None, DOUBT.shares
    if stored.amounts is None and isinstance(share, float) and least <= share <= most:
        known = left_open(instance, stored.pairs, share)
    true = {} if known is None else known.facts
    if not true or said.keys() != true.keys() or not all(agrees(said[key], value) for key, value in true.items()):
        report.complain("plan.json", f"left_open says {str(said)[:200]}, but it is {true or 'not known'}")


def settings_said(instance: AssignmentInstance, has_prior: bool) -> dict[str, Any]:
    """What plan.json of any plan has to say of the instance; has_prior: whether a prior is one of its settings."""
    return {
        "prior": stated_prior(instance) if has_prior else None,
        "tasks": instance.n_tasks,
        "workers": instance.n_workers,
        "rule": instance.rule,
        "classes": instance.classes,
        "epsilon": "per task" if instance.one_target is None else instance.one_target,
        "difficulty": difficulty_table(instance.difficulty) if instance.difficulty.share else None,
        "skills": instance.skills_source,
    }


def agrees(said: Any, true: Any) -> bool:
    """Whether a stored value is the recomputed one: numbers to SAME, anything else exactly, types included."""
    if isinstance(said, bool) or isinstance(true, bool) or not isinstance(true, int | float):
        return type(said) is type(true) and bool(said == true)
    if isinstance(said, bool) or not isinstance(said, int | float):
        return False
    return abs(said - true) <= SAME * max(1.0, abs(true))


def refuse_excess(report: Report) -> None:
    """What holds costs no less than what every plan costs: a bound that says so is wrong, whoever made it."""
    cost, proven = report.objective, report.certified_bound
    if not report.holds or cost is None or proven is None:
        return
    if not proven <= cost + EXCESS * max(1.0, abs(cost)):
        report.complain("plan.json", f"the multipliers prove {proven!r}, more than the plan costs, {cost!r}")


def _bound(stored: StoredPlan, report: Report) -> tuple[float | None, str]:
    """The claimed bound as far as it stands: anybody's up to the certified one, only the solver's above it."""
    claimed, certified = stored.claims.get("bound"), report.certified_bound
    assert report.objective is not None
    if claimed is None or isinstance(claimed, bool) or not isinstance(claimed, int | float):
        if claimed is not None or certified is not None:
            report.complain("plan.json", f"bound says {claimed!r}, but the multipliers prove {certified!r}")
        return None, "none"
    slack = BOUND * max(1.0, abs(claimed))
    if claimed > report.objective + slack:
        report.complain("plan.json", f"the bound {claimed!r} is above the cost {report.objective!r} of the plan itself")
        return float(claimed), "none"
    if certified is not None and claimed <= certified + slack:
        return float(claimed), "certificate"
    if stored.claims.get("proof") == "certificate" or stored.amounts is not None:
        report.complain("plan.json", f"the bound {claimed!r} is more than the multipliers prove, {certified!r}")
    return float(claimed), "solver"
