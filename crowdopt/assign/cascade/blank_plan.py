"""An adaptive plan before anything is found, and the names of its kinds of tasks and askers."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, Askers
from crowdopt.assign.cascade.panels import Panel
from crowdopt.core.solution import Status


def blank_plan(panel: Panel, status: Status, seed: int, **terms: Any) -> AdaptivePlan:
    """No plan; INFEASIBLE has been proven. terms: what was asked for."""
    instance, nothing = panel.instance, np.zeros(panel.first.size)
    types = [instance.type_id(kind) for kind in instance.task_type[panel.first].tolist()]
    numbered = (f"{name}/{types[: k + 1].count(name)}" for k, name in enumerate(types))  # where a type has several
    kinds = tuple(full if types.count(name) > 1 else name for name, full in zip(types, numbered, strict=True))
    return AdaptivePlan(
        instance=instance,
        status=status,
        askers=Askers(kinds, panel.kind, tuple(map(instance.worker_id, panel.one.tolist())), panel.workers),
        rows=(),
        objective=None,
        bound=inf if status is Status.INFEASIBLE else -inf,
        proof_of=None,
        loads=np.zeros(len(panel.workers)),
        errors=nothing,
        to_expert=nothing,
        pairs=None,
        seed=seed,
        **terms,
    )
