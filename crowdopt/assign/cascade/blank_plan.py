"""An adaptive plan before anything is found, and the names of its kinds of tasks and askers."""

from __future__ import annotations

from collections import Counter
from math import inf

import numpy as np

from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, Askers
from crowdopt.core.solution import Status
from crowdopt.crowd.states.own_skills import OwnSkills
from crowdopt.crowd.states.told_tasks import ToldTasks


def blank_plan(told: ToldTasks | OwnSkills, status: Status, seed: int) -> AdaptivePlan:
    """No plan; INFEASIBLE has been proven."""
    kinds = told.first.size
    return AdaptivePlan(
        instance=told.instance,
        status=status,
        askers=askers_of(told),
        rows=(),
        objective=None,
        bound=inf if status is Status.INFEASIBLE else -inf,
        proof_of=None,
        loads=np.zeros(len(told.workers)),
        errors=np.zeros(kinds),
        to_expert=np.zeros(kinds),
        pairs=None,
        seed=seed,
    )


def askers_of(told: ToldTasks | OwnSkills) -> Askers:
    """Ids: a kind has its type's, numbered where a type has several; an asker its first worker's."""
    types = [told.instance.type_id(kind) for kind in told.instance.task_type[told.first].tolist()]
    several, seen, kinds = Counter(types), Counter[str](), []
    for name in types:
        seen[name] += 1
        kinds.append(f"{name}/{seen[name]}" if several[name] > 1 else name)
    names = [told.instance.worker_id(int(some[0])) for some in told.workers]
    return Askers(tuple(kinds), told.kind, tuple(names), told.workers)
