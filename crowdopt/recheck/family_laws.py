"""What no joint law of families that err together makes a vote err more than, found anew by linear programs' duals.

Members of a family may depend in any way; how often each errs stays as it is. Families with several labels of a task
are taken for one, which can only raise the error.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance

MOST = 10  # labels of a task; of more no law is looked at
SETS = 100  # different sets of labels; of more neither
TIE = 1e-12  # of all weights together: sums so near 0 are ties, each class half the time
MULTIPLIERS_NEAR = 1e-7  # of an error; a program's multipliers are within that of the best ones


def no_law_errs_more(instance: AssignmentInstance, pairs: Ints, tasks: Ints) -> Floats:
    """A bound for some tasks on the error of the vote between two classes over all laws within families; 1: none known.

    pairs (k, 2): task and worker of each label; tasks (some,); -> (some,): within MULTIPLIERS_NEAR of the
    least that is known.
    """
    home = np.arange(instance.n_workers) + len(instance.groups)
    for number, group in enumerate(instance.groups):
        if group.dependent:
            home[list(group.members)] = number
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    cuts = np.cumsum(np.bincount(pairs[:, 0], minlength=instance.n_tasks))[:-1]
    sets = np.split(pairs[order, 1], cuts)
    known: dict[tuple[int, bytes], float] = {}
    found = np.ones(tasks.size)
    for place, task in enumerate(tasks.tolist()):
        kind = int(instance.task_type[task])
        workers = sets[task][instance.evidence[kind, sets[task]] > 0]
        key = kind, workers.tobytes()
        if key not in known and workers.size <= MOST and len(known) < SETS:
            wrong = 1 - instance.accuracy[kind, workers]
            known[key] = _largest_error(wrong, instance.weight[kind, workers], home[workers])
        found[place] = known.get(key, 1.0)
    return found


def _largest_error(error: Floats, weight: Floats, home: Ints) -> float:
    """``min v + sum_j e_j u_j  s.t.  v + sum over j wrong in x of u_j >= g(x) for every pattern x``."""
    # x: who of the families with several labels is wrong; g(x): the chance that the vote then errs. Any u is a bound.
    place = np.unique(home, return_inverse=True)[1].reshape(-1)
    together = np.bincount(place)[place] > 1
    wrong = _patterns(int(together.sum()))
    loss = np.zeros(len(wrong))
    total, tie = float(np.abs(weight).sum()), TIE * max(1.0, float(np.abs(weight).sum()))
    inside = np.where(wrong, -1.0, 1.0) @ weight[together]
    for other in _patterns(int((~together).sum())):
        chance = float(np.where(other, error[~together], 1 - error[~together]).prod())
        sums = inside + float(np.where(other, -1.0, 1.0) @ weight[~together])
        loss += chance * np.where(sums < -tie, 1.0, np.where(sums <= tie, 0.5, 0.0))
    if not together.any() or total == 0:
        return float(loss.max())
    return _dual_bound(wrong, loss, error[together])


def _patterns(labels: int) -> Bools:
    wrong: Bools = (np.arange(2**labels)[:, None] >> np.arange(labels)) & 1 == 1
    return wrong


def _dual_bound(wrong: Bools, loss: Floats, error: Floats) -> float:
    """What the multipliers that a solver found prove, whatever they are."""
    from scipy.optimize import linprog

    columns = wrong.astype(np.float64)
    answer = linprog(
        np.append(error, 1.0),
        A_ub=-np.column_stack([columns, np.ones(len(wrong))]),
        b_ub=-loss,
        bounds=[(None, None)] * (error.size + 1),
        method="highs-ds",
    )
    price = np.zeros(error.size) if answer.x is None else np.asarray(answer.x[:-1])
    return float((loss - columns @ price).max() + error @ price)
