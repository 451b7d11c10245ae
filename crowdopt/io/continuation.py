"""How a campaign goes on from labels that came back: by which rule, and which tasks are asked once more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.exhausted import exhausted
from crowdopt.crowd.families import dependence
from crowdopt.crowd.open_tasks import asks
from crowdopt.io.labels_back import Answered

HEEDFUL = {"hoeffding": "bhattacharyya", "mean-error": "exact-error"}  # for rules that heed no single task's labels


def going_on(found: Answered) -> tuple[str, bool]:
    """The rule by which the campaign goes on, and whether what labels say of each task is its prior then.

    A rule that takes no notice of what labels say, or of single tasks, gives way to one that does and promises no less
    of tasks asked again. Labels of workers who err together count as evidence, since no posterior is known of them, and
    so do those of tasks that may be hard, of which a posterior of the class is not all that is to be known.

    Parameters
    ----------
    found : Answered

    Returns
    -------
    (str, bool)
    """
    instance = found.instance
    together = dependence(instance.groups, found.pairs, instance.n_tasks) > 1
    observed = not together.any() and not instance.difficulty.share
    return HEEDFUL.get(instance.rule, instance.rule) if observed else instance.rule, observed


def asked_once_more(found: Answered) -> Ints:
    """Tasks that are not sure though they have all that the next campaign's rule asks: each gets a label more.

    Only where labels count as evidence, which a rule counts before they are seen.

    Parameters
    ----------
    found : Answered

    Returns
    -------
    (k,) int
    """
    unsure = ~found.answers.sure
    if going_on(found)[1] or not unsure.any():
        return np.zeros(0, np.int64)
    unsure &= ~exhausted(found.instance, found.pairs, found.new)
    none, loads = found.pairs[:0], np.zeros(found.instance.n_workers, np.int64)
    counted = replace(found.instance, collected=found.pairs, fixed=none, min_load=loads, own_rows=None)
    return np.flatnonzero(unsure & ~asks(counted))


def saying_nothing(found: Answered) -> Ints:
    """Pairs whose label would say nothing, of tasks that are asked for one label more: it has to say something.

    Parameters
    ----------
    found : Answered

    Returns
    -------
    (k, 2) int
        Task and worker.
    """
    instance, again = found.instance, asked_once_more(found)
    n, m = instance.n_tasks, instance.n_workers
    says_nothing = np.zeros((n, m), bool)
    says_nothing[again] = instance.evidence[instance.task_type[again]] <= 0
    for pairs in (instance.forbidden, instance.fixed, found.pairs):
        says_nothing[tuple(pairs.T)] = False
    useless: Ints = np.argwhere(says_nothing)
    return useless
