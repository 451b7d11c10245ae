"""A plan folder: what to do, what it rests on, and the numbers with which a stranger can check it.

The reader of plan folders: claims, tables and pairs as they are written, in the campaign's indices.

weights.csv of a plan: what each label counts in the vote, written and read back.

Simulated labels of a plan, as the table that would come back.
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan, queues
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import class_votes
from crowdopt.crowd.recipes import simulated_labels
from crowdopt.documents import Keys, finite, fitting, read_json, write_json
from crowdopt.errors import InputError
from crowdopt.files import together
from crowdopt.io.campaign import read_with_labels
from crowdopt.io.cells import write_csv, write_table
from crowdopt.io.folders import PLAN, check_target, new_folder
from crowdopt.io.schema import PLAN_TABLES, TRUTH
from crowdopt.io.settings import BEYOND, RECORD, RECORDED, beyond, difficulty_table, overrides
from crowdopt.io.tables import Table, campaign_pairs, pair_ids, read_table
from crowdopt.version import __version__

VOTE_ERROR = "vote_error"  # column of tasks.csv: exact errors where the rule of such a plan promises only a bound
BEST_EFFORT = "best effort"  # status of a plan that serves not every task; plan.json names those that it leaves short
LIMITS = "limits.csv"  # multipliers of groups, shares and own rows
CLAIMS = Keys(optional={RECORD: RECORDED}, open=True)
EDITION = 3  # of a plan's folder: what it holds, and what plan.json says of it


@dataclass(frozen=True, eq=False)
class StoredPlan:
    """A plan folder as read: ``pairs`` (k, 2), ``amounts`` (k,) of an LP plan, and the tables as they stand."""

    claims: dict[str, Any]
    pairs: Ints
    amounts: Floats | None
    tasks: Table
    workers: Table
    folder: Path
    limits: Table | None = None

    @property
    def shares(self) -> Floats:
        """Share of each pair's label, (k,): 1 in a plan of whole labels."""
        return np.ones(len(self.pairs)) if self.amounts is None else self.amounts


def read_claims(folder: str | Path, shape: Keys = CLAIMS) -> dict[str, Any]:
    """What plan.json says, of the right types as far as the shape goes; a plan of another edition is refused."""
    path = Path(folder) / PLAN
    claims: dict[str, Any] = read_json(path, Keys(open=True), "plan")
    if claims.get("edition") != EDITION:
        raise InputError(f"{path} is of another edition, which this version does not read; solve the campaign again")
    return dict(fitting(path, shape, claims))


def read_overrides(folder: str | Path) -> dict[str, Any]:
    """The settings of a plan that took the place of its campaign's; InputError if there is no plan."""
    return dict(read_claims(folder).get(RECORD, {}))


def read_pairs(folder: str | Path, instance: AssignmentInstance) -> tuple[Ints, Table]:
    """Task and worker of each row of the plan's assignment.csv, (rows, 2), and the table itself."""
    table = read_table(Path(folder) / "assignment.csv", PLAN_TABLES["assignment"])
    return campaign_pairs(table, instance), table


def read_plan(folder: str | Path, claims: dict[str, Any], instance: AssignmentInstance) -> StoredPlan:
    """The tables of a plan folder."""
    place = Path(folder)
    pairs, table = read_pairs(place, instance)
    return StoredPlan(
        claims=claims,
        pairs=pairs,
        amounts=table.numbers("value") if "value" in table else None,
        tasks=read_table(place / "tasks.csv", PLAN_TABLES["tasks"]),
        workers=read_table(place / "workers.csv", PLAN_TABLES["workers"]),
        folder=place,
        limits=read_table(place / LIMITS, PLAN_TABLES["limits"]) if (place / LIMITS).exists() else None,
    )


WEIGHTS = "weights.csv"
ONE, EACH = PLAN_TABLES["weights"], PLAN_TABLES["weights by class"]


def write_weights(instance: AssignmentInstance, pairs: Ints, folder: Path) -> None:
    """Vote weights of workers for the types that they label, as the rule requires them.

    With confusion tables a label counts for every class: ``ln P(label | class)``. A label that was not planned counts
    by the campaign, so no other cell is needed: of tasks that each are a type there may be millions.
    """
    worker, kind = _cells(instance, pairs).T
    columns: list[list[str]] = [
        [instance.worker_id(j) for j in worker.tolist()],
        [instance.type_id(k) for k in kind.tolist()],
    ]
    if instance.confusion is None:
        write_csv(folder / WEIGHTS, ONE.required, [*columns, instance.weight[kind, worker]])
        return
    names, m = class_names(instance), instance.classes
    columns = [[name for name in column for _ in range(m * m)] for column in columns]
    label, truth = [name for name in names for _ in range(m)] * worker.size, list(names) * (m * worker.size)
    votes = class_votes(instance.confusion[kind, worker]).reshape(-1)
    write_csv(folder / WEIGHTS, EACH.required, [*columns, label, truth, votes])


def _cells(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Worker and type of the votes of a plan, each once, in the order of workers, (cells, 2) int."""
    return np.unique(np.stack([pairs[:, 1], instance.task_type[pairs[:, 0]]], axis=1), axis=0)


def class_names(instance: AssignmentInstance) -> tuple[str, ...]:
    """What a plan calls the classes."""
    return tuple(instance.class_names or map(str, range(instance.classes)))


def read_weights(folder: str | Path, instance: AssignmentInstance) -> Floats:
    """Vote weights: the plan's, and the rule's own for workers and types of which it says nothing.

    -> (types, workers).
    """
    table = weights_table(folder)
    weight = instance.weight.copy()
    weight[_cells_of(table, instance)] = table.numbers("weight")
    return weight


def _cells_of(table: Table, instance: AssignmentInstance) -> tuple[Ints, Ints]:
    kinds = map(instance.type_id, range(instance.n_types))
    workers = table.places("worker", instance.worker_places, "it is unknown")
    return table.places("type", kinds, "no task is of that type"), workers


def weights_table(folder: str | Path) -> Table:
    """weights.csv as it stands."""
    return read_table(Path(folder) / WEIGHTS, ONE)


def votes_table(folder: str | Path) -> Table:
    """weights.csv of a plan with confusion tables, as it stands."""
    return read_table(Path(folder) / WEIGHTS, EACH)


def read_votes(folder: str | Path, instance: AssignmentInstance) -> Floats:
    """Votes by label and class: the plan's, and the rule's own for workers and types of which it says nothing.

    instance: the campaign, with confusion tables; -> (types, workers, labels, classes).
    """
    if instance.confusion is None:
        raise InputError("the campaign has no confusion tables, so labels do not vote by class")
    table, votes = votes_table(folder), class_votes(instance.confusion)
    names, what = class_names(instance), "it is no class of the campaign"
    label, true = (table.places(column, names, what) for column in ("label", "class"))
    votes[(*_cells_of(table, instance), label, true)] = table.numbers("weight")
    return votes


LIBRARIES = ("highspy", "numpy", "scipy")
REPAIR, ADDED, REMOVED = "repair.csv", "added", "removed"  # what mending changed in an approximation


Content: TypeAlias = Mapping[str, Sequence[str]]  # further columns of a campaign's tasks, such as text and url


def write_plan(plan: Plan, folder: str | Path, *, force: bool = False, content: Content = MappingProxyType({})) -> None:
    """Write a plan as a folder, whole or not at all; as :func:`crowdopt.write_plan` does; content: for the queues."""
    if plan.pairs is None:
        raise ValueError(f"there is no plan to write: {plan.status.value}")
    with new_folder(Path(folder), PLAN, force) as new:
        _write_assignment(plan, new)
        _write_tasks(plan, new)
        _write_workers(plan, new)
        _write_limits(plan, new)
        write_weights(plan.instance, plan.pairs, new)
        if plan.amounts is None:
            write_queues(plan.instance, plan.pairs, new, content)
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
    return stamped(numbers)


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


def stamped(claims: dict[str, Any]) -> dict[str, Any]:
    """A plan's claims with the edition of its folder, and the versions of everything that its numbers depend on."""
    return {**claims, "edition": EDITION, "versions": dict(_versions())}


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


def write_queues(instance: AssignmentInstance, pairs: Ints, folder: Path, content: Content) -> None:
    """A file of tasks for each worker, with what is shown of each."""
    place = folder / "queues"
    place.mkdir()
    names = queue_files(instance.worker_ids)
    for worker, tasks in queues(pairs):
        mine = tasks.tolist()
        shown = [[column[i] for i in mine] for column in content.values()]
        write_csv(place / names[worker], ["task", *content], [[instance.task_id(i) for i in mine], *shown])


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


def write_rehearsal(
    campaign: str | Path,
    plan: str | Path,
    output: str | Path,
    truth: str | Path | None,
    seed: int,
    lost: float,
    force: bool,
) -> int:
    """Draw labels for a plan's pairs by the campaign's skills and write them.

    campaign, plan: folders.
    output: the table task,worker,label.
    truth: where the drawn truth is written; a table that is there already is read instead, for a second round. What is
    drawn is drawn given the labels that are in.
    seed: of the draw; each round has numbers of its own.
    lost: share of the labels that do not come.
    force: whether a table that is there is replaced.
    -> labels written.
    """
    check_target(Path(output), None, force)
    if truth is not None and not os.path.exists(truth):
        check_target(Path(truth), None, force)
    known = read_with_labels(campaign)
    instance, names = known.instance, known.class_names()
    read_claims(plan)  # refuses another edition
    pairs, table = read_pairs(plan, instance)
    task = instance.task_places
    count = len(known.collected_labels)
    rng = np.random.default_rng([seed, count] if count else seed)  # a round with another's seed draws other numbers
    given = None if truth is None or not os.path.exists(truth) else _truth(Path(truth), task, names)
    had = (instance.collected, known.indices()) if count else None
    true, label = simulated_labels(instance, pairs, rng, given, had)
    here = np.flatnonzero(rng.random(len(pairs)) >= lost)
    columns = [[table["task"][k] for k in here], [table["worker"][k] for k in here], [names[k] for k in label[here]]]
    with together():
        write_table(Path(output), ["task", "worker", "label"], columns, force)
        if truth is not None and given is None:
            write_table(Path(truth), ["task", "label"], [list(task), [names[k] for k in true]])
    return int(here.size)


def how_truth_is_drawn(campaign: str | Path) -> str:
    """What a rehearsal that is given no truth draws it by, in a sentence; empty where that is the prior."""
    count = len(read_with_labels(campaign).collected_labels)
    return f"truth drawn given the {count} label(s) that are in; --truth goes on with a table of it" if count else ""


def how_errors_are_drawn(campaign: str | Path) -> str:
    """What a rehearsal assumes of the joint law of errors, in a sentence."""
    instance = read_with_labels(campaign).instance
    families = sum(group.dependent for group in instance.groups)
    if instance.vote_law is not None:
        return f"simulated errors go together as the {instance.vote_law.name} law of gold votes says"
    if instance.difficulty.share:
        return f"errors drawn independently of one another on each task; {instance.difficulty.stated()}"
    if not families:
        return "errors drawn independently of one another"
    return f"simulated errors coincide as much as they can within each of {families} families; others are independent"


def _truth(path: Path, task: dict[str, int], names: tuple[str, ...]) -> Ints:
    table = read_table(path, TRUTH)
    place = table.places("task", task, "it is not in the campaign")
    truth = np.full(len(task), -1)
    truth[place] = table.places("label", names, "it is no class of the campaign")
    if (truth < 0).any():
        raise InputError(f"{path.name} has no row for {int((truth < 0).sum())} of the campaign's tasks; write it anew")
    return truth
