"""The recipes: synthetic instances, each fixed by a name and a seed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes.family_draws import KnownLabels, family_posteriors, share_draws
from crowdopt.crowd.recipes.item_recipes import item_recipe
from crowdopt.errors import InputError, public
from crowdopt.memory import refuse_beyond_memory

ARRAYS = 4  # of each shape, at least, in an instance
Draw: TypeAlias = Callable[[np.random.Generator, int], Floats]  # (rng, workers) -> accuracies (types, workers)


@dataclass(frozen=True)
class Recipe:
    """One kind of crowd: accuracies, error target, and mean capacity in units of tasks per worker, n/m.

    ``capacity(m)`` is the mean b of the drawn capacities; None stands for the papers' fixed 60 n/m.
    """

    what: str
    accuracy: Draw
    epsilon: Callable[[int], float]
    capacity: Callable[[int], float] | None = None


def _own_type(types: int) -> Draw:
    """Accuracy .7 on tasks of the worker's own type j mod k, .5 elsewhere."""
    return lambda rng, m: np.where(np.arange(m) % types == np.arange(types)[:, None], 0.7, 0.5)


def _uniform(low: float, high: float, types: int) -> Draw:
    return lambda rng, m: rng.uniform(low, high, (types, m))


def _half_hammers(rng: np.random.Generator, m: int) -> Floats:
    return np.where(rng.permutation(m) < m // 2, 0.7, 0.5)[None]


RECIPES: dict[str, Recipe] = {
    "HS": Recipe("half spammers (.5), half hammers (.7); Ho et al. 2013, Fig. 1", _half_hammers, lambda m: 0.1),
    "U": Recipe("everyone .6414; Ho et al. 2013, Fig. 1", lambda rng, m: np.full((1, m), 0.6414), lambda m: 0.1),
    "R1": Recipe(
        "one type, uniform(.5, .95)",
        _uniform(0.5, 0.95, 1),
        lambda m: 0.2,
        lambda m: 13.0 if m >= 100 else 16.0,
    ),
    "R10": Recipe(
        "ten types, uniform(.5, .95)",
        _uniform(0.5, 0.95, 10),
        lambda m: 0.05 if m > 20 else 0.15,
        lambda m: 10.5 if m >= 300 else 13.0,
    ),
    "B5": Recipe(
        "five types, beta(2.3, 2): adversarial workers too",
        lambda rng, m: rng.beta(2.3, 2, (5, m)),
        lambda m: 0.1,
        lambda m: 13.0,
    ),
    "L3": Recipe("three types, uniform(.7, .98), few labels", _uniform(0.7, 0.98, 3), lambda m: 0.4, lambda m: 3.2),
}


def _find(kind: str) -> Recipe | None:
    family = re.fullmatch(r"([KT])([1-9]\d{0,3})", kind)
    if family is None:
        return RECIPES.get(kind)
    types = int(family[2])
    if family[1] == "K":
        return Recipe(f"{types} types, .7 on one's own; Ho et al. 2013, Fig. 2", _own_type(types), lambda m: 0.1)
    return Recipe(f"{types} types, uniform(.5, .95)", _uniform(0.5, 0.95, types), lambda m: 0.05, lambda m: 8.7)


@public
def recipe(name: str, seed: int = 0, *, priced: bool = False) -> AssignmentInstance:
    """The instance that ``KIND:NxM`` and a seed name, under the rule hoeffding, with task i of type i mod T.

    Drawn from ``np.random.default_rng(seed)`` in this order: accuracies, capacities
    ``rng.integers(floor(b/2), floor(3b/2) + 1, m)`` (60 n/m, rounded up, for the papers' crowds; capped at n),
    and, if priced, one price per worker ``rng.integers(1, 6, m)``. Small sizes of some kinds have no plan at all
    (K3, B5, T30 and T100 at 50x20; HS and U below 60 workers): the instance does not change itself, solving says so.
    ``I<k>:NxM`` has accuracies per item from k features, and always prices (crowdopt.crowd.recipes.item_recipes).

    Raises
    ------
    InputError
        If there is no such recipe.
    """
    match = re.fullmatch(r"([A-Z]+\d*):([1-9]\d{0,8})x([1-9]\d{0,8})", name)
    items = re.fullmatch(r"I([1-9]\d{0,2})", match[1]) if match else None
    if match is not None and items is not None:
        return item_recipe(name, int(items[1]), int(match[2]), int(match[3]), seed)
    kind = _find(match[1]) if match else None
    if match is None or kind is None:
        kinds = ", ".join([*RECIPES, "K<types>", "T<types>", "I<features>"])
        raise InputError(f"unknown recipe {name!r}; write KIND:TASKSxWORKERS with KIND one of {kinds}")
    n, m = int(match[2]), int(match[3])
    types = int(re.sub(r"\D", "", match[1]) or 1)
    refuse_beyond_memory(ARRAYS * (n + m + types * m), f"an instance of {n} tasks and {m} workers")
    rng = np.random.default_rng(seed)
    accuracy = kind.accuracy(rng, m)
    capacity = np.minimum(n, _capacities(kind, rng, n, m))
    return AssignmentInstance(
        accuracy=accuracy,
        task_type=np.arange(n) % accuracy.shape[0],
        capacity=capacity,
        epsilon=np.asarray(kind.epsilon(m)),
        rule="hoeffding",
        cost=rng.integers(1, 6, m).astype(np.float64) if priced else np.ones(m),
        title=f"{name}{' priced' if priced else ''}, seed {seed}: {kind.what}",
    )


def _capacities(kind: Recipe, rng: np.random.Generator, n: int, m: int) -> NDArray[np.int64]:
    if kind.capacity is None:
        return np.full(m, -(-60 * n // m))
    mean = kind.capacity(m) * n / m
    return rng.integers(int(0.5 * mean), int(1.5 * mean) + 1, size=m)


def simulated_labels(
    instance: AssignmentInstance,
    pairs: NDArray[np.int64],
    rng: np.random.Generator,
    truth: NDArray[np.int64] | None = None,
    known: KnownLabels | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels as the instance's skills would bring them: ``(truth, label)``, classes of each task and of each pair.

    Truth is drawn from the prior, unless given, and given the labels that are in, if any
    (crowd.recipes.family_draws.family_posteriors); worker j then says it with chance p and otherwise any other class.
    Draws one uniform number per task, then one per pair for right or wrong, then one per pair for which wrong class;
    then those that families share (crowd.recipes.family_draws); then, where the law has parts, one per task for that.

    truth (tasks,): class of each task; drawn by default; known: labels already in: the truth, what families share, and
    the law's parts are drawn given what they say; -> truth (tasks,): as given or drawn.
    """
    before = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    chance = before if known is None or truth is not None else family_posteriors(instance, known)
    drawn = (rng.random((instance.n_tasks, 1)) > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1)
    truth = drawn if truth is None else truth
    draws = rng.random(len(pairs)), rng.random(len(pairs))
    share_draws(instance, pairs, truth, draws, rng, known)
    had = None if known is None else instance.labels(known.pairs, known.label)
    part = instance.law.part_drawn(rng, truth, had)
    task = pairs[:, 0]
    return truth, instance.law.drawn((part[task], *instance.cells(pairs), truth[task]), draws)
