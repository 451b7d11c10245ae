"""A plan folder: what to do, what it rests on, and the numbers with which a stranger can check it."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan, queues
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import finite, write_json
from crowdopt.io.campaign.campaign_settings import difficulty_table
from crowdopt.io.campaign.overrides import BEYOND, beyond, overrides
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.plan.stored_plan import BEST_EFFORT, LIMITS, VOTE_ERROR
from crowdopt.io.plan.vote_table import write_weights
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import PLAN, new_folder
from crowdopt.io.tables.label_table import pair_ids
from crowdopt.version import __version__

LIBRARIES = ("highspy", "numpy", "scipy")
REPAIR, ADDED, REMOVED = "repair.csv", "added", "removed"  # what mending changed in an approximation


def write_plan(plan: Plan, folder: str | Path, *, force: bool = False) -> None:
    """Write a plan as a folder, whole or not at all; as :func:`crowdopt.write_plan` does."""
    if plan.pairs is None:
        raise ValueError(f"there is no plan to write: {plan.status.value}")
    with new_folder(Path(folder), PLAN, force) as new:
        _write_assignment(plan, new)
        _write_tasks(plan, new)
        _write_workers(plan, new)
        _write_limits(plan, new)
        write_weights(plan.instance, plan.pairs, new)
        if plan.amounts is None:
            write_queues(plan.instance, plan.pairs, new)
        _write_repair(plan, new)
        write_json(new / "plan.json", summary(plan))
        write_json(new / "run.json", run_facts(plan))


def summary(plan: Plan) -> dict[str, Any]:
    """The plan in numbers: all of it the same in two equal runs."""
    instance = plan.instance
    numbers: dict[str, Any] = {
        "title": instance.title,
        "status": BEST_EFFORT if plan.short.size else plan.status.value,
        "program": plan.program,
        "proven": plan.proven and not plan.short.size,
        "proof": "none" if plan.short.size else plan.proof,
        "objective": plan.objective,
        "bound": finite(plan.bound),
        "certified_bound": finite(plan.certified_bound),
        "gap": finite(plan.gap),
        "violation": plan.violation,
        "labels": None if plan.pairs is None else _whole(plan.labels),
        "cost": plan.objective,
        **instance_facts(instance),
        "method": plan.method,
        "backend": plan.backend,
        "seed": plan.seed,
    }
    numbers |= _law_facts(instance)
    if plan.duals is not None and instance.the_rule.average:
        numbers["wrong_dual"] = plan.duals.wrong
    if plan.duals is not None and instance.budget is not None:
        numbers["budget_dual"] = plan.duals.budget
    repaired = plan.repaired
    own: dict[str, Any] = {
        "short": [instance.task_id(i) for i in plan.short.tolist()],
        "note": plan.note,
        "spending": plan.spending,
        "left_open": plan.left_open and plan.left_open.facts,
        "repaired": repaired and {name: getattr(repaired, name) for name in ("labels", "short", "lacking")},
    }
    numbers |= {name: said for name, said in own.items() if said}
    numbers |= {key: said for key, said in ((RECORD, overrides(instance)), (BEYOND, beyond(instance))) if said}
    return {**numbers, "versions": versions()}


def instance_facts(instance: AssignmentInstance) -> dict[str, Any]:
    """What plan.json of any plan says of the instance."""
    return {
        "tasks": instance.n_tasks,
        "workers": instance.n_workers,
        "rule": instance.rule,
        "classes": instance.classes,
        "epsilon": "per task" if instance.one_target is None else instance.one_target,
        "skills": instance.skills_source,
    }


def _law_facts(instance: AssignmentInstance) -> dict[str, Any]:
    """Prior and difficulty, where there are any."""
    facts: dict[str, Any] = {}
    if instance.has_prior or instance.observed:
        facts["prior"] = stated_prior(instance)
    if instance.difficulty.share:
        facts["difficulty"] = difficulty_table(instance.difficulty)
    return facts


def stated_prior(instance: AssignmentInstance) -> Any:
    """Each class's probability, whose logarithm the rule's vote adds; or, with labels observed, that it is per task."""
    if instance.observed:
        return "given the labels already in"
    names = instance.class_names or tuple(str(k) for k in range(instance.classes))
    return dict(zip(names, instance.prior.tolist(), strict=True)) if instance.prior.ndim == 1 else "per task"


def versions() -> dict[str, str]:
    """Versions of everything that the plan's numbers depend on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Asked once: each answer reads a file of every library."""
    found = {"crowdopt": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def run_facts(plan: Plan | AdaptivePlan) -> dict[str, Any]:
    """What differs between two equal runs."""
    return {"started": plan.started, "seconds": plan.seconds, "interrupted": plan.interrupted}


def _whole(number: float) -> float | int:
    return int(number) if number == int(number) else number


def _write_assignment(plan: Plan, folder: Path) -> None:
    assert plan.pairs is not None
    columns: list[Any] = pair_ids(plan.instance, plan.pairs)
    header = ["task", "worker"]
    if plan.amounts is not None:
        columns, header = [*columns, plan.amounts], [*header, "value"]
    write_csv(folder / "assignment.csv", header, columns)


def _counted(plan: Plan, values: NDArray[np.float64]) -> NDArray[Any]:
    return values if plan.program == "lp" else values.astype(np.int64)


def _write_tasks(plan: Plan, folder: Path) -> None:
    instance, duals = plan.instance, plan.duals
    columns: dict[str, Iterable[Any]] = {
        "task": instance.task_ids,
        "labels": _counted(plan, plan.task_labels),
        **_errors(plan),
        "evidence": plan.evidence,
        "need": instance.need,
        "dual": [""] * instance.n_tasks if duals is None else duals.task,
    }
    if plan.short.size:
        if plan.vote_error is not None and not instance.the_rule.checked:
            columns[VOTE_ERROR] = plan.vote_error
        columns["target"] = instance.epsilon
        columns["short"] = np.where(np.isin(np.arange(instance.n_tasks), plan.short), "yes", "no")
    if duals is not None and duals.labels.any():
        columns["labels_dual"] = duals.labels
    write_csv(folder / "tasks.csv", list(columns), columns.values())


def _errors(plan: Plan) -> dict[str, Any]:
    """The errors by the rule that was used: exact ones where it promises those, else its bound."""
    if plan.exact_error is None:
        return {"error_bound": plan.instance.error_bound(plan.evidence)}
    above, width = plan.exact_error
    return {"exact_error": above} | ({"exact_width": width} if width.any() else {})


def _write_workers(plan: Plan, folder: Path) -> None:
    instance = plan.instance
    columns: dict[str, Iterable[Any]] = {
        "worker": instance.worker_ids,
        "load": _counted(plan, plan.loads),
        "capacity": instance.capacity,
        "dual": [""] * instance.n_workers if plan.duals is None else plan.duals.worker,
    }
    write_csv(folder / "workers.csv", list(columns), columns.values())


def _write_limits(plan: Plan, folder: Path) -> None:
    joint = {} if plan.duals is None else plan.duals.joint
    instance = plan.instance
    groups, rows = instance.groups, []
    named = {
        "group": [group.name for group in groups if group.has_task_limits],
        "most_share": [group.name for group in groups if group.max_share < 1],
        "least_share": [group.name for group in groups if group.min_share > 0],
        "own": [] if instance.own_rows is None else instance.own_rows.names,
    }
    limit = {"group": "per_task", "most_share": "max_share", "least_share": "min_share", "own": "row"}
    for block, duals in joint.items():
        for place in np.argwhere(duals != 0).tolist():
            task = instance.task_id(place[1]) if len(place) > 1 else ""
            rows.append((limit[block], named[block][place[0]], task, float(duals[tuple(place)])))
    if rows:
        write_csv(folder / LIMITS, ["limit", "name", "task", "dual"], zip(*rows, strict=True))


def write_queues(instance: AssignmentInstance, pairs: Ints, folder: Path) -> None:
    """A file of tasks for each worker."""
    place = folder / "queues"
    place.mkdir()
    names = queue_files(instance.worker_ids)
    for worker, tasks in queues(pairs):
        write_csv(place / names[worker], ["task"], [[instance.task_id(i) for i in tasks.tolist()]])


def _write_repair(plan: Plan, folder: Path) -> None:
    if plan.repaired is None:
        return
    pairs = np.concatenate([plan.repaired.added, plan.repaired.removed])
    change = [ADDED] * len(plan.repaired.added) + [REMOVED] * len(plan.repaired.removed)
    write_csv(folder / REPAIR, ["task", "worker", "change"], [*pair_ids(plan.instance, pairs), change])


LONGEST = 120  # letters of an id in a file name
SHOWN = 80  # of them where it is cut
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}  # on Windows


def queue_files(workers: Sequence[str]) -> list[str]:
    """One file name for each of a campaign's workers: the id, percent-encoded where a file system may object.

    An id that is long, that differs from another's in case only, or that Windows reserves for a device gets a part of
    its hash.
    """
    names = [quote(worker, safe=" +,=@()[]").replace(".", "%2E") for worker in workers]
    alike = Counter(name.casefold() for name in names)
    return [
        f"{_marked(name, worker) if len(name) > LONGEST or alike[low] > 1 or low in RESERVED else name}.csv"
        for name, worker in zip(names, workers, strict=True)
        for low in [name.casefold()]
    ]


def _marked(name: str, worker: str) -> str:
    return f"{name if len(name) <= LONGEST else name[:SHOWN]}-{sha256(worker.encode()).hexdigest()[:16]}"
