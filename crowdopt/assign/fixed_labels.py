"""Fixed pairs as labels that are in and paid for: the rest is decided alike, and every bound moves by their price.

A label that every plan has tells a task's vote what a label that is in tells it, counts towards the same limits, and is
never had again. What it takes from capacity, money and own rows is taken off their sides. With the same
multipliers the Lagrangian of the instance is that of the reduced one and the price of the fixed labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.plan import Plan
from crowdopt.core.solution import Listener, Status, told_in
from crowdopt.crowd.group_limits import membership, task_limits
from crowdopt.crowd.groups import OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import CERTAIN


def with_fixed_labels(
    instance: AssignmentInstance,
    listener: Listener | None,
    solve: Callable[[AssignmentInstance, Listener | None], Plan],
) -> Plan:
    """The plan of what is left to decide, with the fixed labels, as one of the instance."""
    if not _accepts(instance):
        return solve(instance, listener)
    paid = float(instance.prices(instance.fixed).sum())

    def with_fixed(pairs: Ints | None) -> Ints | None:
        every = None if pairs is None else np.concatenate([pairs, instance.fixed])
        return None if every is None else every[np.lexsort((every[:, 1], every[:, 0]))]

    plan = solve(_as_labels_in(instance, paid), told_in(listener, lambda cost: cost + paid))
    pairs = with_fixed(plan.pairs)
    value = None if pairs is None else float(instance.prices(pairs).sum())
    whole = replace(
        plan,
        instance=instance,
        pairs=pairs,
        partial=with_fixed(plan.partial),
        certificate=replace(plan.certificate, value=value, bound=plan.bound + paid),
        certified_bound=plan.certified_bound + paid,
    )
    return _without_labels(whole) if _errs_too_much(whole) else whole


def _errs_too_much(plan: Plan) -> bool:
    """Whether a task's vote errs more than it may: whoever made the labels is not their judge."""
    if plan.exact_error is None or plan.instance.the_rule.average:
        return False
    return bool((plan.exact_error[0] > plan.instance.epsilon + CERTAIN).any())


def _without_labels(plan: Plan) -> Plan:
    """What is left of a plan that does not hold: its bound."""
    known = replace(plan.certificate, value=None, violation=None, fraction=None)
    return replace(plan, status=Status.UNDECIDED, pairs=None, certificate=known)


def _accepts(instance: AssignmentInstance) -> bool:
    """Whether labels that are in tell votes what others tell, and fixed ones leave money over and break no limit.

    Of labels that are in there may be more than a task may have, since none can be taken back; not so of fixed ones.
    """
    if not len(instance.fixed) or instance.observed or _are_too_many(instance):
        return False
    return instance.budget is None or float(instance.prices(instance.fixed).sum()) <= instance.budget


def _are_too_many(instance: AssignmentInstance) -> bool:
    """Whether a task has more fixed labels than it, or a group, may have new ones."""
    task, worker = instance.fixed.T
    limited, _, most = task_limits(instance)
    inside = membership(instance)[limited][:, worker]
    of_all = np.bincount(task, minlength=instance.n_tasks)
    of_groups = [np.bincount(task[mine], minlength=instance.n_tasks) for mine in inside]
    over = any((count > limit).any() for count, limit in zip(of_groups, most, strict=True))
    return over or bool((of_all > instance.new_label_limits[1]).any())


def _as_labels_in(instance: AssignmentInstance, paid: float) -> AssignmentInstance:
    fixed = instance.fixed
    taken = np.bincount(fixed[:, 1], minlength=instance.n_workers)
    return replace(
        instance,
        fixed=fixed[:0],
        collected=np.concatenate([instance.collected, fixed]),
        capacity=instance.capacity - taken,
        min_load=np.maximum(0, instance.min_load - taken),
        budget=None if instance.budget is None else instance.budget - paid,
        own_rows=None if instance.own_rows is None else _without(instance.own_rows, fixed, instance.n_workers),
    )


def _without(own: OwnRows, fixed: Ints, workers: int) -> OwnRows:
    """The rows with their sides less what fixed pairs bring."""
    known = np.isin(own.pairs @ [workers, 1], fixed @ [workers, 1])
    brought = np.bincount(own.row[known], own.coefficient[known], len(own.names))
    return replace(own, lower=own.lower - brought, upper=own.upper - brought)
