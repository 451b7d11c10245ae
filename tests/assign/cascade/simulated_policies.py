"""Many tasks that follow a policy, all of one state of votes at once; labels are drawn by the instance's own law."""

from __future__ import annotations

import numpy as np

from crowdopt import AssignmentInstance
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan


def labels_drawn(one: AssignmentInstance, kind: int, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A label of each judge for items of a type, (items, judges)."""
    classes, items = int(one.classes), truth.size
    uniform = rng.random((items, one.n_workers))
    if one.confusion is not None:
        heads = np.cumsum(one.confusion[kind][:, truth], axis=2).transpose(1, 0, 2)
        return np.minimum((uniform[:, :, None] >= heads).sum(axis=2), classes - 1)
    skill = np.broadcast_to(one.accuracy[kind], uniform.shape)
    hard = rng.random(items) < one.difficulty.share
    skill = np.where(hard[:, None], 0.5 + one.difficulty.left * (skill - 0.5), skill)
    other = (truth[:, None] + rng.integers(1, classes, uniform.shape)) % classes
    return np.where(uniform < skill, truth[:, None], other)


def followed(plan: AdaptivePlan, kind: int, items: int, rng: np.random.Generator) -> tuple[int, np.ndarray]:
    """Wrong answers and loads (askers,) of so many items of a kind of the plan; each asker is one judge."""
    one = plan.instance
    judge = [int(some[0]) for some in plan.askers.workers]
    truth = rng.choice(int(one.classes), items, p=one.prior)
    labels = labels_drawn(one, int(one.task_type[plan.askers.kind == kind][0]), truth, rng)
    standing, wrong, load = {(): np.arange(items)}, 0, np.zeros(len(judge), np.int64)
    while standing:
        votes, mine = standing.popitem()
        rows = [row for row in plan.rows if (row.kind, row.votes) == (kind, votes)]
        turn = np.searchsorted(np.cumsum([row.share for row in rows])[:-1], rng.random(mine.size), side="right")
        for k, row in enumerate(rows):
            some = mine[turn == k]
            if row.action == "answer":
                wrong += int((truth[some] != row.what[0]).sum())
            if row.action != "ask" or not some.size:
                continue
            asker = row.what.index(1)
            load[asker] += some.size
            for label in np.unique(labels[some, judge[asker]]).tolist():
                after = tuple(sorted((*votes, (asker, label, 1))))
                reached = some[labels[some, judge[asker]] == label]
                standing[after] = np.concatenate([standing.get(after, reached[:0]), reached])
    return wrong, load
