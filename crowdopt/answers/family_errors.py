"""What workers who may err together can do to the votes of a plan, beside what independent ones would."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.worst_case import worst_bound
from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.exactness import most_errors
from crowdopt.crowd.instance import AssignmentInstance

SETS = 60  # different sets of labels, a linear program each; beyond, the rule's guarantee is all that is told
MOST = 10  # labels of a task: the program has a column for each of their outcomes


def family_errors(instance: AssignmentInstance, pairs: Ints, solve: Solve) -> tuple[Floats, Floats] | None:
    """Error of each task's vote if all labels were independent, and the largest over all laws within families.

    pairs (k, 2): task and worker of each label.
    -> (tasks,) float, (tasks,) float: the second is a bound: the rule's guarantee, or less where duals certify it, for
    families taken together, of at most 10 labels. None where no task may have several labels of a family, for then both
    are one, and where there are more than two classes, a prior or confusion tables, for which it is not known.
    """
    if not (instance.dependence > 1).any() or instance.classes != 2 or instance.has_prior or instance.observed:
        return None
    if instance.confusion is not None:
        return None
    independent = most_errors(instance, pairs)
    # workers outside of families are families of their own, numbered behind the groups
    home = np.arange(instance.n_workers) + len(instance.groups)
    for k, group in enumerate(instance.groups):
        if group.dependent:
            home[list(group.members)] = k
    every = np.concatenate([instance.collected, pairs])
    order = np.lexsort((every[:, 1], every[:, 0]))
    cuts = np.cumsum(np.bincount(every[:, 0], minlength=instance.n_tasks))[:-1]
    worst = instance.error_bound(instance.collected_evidence + instance.supply(pairs))
    known: dict[tuple[int, bytes], float] = {}
    for task, workers in enumerate(np.split(every[order, 1], cuts)):
        kind = int(instance.task_type[task])
        useful = workers[instance.evidence[kind, workers] > 0]
        # tasks of a type with the same workers share one program
        key = (kind, useful.tobytes())
        # no two labels of a family: the vote's errors are independent, and its error exact
        if np.unique(home[useful]).size == useful.size:
            worst[task] = independent[task]
        elif key in known:
            worst[task] = min(worst[task], known[key])
        elif useful.size <= MOST and len(known) < SETS:
            skill, weights = instance.accuracy[kind, useful], instance.weight[kind, useful]
            known[key] = worst_bound(skill, home[useful], solve, weights)
            worst[task] = min(worst[task], known[key])
    return independent, np.maximum(worst, independent)
