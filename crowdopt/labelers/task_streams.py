"""Where streams of tasks come from: labelers of given or drawn skills, or a table of labels that people once gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError
from crowdopt.labelers.labelers import Labelers
from crowdopt.labelers.task_arrivals import COIN, CONTEXT, LABEL, ORDER, SKILL, TRUTH, TaskStream, drawn_labels
from crowdopt.labelers.theorems import strict_majority
from crowdopt.memory import refuse_beyond_memory

TRIES = 100_000  # draws of a crowd until its majority is better than a guess


def simulated_tasks(labelers: Labelers, horizon: int, seed: tuple[int, ...], shuffle: bool = True) -> TaskStream:
    """Tasks of random truth and context, one-coin labels; everything follows from the seed.

    Whether a labeler gets a task right does not depend on who else is asked or when: trials of policies are paired.

    labelers: who can be asked, with true skills; horizon: tasks that arrive after the initial tester; shuffle: whether
    labelers come in a random order, so that ties between them are broken fairly.
    """
    if horizon < 1:
        raise InputError(f"the horizon must be at least 1 task, not {horizon}")
    refuse_beyond_memory(3.0 * horizon * labelers.count, f"a run of {horizon} tasks among {labelers.count} labelers")

    def chance(what: int) -> np.random.Generator:
        return np.random.default_rng([*seed, what])

    if shuffle:
        labelers = labelers.ordered(chance(ORDER).permutation(labelers.count))
    count = horizon + 1
    if labelers.at is None:
        context: NDArray[Any] = chance(CONTEXT).integers(0, labelers.kinds, count)
    else:
        context = chance(CONTEXT).uniform(labelers.at[0], labelers.at[-1], count)
    truth = chance(TRUTH).integers(0, labelers.classes, count)
    draws = chance(LABEL).random((count, labelers.count))
    label = drawn_labels(truth[:, None], draws, labelers.skill(context), labelers.classes)
    return TaskStream(labelers, context, label, chance(COIN).random(count), truth, seed)


def drawn_labelers(
    count: int,
    seed: tuple[int, ...],
    low: float = 0.0,
    high: float = 1.0,
    cost: float = 0.0,
) -> Labelers:
    """M skills uniform on [low, high], drawn again until the majority of all is better than a guess (a_min > 1/2).

    count: M; cost: of every label. Raises InputError if there is nothing to draw from, or no draw has such a majority.
    """
    if not 0 <= low < high <= 1 or count < 1:
        raise InputError(f"cannot draw {count} labelers with skills from {low} to {high}: 0 <= low < high <= 1")
    refuse_beyond_memory(3.0 * count, f"a draw of {count} labelers")
    rng = np.random.default_rng([*seed, SKILL])
    for _ in range(TRIES):
        p = rng.uniform(low, high, count)
        if strict_majority(p) > 0.5:
            return Labelers(p[None], np.full(count, cost), 2)
    raise InputError(f"in {TRIES} draws no majority of {count} labelers from {low} to {high} is better than a guess")


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels that people once gave: one of each pair, or none."""

    label: Ints  # (tasks, labelers): -1 where there is none
    truth: Ints  # (tasks,): -1 where unknown
    context: NDArray[np.integer]  # (tasks,): kind of each task
    cost: Floats  # (labelers,): of a label
    classes: int
    names: tuple[str, ...]  # of the labelers


def recorded_tasks(table: LabelTable, horizon: int, seed: tuple[int, ...]) -> TaskStream:
    """A table's tasks in a random order; the first is the initial tester, so T is at most their number less one.

    Skills are the labelers' shares of right labels on each kind of task.
    """
    rng = np.random.default_rng([*seed, ORDER])
    order = rng.permutation(table.label.shape[1])
    chosen = rng.permutation(len(table.label))[: horizon + 1]
    share = tallied(table.label, table.truth, table.context, table.classes)
    people = Labelers(share, table.cost, table.classes, None, table.names).ordered(order)
    coin = np.random.default_rng([*seed, COIN]).random(chosen.size)
    label = table.label[np.ix_(chosen, order)]
    return TaskStream(people, table.context[chosen], label, coin, table.truth[chosen], seed, recorded=True)


def tallied(label: Ints, truth: Ints, context: NDArray[np.integer], classes: int) -> Floats:
    """Each labeler's share of right labels by kind of task; 1/L where there are none.

    label (tasks, labelers): -1 where there is none; truth, context (tasks,): true classes, -1 where unknown, and kinds
    of task; -> (kinds, labelers).
    """
    known = (label >= 0) & (truth >= 0)[:, None]
    right = known & (label == truth[:, None])
    share = np.full((int(context.max()) + 1, label.shape[1]), 1 / classes)
    for kind in range(len(share)):
        asked = known[context == kind].sum(axis=0)
        share[kind] = np.where(asked > 0, right[context == kind].sum(axis=0) / np.maximum(asked, 1), share[kind])
    return share
