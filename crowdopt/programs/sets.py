"""The program over sets: for each task one of the least sets of workers whose vote errs as it may, exactly computed.

A set is least if it keeps the target and none that lacks one of its workers does. More votes never make the likeliest
class err more, where workers err independently, so a plan keeps a task's promise if and only if its labels contain a
least set: the program's optimum is that of the promise itself, and not of a linear rule that implies it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Ints
from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN, errors_of_sets
from crowdopt.programs import assignment

MOST = 100_000  # sets, of all tasks together, and of those that are looked at of alike ones


def build(instance: AssignmentInstance) -> Program | None:
    """``min c'y  s.t.  y_ij >= sum_{S: j in S} z_iS,  sum_S z_iS = 1``, and every limit on y; None beyond MOST sets.

    Columns: ``y`` (tasks, workers), ``set`` (sets of all tasks,). Rows: those of the assignment program, whose need
    every plan covers, then ``choose`` (tasks,) and ``link`` (tasks, workers). None too where another rule is asked for,
    or votes depend on one another: then more of them may err more.
    """
    together = instance.errs_together or (instance.dependence > 1).any()
    if instance.rule != EXACT_ERROR.name or together or instance.n_tasks * instance.n_workers > MOST:
        return None
    classes, sets = classes_of(instance, joint=True), []
    for first, count in zip(classes.first_task.tolist(), classes.tasks_in.tolist(), strict=True):
        own = least_sets(instance, first, MOST // count)
        if own is None:
            return None
        sets.append(own)
    tasks = [np.repeat(i, len(sets[t])) for i, t in enumerate(classes.task_class.tolist())]
    if sum(one.size for one in tasks) > MOST:
        return None
    chosen = [one for t in classes.task_class.tolist() for one in sets[t]]
    return _assembled(instance, np.concatenate(tasks).astype(np.int64), chosen)


def _assembled(instance: AssignmentInstance, task: Ints, sets: list[tuple[int, ...]]) -> Program:
    base = assignment.of_sums(instance, "by exact errors, over the least sets of each task")
    n, m = instance.n_tasks, instance.n_workers
    k = task.size
    worker = np.array([j for one in sets for j in one], np.int64)
    column = np.repeat(np.arange(k), [len(one) for one in sets])
    choose = sparse.coo_array((np.ones(k), (task, n * m + np.arange(k))), shape=(n, n * m + k))
    of_set = sparse.coo_array((np.ones(worker.size), (task[column] * m + worker, column)), shape=(n * m, k))
    wider = replace(
        base,
        name="assignment-sets",
        cost=np.append(base.cost, np.zeros(k)),
        matrix=sparse.csc_array(sparse.hstack([base.matrix, sparse.csc_array((base.row_lower.size, k))], format="csc")),
        lower=np.append(base.lower, np.zeros(k)),
        upper=np.append(base.upper, np.ones(k)),
        integer=np.append(base.integer, np.ones(k, bool)),
        columns=stack([("y", (n, m)), ("set", (k,))]),
    )
    linked = sparse.hstack([sparse.eye_array(n * m), -of_set], format="csc")
    return wider.with_rows("choose", (n,), choose, 1.0, 1.0).with_rows("link", (n, m), linked, 0.0)


def least_sets(instance: AssignmentInstance, task: int, most: int) -> list[tuple[int, ...]] | None:
    """All least sets of workers for a task, beside the labels that are in; None where more are to be looked at.

    Set by set of growing size: what does not keep the target is made larger; a set is looked at if none of those that
    lack one of its workers keeps it.
    """
    able = np.setdiff1d(np.flatnonzero(instance.capacity > 0), instance.barred[instance.barred[:, 0] == task, 1])
    able = able[instance.evidence[instance.task_type[task], able] > 0]
    had = instance.collected[instance.collected[:, 0] == task, 1] if not instance.observed else able[:0]
    found: list[tuple[int, ...]] = []
    short: set[tuple[int, ...]] = set()
    level: list[tuple[int, ...]] = [()]
    looked = 0
    while level:
        looked += len(level)
        if looked > most:
            return None
        size = len(had) + len(level[0])
        labels = np.array([[*had.tolist(), *one] for one in level], np.int64).reshape(len(level), size)
        pairs = np.column_stack([np.repeat(np.arange(len(level)), size), labels.ravel()])
        keeps = errors_of_sets(instance, np.full(len(level), task), pairs) <= instance.epsilon[task] + CERTAIN
        found += [one for one, good in zip(level, keeps.tolist(), strict=True) if good]
        short = {one for one, good in zip(level, keeps.tolist(), strict=True) if not good}
        level = [
            (*one, j)
            for one in level
            if one in short
            for j in able[np.searchsorted(able, one[-1], side="right") if one else 0 :].tolist()
            if all((*one[:k], *one[k + 1 :], j) in short for k in range(len(one)))
        ]
    return found
