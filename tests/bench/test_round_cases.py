"""Second rounds as cases: the labels that are in are the same for all methods, and a plan buys only what is missing."""

from __future__ import annotations

import numpy as np

from crowdopt.bench.sources import open_problem
from crowdopt.crowd.recipes.named_recipes import recipe


def test_two_labels_of_each_task_are_in_and_never_bought_again():
    """Drawn by the seed alone; some tasks are done, others need less or more than in the first round."""
    opened, again = (open_problem("R10:60x20:second", 1).instance for _ in range(2))
    assert np.array_equal(opened.collected, again.collected) and np.array_equal(opened.prior, again.prior)
    assert (np.bincount(opened.collected[:, 0], minlength=60) == 2).all()
    assert len(np.unique(opened.collected, axis=0)) == 120
    assert np.unique(opened.residual_need).size > 10
    program = open_problem("R10:60x20:second", 1).build("ip")
    bought = program.column("y").view(program.upper)
    assert (bought[tuple(opened.collected.T)] == 0).all()
    assert np.array_equal(opened.capacity, recipe("R10:60x20", 1).capacity)
