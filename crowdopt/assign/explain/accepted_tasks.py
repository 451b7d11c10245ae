"""Tasks that have labels and cannot have enough: accepted with the error that those labels leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.explain.questions import NOTICE, Probe
from crowdopt.assign.explain.shortage import rounded_up
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation

NAMED = 5  # tasks in a sentence

Accepted = tuple[str, float, AssignmentInstance, Ints]  # in words, how many tasks, the instance and a plan for it


def accepted_tasks(instance: AssignmentInstance, probe: Probe) -> Accepted | None:
    """Give each task that lacks evidence, and has labels, the target that it keeps already.

    So a campaign in rounds goes on where a task has had all the labels its limits allow: those of a panel's families
    may disagree, and no further judge may be asked.

    -> (str, float, AssignmentInstance, (k, 2) array) or None: None where a task that lacks evidence has no labels, or
    errs as much as a coin, or no plan was found.
    """
    if not len(instance.collected):
        return None
    free = relaxation(replace(instance, budget=None))
    classes = classes_of(free, joint=True)
    point = probe.elastic(classes, joint_too=False)
    if point is None:
        return None
    tasks = np.flatnonzero(point.column("missing.cover")[classes.task_class] > NOTICE)
    error = instance.error_bound(instance.collected_evidence)
    if not tasks.size or (instance.collected_count[tasks] == 0).any() or (error[tasks] >= 0.49).any():
        return None
    epsilon = instance.epsilon.copy()
    epsilon[tasks] = [max(rounded_up(float(error[i])), epsilon[i]) for i in tasks]
    after = replace(instance, epsilon=epsilon)
    pairs = probe.find(after)
    if pairs is None:
        return None
    names = [f"{instance.task_id(i)} ({epsilon[i]:g})" for i in tasks[:NAMED].tolist()]
    more = f" and {tasks.size - NAMED} more" if tasks.size > NAMED else ""
    words = (
        f"accept {tasks.size} task(s) as they are, by an epsilon of their own in tasks.csv: {', '.join(names)}{more}"
    )
    return words, float(tasks.size), after, pairs
