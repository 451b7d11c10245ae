"""The true minimum by levels: every worker's own skill, every task's exact error, where a task takes few labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.checked import settled
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.levels.climb import CELLS, Ladder
from crowdopt.assign.exact.levels.cut import Levels
from crowdopt.assign.exact.levels.enough import ByError
from crowdopt.assign.exact.levels.filling import fill, hands
from crowdopt.assign.exact.levels.level_blocks import LevelBlocks
from crowdopt.assign.exact.split import pairs_of
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.classes import Classes, classes_of, firsts
from crowdopt.crowd.evidence import EXACT_ERROR
from crowdopt.crowd.exactness import fewest_exact
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance

Prove: TypeAlias = Callable[[AssignmentInstance, Floats, float, float, int], float]  # worker, budget, wrong, levels

FEW = 8  # labels with which each task can reach its target, at most; sets of many more are not followed
COUNT = 24  # levels for each class of tasks, to begin with
PATIENCE = 8  # cuts in a row that neither prove more nor lead to a better plan
PART = 0.5  # of the time, at most


def knows(instance: AssignmentInstance) -> bool:
    """Whether levels can be asked: two classes, no pairs, loads or money of their own, few labels for a task."""
    own = len(instance.collected) or len(instance.fixed) or len(instance.forbidden) or instance.min_load.any()
    if instance.rule != "exact-error" or instance.classes > 2 or own or instance.budget is not None:
        return False
    if has_joint_limits(instance) or instance.difficulty.share or (fewest_exact(instance) > FEW).any():
        return False
    classes = classes_of(instance)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[:, 1]
    kinds = np.unique(np.column_stack([classes.task_class, instance.epsilon, prior]), axis=0)
    return classes.evidence.size <= CELLS and len(kinds) == classes.need.size


def by_levels(
    instance: AssignmentInstance, solvers: Solvers, prove: Prove, options: Options, listener: Listener | None = None
) -> Plan:
    """Plan for the rule exact-error: ``min sum c_ij y_ij`` such that no task's exact error is above its target.

    The master over levels (crowdopt.programs.level_sets), whose sets are those over which the best vote errs little
    enough, with each worker counted as the best of their level; levels are cut until no set in use rests on that. The
    workers' prices then prove the bound by their own skills, and the sets are dealt to tasks.

    Parameters
    ----------
    instance : AssignmentInstance
        One that ``knows`` says yes to.
    solvers : Solvers
    prove : callable
        What prices of workers prove, by the proof that ``verify`` repeats: crowdopt.recheck.proofs.prove_patterns.
    options : Options
        Limits of the whole.
    listener : callable, optional
        Is told of progress.

    Returns
    -------
    Plan
        Perhaps with a gap, or no plan: whoever asks has other methods for the time that is left.
    """
    get_ready()
    clock, classes = Clock(options.time_limit), classes_of(instance)
    standing = Standing(
        instance=instance,
        solvers=solvers,
        options=options,
        clock=clock,
        listener=listener,
        duals=None,
        certified=-np.inf,
        known=Certificate(None, -np.inf, "none", None, None),
    )
    raise_bound, offer = partial(_raise_bound, standing, prove), partial(_offer, standing)
    ladder = Ladder(standing, ByError(classes), raise_bound, offer, PATIENCE)
    levels, _ = Levels.evenly(classes, COUNT).split(_not_enough_alone(classes))
    ladder.climb(levels, [np.zeros(top.size) for top in levels.tops], clock.part(PART))
    return standing.plan()


def _not_enough_alone(classes: Classes) -> list[Floats]:
    """Where to cut so that nobody whose one label is enough for a class of tasks is counted with others, as arrays."""
    target = classes.instance.epsilon[firsts(classes.task_class)]
    alone = EXACT_ERROR.evidence(1 - target, 2)
    return [np.unique(worth[worth < least])[-1:] for worth, least in zip(classes.evidence, alone, strict=True)]


def _raise_bound(standing: Standing, prove: Prove, blocks: LevelBlocks) -> None:
    """What the prices of the levels' workers prove by the workers' own skills: never less than by their levels'."""
    instance, classes = standing.instance, blocks.levels.classes
    worker = -blocks.worker_prices(blocks.center)[classes.worker_class]
    nothing = np.zeros(instance.n_tasks)
    proven = prove(instance, worker, 0.0, 0.0, 0)
    if (instance.cost == np.rint(instance.cost)).all():
        proven = next_integer(proven)
    standing.raise_bound(proven, Duals(nothing, worker, nothing, form="patterns"))


def _offer(standing: Standing, blocks: LevelBlocks) -> None:
    """Offer the plan that the shares of sets lead to, mended by exact errors."""
    filled = fill(blocks, lambda: standing.clock.left)
    if filled is None:
        return
    pairs = settled(standing.instance, _dealt(blocks.levels.classes, hands(blocks, filled)), standing.clock)
    if pairs is not None:
        standing.offer(pairs)


def _dealt(classes: Classes, labels: list[tuple[int, Ints, int]]) -> Ints:
    """Sets of worker classes' labels, given to the tasks of their class one after another, as pairs."""
    order = np.argsort(classes.task_class, kind="stable")
    following = (np.cumsum(classes.tasks_in) - classes.tasks_in).tolist()
    task = np.empty(len(labels), np.int64)
    for k, (kind, _, _) in enumerate(labels):
        task[k] = order[following[kind]]
        following[kind] += 1
    sizes = [chosen.size for _, chosen, _ in labels]
    group = np.concatenate([np.zeros(0, np.int64), *(chosen for _, chosen, _ in labels)])
    return pairs_of(classes, np.repeat(task, sizes), group)


__all__ = ["by_levels", "knows"]
