"""A second opinion on a plan: everything recomputed from the campaign folder and the plan folder alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.plan import breaches, queues, worst_breach
from crowdopt.core.certificate import BOUND, PROVEN, relative_gap
from crowdopt.crowd.exactness import CERTAIN, exact_errors, relaxation
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_campaign
from crowdopt.io.overrides import BEYOND, RECORD, overridden
from crowdopt.io.plan_folder import queue_file, stated_prior
from crowdopt.io.tables import Table, read_table
from crowdopt.recheck.proofs import prove_blocks, prove_patterns

FORMS = ("rows", "blocks", "patterns")  # of a certified bound; see plan.Duals
MOST_LEVELS = 1000  # of skill
SAME = 1e-9  # relative; how far a stored number may be from the recomputed one


@dataclass
class Report:
    """What was found: ``problems`` (empty: the plan holds), and what was recomputed."""

    problems: list[str] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    objective: float | None = None
    bound: float | None = None
    certified_bound: float | None = None
    proven: bool = False
    proof: str = "none"
    labels: float = 0.0
    violation: float = 0.0
    wrong: float | None = None
    wrong_bound: float | None = None

    @property
    def holds(self) -> bool:
        """Whether every claim of the plan is true, or at least not refuted where only the solver vouches for it."""
        return not self.problems

    def complain(self, place: str, problem: str) -> None:
        """Note a claim that does not hold."""
        self.problems.append(f"{place}: {problem}")


@dataclass(frozen=True, eq=False)
class _Stored:
    """The plan folder as read."""

    claims: dict[str, Any]
    pairs: Ints
    amounts: Floats | None
    tasks: Table
    workers: Table
    folder: Path


def verify(campaign: str | Path, plan: str | Path) -> Report:
    """Hold a plan folder against a campaign folder.

    Recomputed: who may label what, loads, labels, evidence, error bounds, vote weights, queues, cost, violation, gap,
    and the bound that the stored multipliers prove. A branch-and-bound bound above that stays the solver's word.

    Raises
    ------
    InputError
        If one of the folders cannot be read.
    """
    folder = Path(plan)
    claims = _read_claims(folder / "plan.json")
    instance = overridden(read_campaign(campaign), claims.get(RECORD, {}))
    stored = _read(folder, claims, instance)
    report = Report(overrides=claims.get(RECORD, {}))
    for breach in breaches(instance, stored.pairs, stored.amounts):
        report.complain("assignment.csv", str(breach))
    _check_tasks(instance, stored, report)
    _check_workers(instance, stored, report)
    _check_weights(instance, stored, report)
    if instance.the_rule.checked and stored.amounts is None:
        _check_errors(instance, stored, report)
    if stored.amounts is None:
        _check_queues(instance, stored, report)
    _check_claims(instance, stored, report)
    if "spending" in claims:
        _check_spending(instance, stored, report)
    if report.problems and claims.get(BEYOND):
        report.problems.insert(0, _other_instance(claims[BEYOND]))
    return report


def _other_instance(what: Any) -> str:
    """Why a plan cannot hold: it was made for something that its campaign folder does not have."""
    named = ", ".join(map(str, what)) if isinstance(what, list) else str(what)
    return (
        f"plan.json: made for an instance that differs from the campaign in its {named[:200]}, which a plan cannot "
        "record; write that instance as a campaign of its own (crowdopt.write_campaign) and verify against that"
    )


def _read_claims(path: Path) -> dict[str, Any]:
    try:
        claims = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant, parse_int=_small)
    except FileNotFoundError:
        raise InputError(f"there is no plan in {path.parent}: plan.json is missing") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from None
    if not isinstance(claims, dict):
        raise InputError(f"{path.name} is no JSON object")
    return claims


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it says {name}, which is no number")


def _small(digits: str) -> int:
    if len(digits) > 18:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _read(folder: Path, claims: dict[str, Any], instance: AssignmentInstance) -> _Stored:
    table = read_table(folder / "assignment.csv", ("task", "worker"), ("value",))
    pairs = np.column_stack(
        [
            table.places("task", _index(instance.task_id, instance.n_tasks), "it is not in the campaign"),
            table.places("worker", _index(instance.worker_id, instance.n_workers), "it is not in the campaign"),
        ]
    )
    return _Stored(
        claims=claims,
        pairs=pairs,
        amounts=table.numbers("value") if "value" in table else None,
        tasks=read_table(
            folder / "tasks.csv",
            ("task", "labels", "evidence", "need", "error_bound", "dual"),
            ("labels_dual", "exact_error", "exact_width"),
        ),
        workers=read_table(folder / "workers.csv", ("worker", "load", "capacity", "dual")),
        folder=folder,
    )


def _index(name: Any, count: int) -> dict[str, int]:
    return {name(k): k for k in range(count)}


def _check_tasks(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    n = instance.n_tasks
    if not _same_ids(stored.tasks, "task", [instance.task_id(i) for i in range(n)], report):
        return
    shares = np.ones(len(stored.pairs)) if stored.amounts is None else stored.amounts
    evidence = instance.collected_evidence + instance.supply(stored.pairs, stored.amounts)
    wanted = {
        "labels": np.bincount(stored.pairs[:, 0], weights=shares, minlength=n).astype(float),
        "evidence": evidence,
        "need": instance.need,
        "error_bound": instance.error_bound(evidence),
    }
    _check_columns(stored.tasks, wanted, report)


def _check_errors(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    """Every task's exact error is what the plan says it is, and at most its target, or they are on average."""
    above, width = exact_errors(instance, stored.pairs)
    if instance.the_rule.average:
        if above.mean() > instance.epsilon.mean() + CERTAIN:
            says = f"errs with probability {above.mean():.6g} on average, more than {instance.epsilon.mean():g}"
            report.complain("assignment.csv", f"the plan {says}")
    else:
        _check_each(instance, above, report)
    if stored.tasks.rows != instance.n_tasks:
        return
    if "exact_error" not in stored.tasks or ("exact_width" in stored.tasks) != bool(width.any()):
        report.complain(stored.tasks.path.name, "the exact errors, or how exact they are, are missing")
        return
    _check_columns(stored.tasks, {"exact_error": above} | ({"exact_width": width} if width.any() else {}), report)


def _check_each(instance: AssignmentInstance, above: Floats, report: Report) -> None:
    for task in np.flatnonzero(above > instance.epsilon + CERTAIN).tolist():
        says = f"errs with probability {above[task]:.6g}, more than its {instance.epsilon[task]:g}"
        report.complain("assignment.csv", f"task {instance.task_id(task)}: {says}")


def _check_workers(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    m = instance.n_workers
    if not _same_ids(stored.workers, "worker", [instance.worker_id(j) for j in range(m)], report):
        return
    shares = np.ones(len(stored.pairs)) if stored.amounts is None else stored.amounts
    loads = np.bincount(stored.pairs[:, 1], weights=shares, minlength=m).astype(float)
    _check_columns(stored.workers, {"load": loads, "capacity": instance.capacity.astype(np.float64)}, report)


def _same_ids(table: Table, column: str, wanted: list[str], report: Report) -> bool:
    if table[column] == wanted:
        return True
    report.complain(table.path.name, f"its {column}s are not those of the campaign, one row each and in order")
    return False


def _check_columns(table: Table, wanted: dict[str, Floats], report: Report) -> None:
    for name, values in wanted.items():
        off = np.flatnonzero(np.abs(table.numbers(name) - values) > SAME * np.maximum(1.0, np.abs(values)))
        if off.size:
            row = int(off[0])
            report.problems.append(
                str(table.error(row, name, f"says {table[name][row]}, but it is {values[row].item()!r}"))
            )


def _check_weights(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    """Every worker in the plan has the rule's weight for every type, and nobody else has one."""
    table = read_table(stored.folder / "weights.csv", ("worker", "type", "weight"))
    kinds, workers = range(instance.n_types), np.unique(stored.pairs[:, 1]).tolist()
    wanted = {
        (instance.worker_id(j), instance.type_id(k)): float(instance.weight[k, j]) for j in workers for k in kinds
    }
    given = dict(zip(zip(table["worker"], table["type"], strict=True), table.numbers("weight").tolist(), strict=True))
    if given.keys() != wanted.keys() or len(given) != table.rows:
        report.complain(table.path.name, "it must have one row for each type and each worker in the plan, no other")
        return
    for cell, weight in wanted.items():
        if abs(given[cell] - weight) > SAME * max(1.0, abs(weight)):
            report.complain(
                table.path.name,
                f"worker {cell[0]}, type {cell[1]} has {given[cell]!r}, the rule says {weight!r}",
            )


def _check_queues(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    folder = stored.folder / "queues"
    wanted = {
        queue_file(instance.worker_id(worker)): sorted(instance.task_id(i) for i in tasks.tolist())
        for worker, tasks in queues(stored.pairs)
    }
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()
    for name in sorted(there ^ wanted.keys()):
        report.complain(f"queues/{name}", "is missing" if name in wanted else "belongs to no worker in the plan")
    for name in sorted(there & wanted.keys()):
        if sorted(read_table(folder / name, ("task",))["task"]) != wanted[name]:
            report.complain(f"queues/{name}", "does not list the worker's tasks in assignment.csv")


def _check_claims(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    shares = np.ones(len(stored.pairs)) if stored.amounts is None else stored.amounts
    is_integer = stored.amounts is None
    report.objective = float(instance.prices(stored.pairs) @ shares)
    report.labels = float(shares.sum())
    report.violation = worst_breach(instance, stored.pairs, stored.amounts)
    report.certified_bound = _certified_bound(instance, stored, report, is_integer)
    report.bound, report.proof = _bound(stored, report)
    gap = relative_gap(report.objective, report.bound if report.bound is not None else -np.inf)
    report.proven = report.proof != "none" and gap <= PROVEN
    for name, value in {
        "objective": report.objective,
        "cost": report.objective,
        "labels": report.labels,
        "violation": report.violation,
        "tasks": instance.n_tasks,
        "workers": instance.n_workers,
        "gap": gap if np.isfinite(gap) else None,
        "epsilon": float(instance.epsilon[0]) if (instance.epsilon == instance.epsilon[0]).all() else "per task",
        "rule": instance.rule,
        "classes": instance.classes,
        "prior": stated_prior(instance) if instance.has_prior or instance.observed else None,
        "skills": instance.skills_source,
        "program": "ip" if is_integer else "lp",
        "proven": report.proven,
        "status": "optimal" if report.proven else "feasible",
        "proof": report.proof,
    }.items():
        if not _agrees(stored.claims.get(name), value):
            report.complain("plan.json", f"{name} says {stored.claims.get(name)!r}, but it is {value!r}")


def _agrees(said: Any, true: Any) -> bool:
    if isinstance(said, bool) or isinstance(true, bool) or not isinstance(true, int | float):
        return type(said) is type(true) and bool(said == true)
    if isinstance(said, bool) or not isinstance(said, int | float):
        return False
    return abs(said - true) <= SAME * max(1.0, abs(true))


def _bound(stored: _Stored, report: Report) -> tuple[float | None, str]:
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
    if certified is not None and claimed <= certified + slack:
        return float(claimed), "certificate"
    if stored.claims.get("proof") == "certificate" or stored.amounts is not None:
        report.complain("plan.json", f"the bound {claimed!r} is more than the multipliers prove, {certified!r}")
    return float(claimed), "solver"


def _certified_bound(instance: AssignmentInstance, stored: _Stored, report: Report, is_integer: bool) -> float | None:
    """The bound that the stored multipliers prove; it must not be less than plan.json says."""
    said = stored.claims.get("certified_bound")
    instance = relaxation(instance) if is_integer else instance
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        if said is not None:
            report.complain("plan.json", "claims a certified bound, but multipliers are missing")
        return None
    if stored.tasks.rows != instance.n_tasks or stored.workers.rows != instance.n_workers:
        return None
    limits = stored.tasks.numbers("labels_dual") if "labels_dual" in stored.tasks else np.zeros(instance.n_tasks)
    budget = stored.claims.get("budget_dual", 0.0)
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        report.complain("plan.json", f"budget_dual says {budget!r}, which is no number")
        return None
    form = stored.claims.get("certified_by")
    if form not in (FORMS if is_integer else FORMS[:1]):
        report.complain("plan.json", f"certified_by says {form!r}, not {' or '.join(FORMS)} (shares of labels: rows)")
    least = fewest_labels(instance) if is_integer else instance.new_label_limits[0]
    multipliers = stored.tasks.numbers("dual"), stored.workers.numbers("dual"), limits, float(budget)
    with np.errstate(all="ignore"):
        proven = prove(instance, *multipliers, least)
        if form == "blocks" and is_integer:
            proven = max(proven, prove_blocks(instance, *multipliers[1:]))
        if form == "patterns" and is_integer:
            proven = max(proven, _proved_by_patterns(instance, stored, multipliers[1], float(budget), report))
    if not np.isfinite(proven):
        report.complain("tasks.csv and workers.csv", "the multipliers prove nothing: they are too large")
        return None
    whole_prices = bool((instance.cost == np.rint(instance.cost)).all())
    if is_integer and whole_prices:
        proven = float(np.ceil(proven - BOUND * max(1.0, abs(proven))))
    if isinstance(said, bool) or not isinstance(said, int | float):
        report.complain("plan.json", f"certified_bound says {said!r}, but the multipliers prove {proven!r}")
    elif not said <= proven + BOUND * max(1.0, abs(proven)):
        report.complain(
            "plan.json", f"certified_bound says {said!r}, but the multipliers prove no more than {proven!r}"
        )
    return proven


def _proved_by_patterns(
    instance: AssignmentInstance, stored: _Stored, worker: Floats, budget: float, report: Report
) -> float:
    wrong, levels = stored.claims.get("wrong_dual"), stored.claims.get("levels")
    if type(wrong) is not float or type(levels) is not int or not 0 < levels <= MOST_LEVELS or instance.classes != 2:
        report.complain("plan.json", f"wrong_dual and levels say {wrong!r} and {levels!r}, which prove nothing")
        return -np.inf
    return prove_patterns(instance, worker, budget, wrong, levels)


def _check_spending(instance: AssignmentInstance, stored: _Stored, report: Report) -> None:
    """A plan made for a sum of money: what it spends, expects to be wrong, and says that every plan expects."""
    said = stored.claims["spending"]
    keys = {"money", "wrong"} | ({"wrong_bound"} & set(said) if isinstance(said, dict) else set())
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
    wrong = float(exact_errors(instance, stored.pairs)[0].sum())
    if not _agrees(said["wrong"], wrong):
        report.complain("plan.json", f"wrong says {said['wrong']!r}, but it is {wrong!r}")
    report.wrong = wrong
    if "wrong_bound" in said:
        report.wrong_bound = _wrong_bound(instance, stored, said["money"], report)
        if said["wrong_bound"] > (report.wrong_bound or 0.0) * (1 + BOUND) + BOUND:
            says = f"wrong_bound says {said['wrong_bound']!r}, but the multipliers prove {report.wrong_bound!r}"
            report.complain("plan.json", says)


def _wrong_bound(instance: AssignmentInstance, stored: _Stored, money: float, report: Report) -> float | None:
    """Every plan with E wrong answers costs at least ``proven - wrong_dual (allowed - E)``: so E for this money."""
    if stored.claims.get("certified_by") != "patterns" or stored.workers.rows != instance.n_workers:
        return None
    price = -stored.claims.get("wrong_dual", 0.0)
    proven = _proved_by_patterns(instance, stored, stored.workers.numbers("dual"), 0.0, report)
    allowed = float(instance.epsilon.sum())
    return (proven + allowed * price - money) / price if price > 0 else None


def fewest_labels(instance: AssignmentInstance) -> Ints:
    """With how many labels each task could reach its need at all, the best workers first: no plan gives it fewer.

    A task that is short of its need by COVERAGE still counts as covered. Workers it may not have are left out; if all
    the others together do not reach the need, the answer is one more than they are.
    """
    fewest = instance.new_label_limits[0].copy()
    need = instance.floor
    ranked = np.sort(instance.evidence, axis=1)[:, ::-1]
    for kind in range(instance.n_types):
        tasks = np.flatnonzero(instance.task_type == kind)
        reachable = np.cumsum(ranked[kind])
        fewest[tasks] = np.maximum(fewest[tasks], 1 + np.searchsorted(reachable, need[tasks]))
    fewest[need <= 0] = instance.new_label_limits[0][need <= 0]  # searching for 0 says 1
    for task in np.unique(instance.barred[:, 0]):
        allowed = instance.evidence[instance.task_type[task]].copy()
        allowed[instance.barred[instance.barred[:, 0] == task, 1]] = 0.0
        if need[task] > 0:
            reachable = np.cumsum(np.sort(allowed)[::-1])
            count = 1 + int(np.searchsorted(reachable, need[task]))
            fewest[task] = max(instance.new_label_limits[0][task], count)
    return fewest


def prove(
    instance: AssignmentInstance, task: Floats, worker: Floats, labels: Floats, budget: float, fewest: Ints
) -> float:
    """``min over y of the Lagrangian``: a lower bound on every plan's cost, whatever the multipliers.

    ``sum_i C_i x_i + a_i [l_i]+ - b_i [l_i]- + sum_j L_j [w_j]+ - M_j [w_j]- - B [b]- + sum_ij min(0, r_ij)`` with
    ``r_ij = (1 - b) c_ij - q_ij x_i - l_i - w_j``; a fixed pair counts r_ij itself, a barred one nothing. Multipliers
    that pull on a side that is not there count as 0; ``fewest`` is a_i. Evaluated task by task, independently of the
    program's matrix.
    """
    most = instance.new_label_limits[1]
    x = np.maximum(task, 0.0)
    limit = np.where((labels < 0) & (most == UNLIMITED), 0.0, labels)
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    rows = float(instance.floor @ x)
    rows += float(np.where(limit > 0, fewest, np.where(most == UNLIMITED, 0, most)) @ limit)
    rows += float(np.where(load > 0, instance.min_load, instance.capacity) @ load)
    rows += spend * (instance.budget or 0.0)
    kinds = instance.task_type

    def reduced(i: Ints, j: Ints) -> Floats:
        kind = kinds[i]
        return (1 - spend) * instance.cost[kind, j] - instance.evidence[kind, j] * x[i] - limit[i] - load[j]

    everybody = np.arange(instance.n_workers)[None, :]
    step = max(1, 2_000_000 // instance.n_workers)
    total = rows
    for start in range(0, instance.n_tasks, step):
        some = np.arange(start, min(start + step, instance.n_tasks))[:, None]
        total += float(np.minimum(0.0, reduced(some, everybody)).sum())
    barred, fixed = instance.barred, instance.fixed
    total -= float(np.minimum(0.0, reduced(barred[:, 0], barred[:, 1])).sum())
    return total + float(np.maximum(0.0, reduced(fixed[:, 0], fixed[:, 1])).sum())
