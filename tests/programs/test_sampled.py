"""The sampled LP: the LP of the sample, and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import InputError, recipe, relax
from crowdopt.programs import assignment, sampled
from tests.programs.optima import optimum


def test_the_sampled_lp_is_the_lp_of_the_sample():
    """The whole crowd as its own sample, gamma = 1, is the LP itself; a sample keeps its workers' columns."""
    instance = recipe("R10:60x20", priced=True)
    assert optimum(sampled.build(instance, range(20), 1.0)) == pytest.approx(optimum(relax(assignment.build(instance))))
    some = sampled.transform(replace(instance, forbidden=[(0, 3), (1, 4)]), [4, 2], 0.1)
    assert np.array_equal(some.accuracy, instance.accuracy[:, [4, 2]])
    assert some.forbidden.tolist() == [[1, 0]] and np.allclose(some.need, 0.1 * instance.need)


@pytest.mark.parametrize(
    ("sample", "share", "sentence"),
    [([], 0.3, "at least one"), ([1, 1], 0.3, "each once"), ([99], 0.3, "outside 0..19"), ([1], 0.0, "gamma")],
)
def test_a_senseless_sample_is_refused(sample, share, sentence):
    """A sample is a non-empty set of workers and a share of the crowd."""
    with pytest.raises(InputError, match=sentence):
        sampled.transform(recipe("R10:60x20"), sample, share)
