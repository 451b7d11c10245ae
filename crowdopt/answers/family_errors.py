"""What workers who may err together can do to the votes of a plan, beside what independent ones would."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.worst_case import MOST, worst_error
from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.exactness import exact_errors
from crowdopt.crowd.instance import AssignmentInstance

SETS = 400  # different sets of labels, each some linear programs; beyond, their tasks are not told


def family_errors(instance: AssignmentInstance, pairs: Ints, solve: Solve) -> tuple[Floats, Floats] | None:
    """Error of each task's vote if all labels were independent, and the largest over all laws within families.

    Parameters
    ----------
    instance : AssignmentInstance
    pairs : (k, 2) int
        Task and worker of each label.
    solve : callable
        Solves the linear programs (crowdopt.programs.worst_law).

    Returns
    -------
    (tasks,) float, (tasks,) float
        The second is a bound that duals certify; NaN where a task has more than 14 labels, or there are too many
        different sets. None where no task may have several labels of a family, for then both are one, and where
        there are more than two classes or a prior, for which it is not known.
    """
    if not (instance.dependence > 1).any() or instance.classes != 2 or instance.has_prior or instance.observed:
        return None
    independent = exact_errors(instance, pairs)[0]
    home = np.arange(instance.n_workers) + len(instance.groups)
    for k, group in enumerate(instance.groups):
        if group.dependent:
            home[list(group.members)] = k
    every = np.concatenate([instance.collected, pairs])
    order = np.lexsort((every[:, 1], every[:, 0]))
    cuts = np.cumsum(np.bincount(every[:, 0], minlength=instance.n_tasks))[:-1]
    worst, known = np.full(instance.n_tasks, np.nan), dict[tuple[int, bytes], float]()
    for task, workers in enumerate(np.split(every[order, 1], cuts)):
        kind = int(instance.task_type[task])
        useful = workers[instance.evidence[kind, workers] > 0]
        key = (kind, useful.tobytes())
        if np.unique(home[useful]).size == useful.size:
            worst[task] = independent[task]
        elif key in known:
            worst[task] = known[key]
        elif useful.size <= MOST and len(known) < SETS:
            skill, weights = instance.accuracy[kind, useful], instance.weight[kind, useful]
            known[key] = worst[task] = worst_error(skill, home[useful], solve, weights=weights).bound
    return independent, np.maximum(worst, independent)
