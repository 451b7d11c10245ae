"""Second rounds: ``R10:1000x300:second``, where two labels of each task are in and count as they fell."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.bench.sources import Problem, Source
from crowdopt.bench.sources.recipe_cases import of_instance
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.posteriors import posteriors
from crowdopt.crowd.recipes.named_recipes import recipe, simulated_labels

FORM = re.compile(r"((?!SELECT)[A-Z]+\d*:\d+x(?!1:)\d+):second")
ROUND = 2  # second entry of the seed that draws the first round


def draw(name: str, seed: int) -> Problem:
    """The recipe's instance under the rule bhattacharyya, with the posteriors of the first round as priors.

    Drawn from ``np.random.default_rng([seed, 2])``: first the pairs of task and worker, then their labels. Capacities
    are what is left.
    """
    match = FORM.fullmatch(name)
    assert match is not None
    instance = replace(recipe(match[1], seed), rule="bhattacharyya")
    rng = np.random.default_rng([seed, ROUND])
    pairs = first_round(instance, rng)
    _, labels = simulated_labels(instance, pairs, rng)
    known = replace(instance, collected=pairs)
    return of_instance(name, known.given(posteriors(known, pairs, labels)))


def first_round(instance: AssignmentInstance, rng: np.random.Generator) -> Ints:
    """Two workers of each task, drawn by capacity; where both are the same, the next worker takes the place of one.

    instance: of at least two workers; -> (pairs, 2): task and worker, two of each task.
    """
    n, m = instance.n_tasks, instance.n_workers
    first, second = rng.choice(m, (2, n), p=instance.capacity / instance.capacity.sum())
    second = np.where(first == second, (second + 1) % m, second)
    pairs: Ints = np.column_stack([np.repeat(np.arange(n), 2), np.column_stack([first, second]).ravel()])
    return pairs


SOURCE = Source("a second round KIND:TASKSxWORKERS:second", lambda name: FORM.fullmatch(name) is not None, draw)
