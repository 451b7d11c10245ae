"""Synthetic instances, each fixed by a name and a seed; synthetic labels of any instance, drawn by its law.

Workers of a family err together: one number for a task and a family decides for all its members. A member who is right
with chance p is right where the number is below p. So each has the accuracy that the campaign says, and a worse worker
errs wherever a better one of the family does: of all laws with these accuracies the one under which they err together
most often (Fréchet 1951). A second number says which wrong class: those who err name the same one, but for what
confusion tables say. Labels that are in confine both numbers to intervals: where every member says what they said.
"""

from __future__ import annotations

import re

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import TINY
from crowdopt.errors import InputError, public
from crowdopt.memory import refuse_beyond_memory

KINDS = "HS, U, R1, R10, B5, L3, K<types>, T<types>, I<features>"
NAME = re.compile(r"(HS|U|R1|R10|B5|L3|[KT][1-9]\d{0,3}|I[1-9]\d{0,2}):([1-9]\d{0,8})x([1-9]\d{0,8})")
ARRAYS = 4  # of each shape, at least, in an instance
ROWS = 50_000  # items whose accuracies are drawn together
LABELS = 6  # capacity per item


@public
def recipe(name: str, seed: int = 0, *, priced: bool = False) -> AssignmentInstance:
    """The instance that ``KIND:NxM`` and a seed name, under the rule hoeffding, with task i of type i mod T.

    Drawn from ``np.random.default_rng(seed)`` in this order: accuracies, capacities
    ``rng.integers(floor(b/2), floor(3b/2) + 1, m)`` (60 n/m, rounded up, for the papers' crowds; capped at n),
    and, if priced, one price per worker ``rng.integers(1, 6, m)``. Small sizes of some kinds have no plan at all
    (K3, B5, T30 and T100 at 50x20; HS and U below 60 workers): the instance does not change itself, solving says so.
    ``I<k>:NxM`` has accuracies per item from k features, and always prices (:func:`item_recipe`).

    Raises
    ------
    InputError
        If there is no such recipe.
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise InputError(f"unknown recipe {name!r}; write KIND:TASKSxWORKERS with KIND one of {KINDS}")
    kind, n, m = match[1], int(match[2]), int(match[3])
    types = int(re.sub(r"\D", "", kind) or 1)
    if kind[0] == "I":
        return item_recipe(name, types, n, m, seed)
    refuse_beyond_memory(ARRAYS * (n + m + types * m), f"an instance of {n} tasks and {m} workers")
    rng = np.random.default_rng(seed)
    what, accuracy, epsilon, mean = _crowd(kind, types, m, rng)
    capacity = np.full(m, -(-60 * n // m))
    if mean is not None:
        capacity = rng.integers(int(0.5 * (mean * n / m)), int(1.5 * (mean * n / m)) + 1, size=m)
    return AssignmentInstance(
        accuracy=accuracy,
        task_type=np.arange(n) % types,
        capacity=np.minimum(n, capacity),
        epsilon=np.asarray(epsilon),
        rule="hoeffding",
        cost=rng.integers(1, 6, m).astype(np.float64) if priced else np.ones(m),
        title=f"{name}{' priced' if priced else ''}, seed {seed}: {what}",
    )


def _crowd(kind: str, types: int, m: int, rng: np.random.Generator) -> tuple[str, Floats, float, float | None]:
    """What it is, accuracies (types, m), error target, and the mean b of capacities over n/m; None: 60 for each."""
    match kind:
        case "HS":
            half = np.where(rng.permutation(m) < m // 2, 0.7, 0.5)[None]
            return "half spammers (.5), half hammers (.7); Ho et al. 2013, Fig. 1", half, 0.1, None
        case "U":
            return "everyone .6414; Ho et al. 2013, Fig. 1", np.full((1, m), 0.6414), 0.1, None
        case "B5":
            return "five types, beta(2.3, 2): adversarial workers too", rng.beta(2.3, 2, (5, m)), 0.1, 13.0
        case "L3":
            return "three types, uniform(.7, .98), few labels", rng.uniform(0.7, 0.98, (3, m)), 0.4, 3.2
    if kind[0] == "K":
        own = np.where(np.arange(m) % types == np.arange(types)[:, None], 0.7, 0.5)
        return f"{types} types, .7 on one's own; Ho et al. 2013, Fig. 2", own, 0.1, None
    uniform = rng.uniform(0.5, 0.95, (types, m))
    match kind:
        case "R1":
            return "one type, uniform(.5, .95)", uniform, 0.2, 13.0 if m >= 100 else 16.0
        case "R10":
            return "ten types, uniform(.5, .95)", uniform, 0.05 if m > 20 else 0.15, 10.5 if m >= 300 else 13.0
    return f"{types} types, uniform(.5, .95)", uniform, 0.05, 8.7


def item_recipe(
    name: str, features: int, n: int, m: int, seed: int, place: int | None = None, count: int = 0
) -> AssignmentInstance:
    """``p_ij = .5 + .49 / (1 + exp(-(s_j - .7 d_i + f_i . v_j)))``, kept within [.5, .99]; a row per task.

    Drawn from ``np.random.default_rng(seed)`` in this order: skills s ~ N(1.2, .6), difficulties d ~ min(N(0, .8),
    1.5), loadings v ~ N(0, .3 / sqrt(k)) of shape (k, m), prices ``round(exp(N(0, .7) + s / 2), 3)``, at least .001,
    then the features f ~ N(0, 1) of shape (n, k). Rule bhattacharyya, error target .3, capacities ``6 n // m + 1``.

    A part has the same crowd without the difficulties before it, and count items whose difficulties and features are
    drawn from ``SeedSequence(seed, spawn_key=(place,))``; accuracies are rounded to 32 bits. So a part is the same
    wherever it is drawn.

    Parameters
    ----------
    features : int
        k, at least 1.
    n : int
        Tasks of all parts, which capacities follow.
    place, count : int, optional
        Which part to draw, and how many of the n tasks it has; by default all are drawn together.

    Returns
    -------
    AssignmentInstance
        Of the tasks drawn; each is a type of its own.
    """
    rng = np.random.default_rng(seed)
    skill = rng.normal(1.2, 0.6, m)
    difficulty = rng.normal(0.0, 0.8, n if place is None else 0)
    loading = rng.normal(0.0, 0.3 / np.sqrt(features), (features, m))
    cost = np.maximum(0.001, np.round(np.exp(rng.normal(0.0, 0.7, m) + 0.5 * skill), 3))
    if place is not None:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place,)))
        difficulty = rng.normal(0.0, 0.8, count)
    accuracy: Floats = np.empty((difficulty.size, m))
    for start in range(0, difficulty.size, ROWS):
        hard = np.minimum(difficulty[start : start + ROWS, None], 1.5)
        own = rng.normal(size=(hard.size, features)) @ loading + (skill - 0.7 * hard)
        accuracy[start : start + ROWS] = np.clip(0.5 + 0.49 / (1 + np.exp(-own)), 0.5, 0.99)
    what = f"accuracies per item, skill, difficulty and {features} features, prices per worker"
    return AssignmentInstance(
        accuracy=accuracy if place is None else accuracy.astype(np.float32),
        task_type=np.arange(len(accuracy)),
        capacity=np.full(m, min(n, LABELS * n // m + 1)),
        epsilon=np.asarray(0.3),
        rule="bhattacharyya",
        cost=cost,
        title=f"{name}{'' if place is None else ' in parts'}, seed {seed}: {what}",
    )


def simulated_labels(
    instance: AssignmentInstance,
    pairs: Ints,
    rng: np.random.Generator,
    truth: Ints | None = None,
    known: tuple[Ints, Ints] | None = None,
) -> tuple[Ints, Ints]:
    """Labels as the instance's law would bring them: ``(truth, label)``, classes of each task and of each pair.

    Draws one uniform number per task for its truth, then one per pair for right or wrong, then one per pair for which
    wrong class; then two per task for each family; then, where the law has parts, one per task for that.

    Parameters
    ----------
    pairs : (k, 2) int
        Task and worker of each label.
    truth : (tasks,) int, optional
        Class of each task; drawn by default, from the prior or given the labels that are in.
    known : ((j, 2) int, (j,) int), optional
        Pairs and labels already in: truth, numbers of families and the law's parts are drawn given what they say;
        numbers for which the law knows no way that this happens are let be.
    """
    n = instance.n_tasks
    chance = np.broadcast_to(instance.prior, (n, instance.classes))
    if known is not None and truth is None:
        chance = family_posteriors(instance, *known)
    drawn = (rng.random((n, 1)) > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1)
    truth = drawn if truth is None else truth
    numbers = rng.random((2, len(pairs)))
    for group in instance.groups:
        if group.dependent:
            shared = rng.random((2, n))[::-1]
            if known is not None:
                low, high = _confined(instance, group, *known, truth)
                shared = np.where(low < high, low + (high - low) * shared, shared)
            mine = np.isin(pairs[:, 1], group.members)
            numbers[:, mine] = shared[:, pairs[mine, 0]]
    part = instance.law.part_drawn(rng, truth, None if known is None else instance.labels(*known))
    task = pairs[:, 0]
    return truth, instance.law.drawn((part[task], *instance.cells(pairs), truth[task]), (numbers[0], numbers[1]))


def family_posteriors(instance: AssignmentInstance, pairs: Ints, label: Ints) -> Floats:
    """``P(class | labels)`` of each task by the law that families are drawn by, (tasks, classes).

    Where no class explains a task's labels by that law, as if its workers erred independently. Of a family hard tasks
    have one label at most.
    """
    alone, families = instance.posterior(pairs, label), [group for group in instance.groups if group.dependent]
    if not families or instance.difficulty.share:
        return alone
    apart = ~np.isin(pairs[:, 1], np.concatenate([group.members for group in families]))
    chance = instance.posterior(pairs[apart], label[apart])
    for group in families:
        for k in range(int(instance.classes)):
            low, high = _confined(instance, group, pairs, label, np.full(instance.n_tasks, k))
            chance[:, k] *= np.maximum(0.0, high - low).prod(axis=0)
    total = chance.sum(axis=1, keepdims=True)
    return np.where(total > 0, chance / np.where(total > 0, total, 1.0), alone)


def _confined(
    instance: AssignmentInstance, group: Group, pairs: Ints, label: Ints, truth: Ints
) -> tuple[Floats, Floats]:
    """Ends of the intervals of a family's two numbers of each task, given its members' labels: twice (2, tasks)."""
    mine = np.isin(pairs[:, 1], group.members)
    pairs, label = pairs[mine], label[mine]
    task, true, at = pairs[:, 0], truth[pairs[:, 0]], np.arange(label.size)
    law = instance.coins if instance.confusion is None else instance.law
    rows = law.speech.rows(0, *instance.cells(pairs), true)
    skill, right = rows[at, true], label == true
    rows[at, true] = 0.0
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), TINY)
    end = np.cumsum(rows, axis=1)[at, label]
    low, high, one = np.zeros((instance.n_tasks, 2)), np.ones((instance.n_tasks, 2)), np.ones(at.size)
    np.maximum.at(low, task, np.where(right, 0.0, [skill, end - rows[at, label]]).T)
    np.minimum.at(high, task, np.where(right, [skill, one], [one, end]).T)
    return low.T, high.T
