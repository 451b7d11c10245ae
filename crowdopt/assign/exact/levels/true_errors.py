"""The true minimum by levels: every worker's own skill, every task's exact error, where a task takes few labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from crowdopt.assign.patterns.proven_prices import prices_prove
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.classes import Classes, classes_of, firsts
from crowdopt.crowd.evidence import EXACT_ERROR
from crowdopt.crowd.exactness import errors_of, fewest_exact
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.target_steps import TOLD_APART, stepped_up

Heard: TypeAlias = Callable[[LevelBlocks], None]

FEW = 8  # labels with which each task can reach its target, at most; sets of many more are not followed
COUNT = 24  # levels for each class of tasks, to begin with
TARGETS, KINDS = TOLD_APART, 40  # of each type that are told apart, and of all types together
PATIENCE = 8  # cuts in a row that neither prove more nor lead to a better plan
PART = 0.5  # of the time, at most


def knows(instance: AssignmentInstance) -> bool:
    """Whether levels can be asked: two classes, no labels, loads or money of its own, few labels for a task."""
    own = len(instance.collected) or len(instance.fixed) or instance.min_load.any()
    if instance.rule != "exact-error" or instance.classes > 2 or own or instance.budget is not None:
        return False
    if has_joint_limits(instance) or instance.difficulty.share or (fewest_exact(instance) > FEW).any():
        return False
    loose = loosened(instance)
    classes = classes_of(loose)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[:, 1]
    kinds = np.unique(np.column_stack([classes.task_class, loose.epsilon, prior]), axis=0)
    return classes.evidence.size <= CELLS and len(kinds) == classes.need.size


def loosened(instance: AssignmentInstance, up: bool = True) -> AssignmentInstance:
    """Without forbidden pairs, and with few different targets for each type: the others rounded up to these, or down.

    Rounded up, what no plan of it costs less than, none of the instance does; rounded down, its sets keep all targets.

    Parameters
    ----------
    instance : AssignmentInstance
    up : bool
        Which way targets are rounded.

    Returns
    -------
    AssignmentInstance
        The same one where nothing has to be rounded or left out.
    """
    target, types = instance.epsilon.copy(), np.unique(instance.task_type)
    many = max(1, min(TARGETS, KINDS // types.size, CELLS // (types.size * instance.n_workers)))
    for kind in types.tolist():
        mine = np.flatnonzero(instance.task_type == kind)
        if np.unique(target[mine]).size > many:
            parts = np.linspace(0, 1, many + 1)
            tops = stepped_up(np.quantile(target[mine], parts[1:], method="higher"))
            bottoms = np.quantile(target[mine], parts[:-1], method="lower")
            below = bottoms[np.searchsorted(bottoms, target[mine], side="right") - 1]
            target[mine] = tops[np.searchsorted(tops, target[mine])] if up else below
    if not len(instance.forbidden) and (target == instance.epsilon).all():
        return instance
    return replace(instance, epsilon=target, forbidden=np.zeros((0, 2), np.int64))


def rounds_targets(instance: AssignmentInstance) -> bool:
    """Whether targets are too many to be told apart."""
    return bool((loosened(instance).epsilon != instance.epsilon).any())


def by_levels(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
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
    options : Options
        Limits of the whole.
    listener : callable, optional
        Is told of progress.

    Returns
    -------
    Plan
        Perhaps with a gap, or no plan: whoever asks has other methods for the time that is left.
    """
    clock, loose = Clock(options.time_limit), loosened(instance)
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
    get_ready(standing.tell)
    proofs = Proofs(standing, loose)
    offer = partial(_offer, standing, proofs)
    if (loose.epsilon != instance.epsilon).any():
        last = _climbed(standing, loose, proofs.hear, _nothing, clock.part(PART / 2))
        if not standing.done:
            last = _climbed(standing, loosened(instance, up=False), _nothing, offer, clock.part(PART))
    else:
        last = _climbed(standing, loose, proofs.hear, offer, clock.part(PART))
    if standing.best is None and last is not None and not clock.over:
        offer(last)  # of levels that are still rough: mending has more to do
    proofs.settle()
    return standing.plan()


def _climbed(
    standing: Standing, instance: AssignmentInstance, hear: Heard, offer: Heard, turn: Clock
) -> LevelBlocks | None:
    """Levels of the instance cut finer and finer, from prices that say nothing; the last ones."""
    classes = classes_of(instance)
    levels, _ = Levels.evenly(classes, COUNT).split(_not_enough_alone(classes))
    ladder = Ladder(standing, ByError(classes), hear, offer, PATIENCE)
    return ladder.climb(levels, [np.zeros(top.size) for top in levels.tops], turn)


def _nothing(blocks: LevelBlocks) -> None:
    """Nothing is asked of these."""


@dataclass(eq=False)
class Proofs:
    """The best prices of workers so far, proven by the workers' own skills when it matters: that takes a while.

    Parameters
    ----------
    standing : Standing
        Takes the bounds.
    loose : AssignmentInstance
        What the prices are for.
    """

    standing: Standing
    loose: AssignmentInstance
    best: float = -np.inf
    worker: Floats | None = None

    def hear(self, blocks: LevelBlocks) -> None:
        """Remember the prices if by their levels they prove more than any before."""
        if blocks.bound > self.best:
            prices = blocks.worker_prices(blocks.center)
            self.best, self.worker = blocks.bound, -prices[blocks.levels.classes.worker_class]

    def settle(self) -> None:
        """Prove by the prices remembered since the last time; where all prices are whole, up to a whole number."""
        instance, nothing = self.standing.instance, np.zeros(self.standing.instance.n_tasks)
        if self.worker is None:
            return
        duals = Duals(nothing, self.worker, nothing, form="patterns")
        proven = prices_prove(self.loose, duals)
        if (instance.cost == np.rint(instance.cost)).all():
            proven = next_integer(proven)
        self.standing.raise_bound(proven, duals)
        self.worker = None


def _not_enough_alone(classes: Classes) -> list[Floats]:
    """Where to cut so that nobody whose one label is enough for a class of tasks is counted with others, as arrays."""
    target = classes.instance.epsilon[firsts(classes.task_class)]
    alone = EXACT_ERROR.evidence(1 - target, 2)
    return [np.unique(worth[worth < least])[-1:] for worth, least in zip(classes.evidence, alone, strict=True)]


def _offer(standing: Standing, proofs: Proofs, blocks: LevelBlocks) -> None:
    """Offer the plan that the shares of sets lead to, mended by exact errors; its bound is proven first."""
    proofs.settle()
    filled = fill(blocks, lambda: standing.clock.left)
    if filled is None:
        return
    dealt = _dealt(standing.instance, blocks.levels.classes, hands(blocks, filled))
    pairs = settled(standing.instance, dealt, standing.clock)
    if pairs is not None:
        standing.offer(pairs)


def _dealt(instance: AssignmentInstance, classes: Classes, labels: list[tuple[int, Ints, int]]) -> Ints:
    """Sets of worker classes' labels given to the tasks of their class, as pairs, without forbidden ones.

    The less a set errs, the less is the target of the task that has it.
    """
    kind = np.array([one for one, _, _ in labels], np.int64)
    chosen = [groups for _, groups, _ in labels]
    first, someone = firsts(classes.task_class), firsts(classes.worker_class)
    if classes.instance is instance:
        error = np.zeros(kind.size)
    else:
        error = errors_of(instance, first[kind], [someone[groups] for groups in chosen])
    order = np.lexsort((error, kind))
    tasks = np.lexsort((instance.epsilon, classes.task_class))
    begins = np.cumsum(classes.tasks_in) - classes.tasks_in
    place = np.arange(kind.size) - np.searchsorted(kind[order], kind[order])
    task = np.empty(kind.size, np.int64)
    task[order] = tasks[begins[kind[order]] + place]
    sizes = [groups.size for groups in chosen]
    group = np.concatenate([np.zeros(0, np.int64), *chosen])
    pairs = pairs_of(classes, np.repeat(task, sizes), group)
    if not len(instance.forbidden):
        return pairs
    keys = instance.forbidden @ np.array([instance.n_workers, 1])
    return pairs[~np.isin(pairs @ np.array([instance.n_workers, 1]), keys)]


__all__ = ["by_levels", "knows", "loosened", "rounds_targets"]
