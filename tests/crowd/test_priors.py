"""Skills' priors, averaged over what gold leaves open: against sums over fine grids, and on crowds of known skills."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.priors import PRIORS, PriorParams, known
from crowdopt.crowd.skills import averaged, plug_in
from tests.chance import fewest, hoeffding, seeds

FINE = (np.arange(200) + 0.5) / 200
DOUBT = PriorParams().doubt


def tallies(seed: int, workers: int, gold: int) -> tuple[np.ndarray, np.ndarray]:
    """Of workers whose skills are uniform on [.4, .95]."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(0, gold + 1, workers)
    return rng.binomial(asked, rng.uniform(0.4, 0.95, workers)), asked


def by_sums(points: np.ndarray, weight: np.ndarray, c: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Posterior means by a sum over priors (parameters, skills), each as likely as its row's product says."""
    each = points[..., None] ** c * (1 - points[..., None]) ** (s - c)
    told = (weight[..., None] * each).sum(axis=1)
    usual = np.where((points * weight).sum(axis=1) > 0.5, 1.0, DOUBT)
    chance = usual * told.prod(axis=1)
    return (chance / chance.sum()) @ (((weight * points)[..., None] * each).sum(axis=1) / told)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_each_family_is_bayes(seed, workers):
    """Parameters uniform, crowds worse than a guess less likely: the lattice is as good as a fine one."""
    c, s = tallies(seed, workers, 12)
    low, high = (FINE[k] for k in np.triu_indices(FINE.size, 1))
    ends = np.column_stack([low, high])[:: 5 if workers > 4 else 3]
    inner = (np.arange(40) + 0.5) / 40
    families = {
        "one-point": (FINE[:, None], np.ones((FINE.size, 1))),
        "range": (ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * inner, np.full((len(ends), 40), 1 / 40)),
        "two-points": (
            np.repeat(ends, 20, axis=0),
            np.tile(np.column_stack([1 - inner[::2], inner[::2]]), (len(ends), 1)),
        ),
    }
    for name, prior in families.items():
        found = known(c, s, 2, (name,)).means(c, s)
        np.testing.assert_allclose(found, by_sums(*prior, c, s), atol=0.01, err_msg=name)


@given(st.integers(0, 10**6), st.integers(2, 40), st.sampled_from([(name,) for name in PRIORS] + [PRIORS]))
@settings(max_examples=30)
def test_who_is_right_more_often_is_not_thought_worse(seed, workers, names):
    """Of workers who were asked as often; equal tallies are equal skills, and all lie between 0 and 1."""
    c, _ = tallies(seed, workers, 10)
    found = averaged([c], [np.full(workers, 10)], names=names)[0]
    order = np.argsort(c, kind="stable")
    assert (np.diff(found[order]) >= -1e-9).all() and ((found > 0) & (found < 1)).all()
    assert (np.abs(np.diff(found[order]))[np.diff(c[order]) == 0] < 1e-12).all()


@pytest.mark.chance
def test_draws_have_the_means_that_are_said():
    """Each worker's skill, drawn with the priors that gold leaves open."""
    c, s = tallies(3, 12, 10)
    priors, rng = known(c, s), np.random.default_rng(0)
    drawn = np.stack([priors.draw(rng, c, s) for _ in range(4000)])
    assert (
        np.abs(drawn.mean(axis=0) - priors.means(c, s)).max() < hoeffding(4000) + 0.01
    )  # drawn at nodes, said between them


@pytest.mark.chance
@pytest.mark.parametrize("gold", [20, 50])
@pytest.mark.parametrize("skills", [(0.5, 0.7), (0.6, 0.8), (0.8, 0.8)], ids=str)
def test_who_looks_best_is_as_good_as_is_said(skills, gold):
    """300 workers of two skills: of the best-looking 30 the mean is within .03, plain shares are .05 too high."""
    off = []
    for seed in seeds(12):
        rng = np.random.default_rng(seed)
        true = np.where(np.arange(300) % 2, *skills)
        c, s = rng.binomial(gold, true)[None], np.full((1, 300), gold)
        best = np.argsort(-c[0], kind="stable")[:30]
        off.append([estimate(c, s)[0, best].mean() - true[best].mean() for estimate in (averaged, plug_in)])
    mine, plain = np.array(off).T
    assert (np.abs(mine) < 0.03).sum() >= fewest(12, 0.95) and (plain > 0.05).sum() >= fewest(12, 0.95)


def test_a_type_without_gold_is_like_the_others():
    """And a worker without gold has the prior's mean; no gold at all says nothing."""
    found = averaged([[9, 4, 0], [0, 0, 0]], [[10, 10, 0], [0, 0, 0]])
    assert found[1] == pytest.approx(found[0]) and found[0, 1] < found[0, 2] < found[0, 0]
    with pytest.raises(InputError, match="no worker has answered"):
        averaged([[0]], [[0]])
