"""The folder of an adaptive plan: its policy, the first round's queues, and the numbers that prove it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, PolicyProof, PolicyRow, class_labels
from crowdopt.crowd.asking_orders import ANSWER, ASK
from crowdopt.documents import finite, write_json
from crowdopt.io.campaign.campaign_settings import difficulty_table
from crowdopt.io.campaign.overrides import BEYOND, beyond, overrides
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.plan.order_tables import ORDERS, write_orders
from crowdopt.io.plan.plan_folder import instance_facts, run_facts, stated_prior, versions, write_queues
from crowdopt.io.plan.policy_text import counted, plain, votes_text
from crowdopt.io.plan.stored_plan import BEST_EFFORT, LIMITS
from crowdopt.io.plan.vote_table import write_weights
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import PLAN, new_folder
from crowdopt.io.tables.label_table import pair_ids

CASCADE = "cascade"  # program and method of an adaptive plan, in plan.json
POLICY = ("type", "round", "votes", "action", "what", "share", "tasks")
TYPES = ("type", "tasks", "target", "error", "expert", "dual")
LIMIT_ROWS = ("limit", "name", "dual")
WORKERS = ("worker", "asker", "load", "capacity", "dual")


def write_policy(plan: AdaptivePlan, folder: str | Path, *, force: bool = False) -> None:
    """Write an adaptive plan as a folder, whole or not at all; as :func:`crowdopt.write_plan` does."""
    if plan.pairs is None or plan.proof_of is None:
        raise ValueError(f"there is no plan to write: {plan.status.value}")
    with new_folder(Path(folder), PLAN, force) as new:
        if plan.order_of is None:
            _write_rows(plan, new)
        else:
            write_orders(plan, new)
        _write_types(plan, new)
        _write_workers(plan, new)
        _write_limits(plan.proof_of, new)
        write_csv(new / "assignment.csv", ["task", "worker"], pair_ids(plan.instance, plan.pairs))
        write_queues(plan.instance, plan.pairs, new)
        write_weights(plan.instance, plan.pairs, new)
        write_json(new / PLAN, policy_summary(plan))
        write_json(new / "run.json", run_facts(plan))


def policy_summary(plan: AdaptivePlan) -> dict[str, Any]:
    """The plan in numbers: all of it the same in two equal runs. Cost, labels and errors are expectations."""
    instance = plan.instance
    numbers: dict[str, Any] = {
        "title": instance.title,
        "status": plan.status.value if plan.times == 1 else BEST_EFFORT,
        "program": CASCADE,
        "proven": plan.proven,
        "proof": plan.proof,
        "objective": plan.objective,
        "bound": finite(plan.bound),
        "gap": finite(plan.gap),
        "labels": plan.calls,
        "cost": plan.objective,
        "first_round": None if plan.pairs is None else len(plan.pairs),
        "times_targets": plan.times,
        "rounds": plan.rounds,
        "expert": plan.expert,
        **instance_facts(instance),
        "method": CASCADE if plan.order_of is None else ORDERS,
        "backend": "highs-simplex",
        "seed": plan.seed,
    }
    numbers |= {key: True for key in ("given_votes", "each_task") if getattr(plan, key)}
    numbers |= _by_class(plan)
    if plan.step is not None:
        numbers["step"] = plan.step
    if plan.proof_of is not None and instance.budget is not None:
        numbers["budget_dual"] = plan.proof_of.budget
    if instance.has_prior:
        numbers["prior"] = stated_prior(instance)
    if instance.difficulty.share:
        numbers["difficulty"] = difficulty_table(instance.difficulty)
    if plan.note:
        numbers["note"] = plan.note
    numbers |= {key: said for key, said in ((RECORD, overrides(instance)), (BEYOND, beyond(instance))) if said}
    return {**numbers, "versions": versions()}


def _by_class(plan: AdaptivePlan) -> dict[str, Any]:
    """Limits by true class, their multipliers, and what is expected."""
    names = class_labels(plan.instance)
    limits = {name: limit for name, limit in zip(names, plan.class_error, strict=False) if np.isfinite(limit)}
    if not limits or plan.proof_of is None:
        return {"class_error": limits} if limits else {}
    dual = dict(zip(names, plan.proof_of.classes, strict=True))
    missed = dict(zip(names, plan.missed, strict=True))
    return {"class_error": limits, "class_dual": {name: dual[name] for name in limits}, "missed": missed}


def _write_rows(plan: AdaptivePlan, folder: Path) -> None:
    """policy.csv: what a share of the tasks of a type with these votes does next, and how many are expected to."""
    classes, askers = class_labels(plan.instance), plan.askers.names
    cells = [
        (
            plan.askers.kinds[row.kind],
            row.round,
            votes_text((askers[g], classes[k], number) for g, k, number in row.votes),
            row.action,
            _what(row, askers, classes),
            row.share,
            row.tasks,
        )
        for row in plan.rows
    ]
    write_csv(folder / "policy.csv", list(POLICY), list(zip(*cells, strict=True)))


def _what(row: PolicyRow, askers: tuple[str, ...], classes: tuple[str, ...]) -> str:
    if row.action == ASK:
        return " ".join(counted(plain(askers[g]), number) for g, number in enumerate(row.what) if number)
    return plain(classes[row.what[0]]) if row.action == ANSWER else ""


def _write_types(plan: AdaptivePlan, folder: Path) -> None:
    assert plan.proof_of is not None
    instance, kinds = plan.instance, plan.askers.kinds
    first = [int(np.flatnonzero(plan.askers.kind == t)[0]) for t in range(len(kinds))]
    count = np.bincount(plan.askers.kind, minlength=len(kinds))
    columns = [kinds, count, instance.epsilon[first], plan.errors, plan.to_expert, plan.proof_of.error]
    write_csv(folder / "types.csv", list(TYPES), columns)
    ids = instance.task_ids
    beside = [] if plan.order_of is None else [plan.order_of]
    tasks: list[Any] = [ids, [kinds[t] for t in plan.askers.kind.tolist()], *beside]
    write_csv(folder / "tasks.csv", ["task", "type", "order"][: len(tasks)], tasks)


def _write_workers(plan: AdaptivePlan, folder: Path) -> None:
    """workers.csv: the asker that each worker is one of, the labels expected of them, what a label more would save."""
    # Workers whose labels tell nothing are no askers.
    assert plan.proof_of is not None
    instance = plan.instance
    names, load, dual = [""] * instance.n_workers, np.zeros(instance.n_workers), np.zeros(instance.n_workers)
    for g, some in enumerate(plan.askers.workers):
        load[some], dual[some] = plan.loads[g] / some.size, plan.proof_of.capacity[g]
        for j in some.tolist():
            names[j] = plan.askers.names[g]
    ids = instance.worker_ids
    columns: list[Any] = [ids, names, load, instance.capacity, dual]
    write_csv(folder / "workers.csv", list(WORKERS), columns)


def _write_limits(proof: PolicyProof, folder: Path) -> None:
    if proof.limits:
        write_csv(folder / LIMITS, LIMIT_ROWS, list(zip(*proof.limits, strict=True)))
