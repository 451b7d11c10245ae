"""The sampled LP: a sample of the workers covers its share of the need, and prices the tasks for all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.core.program import Program, relax
from crowdopt.crowd.alike import has_joint_limits, of_workers
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.programs import assignment


def transform(instance: AssignmentInstance, sample: ArrayLike, share: float) -> AssignmentInstance:
    """The instance of the sampled workers alone, with ``gamma C`` in place of C (Ho et al. 2013, Theorem 2).

    instance: with the whole crowd; sample (k,): the sampled workers, each once; share: gamma, their number over the
    number of workers to come; in (0, 1].
    """
    chosen = np.asarray(sample, dtype=np.int64)
    if chosen.ndim != 1 or chosen.size == 0 or np.unique(chosen).size < chosen.size:
        raise InputError("the sample must be a list of at least one worker, each once")
    if chosen.min() < 0 or chosen.max() >= instance.n_workers:
        raise InputError(f"the sample names workers outside 0..{instance.n_workers - 1}")
    if not 0 < share <= 1:
        raise InputError(f"the share gamma must lie in (0, 1], not {share}")
    whole = [instance.fixed.size, instance.collected.size, instance.budget is not None, has_joint_limits(instance)]
    if any(whole) or assignment.has_label_limits(instance):
        raise InputError(
            "fixed and collected pairs, label limits and a budget bind the whole crowd, not a sample of it"
        )
    ids = None if instance.workers is None else [instance.workers[j] for j in chosen]
    return replace(of_workers(instance, chosen, ids), demand=instance.demand * share)


def build(instance: AssignmentInstance, sample: ArrayLike, share: float) -> Program:
    """The sampled LP (Ho et al. 2013, Section 5.1) of the instance that :func:`transform` gives; sample (k,)."""
    return replace(relax(assignment.build(transform(instance, sample, share))), name="sampled")
