"""Laws of votes: chances add up, a planted law is found as gold grows, the choice follows the law."""

from itertools import product

import numpy as np
import pytest

from crowdopt.crowd.laws.coin_laws import INDEPENDENT, LATENT, independent_law, latent_law
from crowdopt.crowd.laws.law_choice import chosen_law

EDGE = 2 * np.array([0.95, 0.93, 0.9, 0.86, 0.8, 0.76]) - 1


def planted(items: int, share: float, left: float, seed: int) -> np.ndarray:
    """Right (1) and wrong (0) votes of six workers; a share of the items is hard."""
    rng = np.random.default_rng(seed)
    scale = np.where(rng.random(items) < share, left, 1.0)
    return (rng.random((items, 6)) < (1 + scale[:, None] * EDGE) / 2).astype(np.int64)


@pytest.mark.parametrize("fit", [independent_law, latent_law])
def test_chances_of_all_patterns_add_up_to_one(fit):
    """Enumerated: of all workers, and of some (a worker who is not asked is summed out)."""
    law = fit(planted(60, 0.2, 0.3, 0))
    for asked in (6, 3):
        patterns = np.full((2**asked, 6), -1)
        patterns[:, :asked] = list(product((0, 1), repeat=asked))
        assert np.exp(law.log_chance(patterns)).sum() == pytest.approx(1, abs=1e-12)


def test_likelihood_equals_a_loop_written_apart():
    """Item by item and part by part, in plain Python."""
    right = planted(40, 0.2, 0.3, 1)
    right[::3, 2] = -1
    law = latent_law(right)
    for row, said in zip(right, law.log_chance(right), strict=True):
        total = 0.0
        for share, accuracy in zip(law.share, law.accuracy, strict=True):
            chance = share
            for vote, p in zip(row, accuracy, strict=True):
                chance *= {1: p, 0: 1 - p, -1: 1.0}[int(vote)]
            total += chance
        assert said == pytest.approx(np.log(total), abs=1e-9)


def test_order_of_items_and_workers_changes_no_chance():
    """Permuted gold gives the permuted law."""
    right, order = planted(80, 0.2, 0.3, 2), np.array([3, 1, 5, 0, 2, 4])
    law, same = latent_law(right), latent_law(right[::-1][:, order])
    np.testing.assert_allclose(same.accuracy, law.accuracy[:, order], atol=1e-9)
    np.testing.assert_allclose(same.share, law.share, atol=1e-6)


def test_a_planted_law_is_found_as_gold_grows():
    """20,000 items: share, edge left and edges come within .05 of what was planted, and difficulty is chosen."""
    right = planted(20_000, 0.2, 0.3, 0)
    choice = chosen_law(right)
    assert choice.law.name == LATENT and choice.loss[LATENT] < choice.loss[INDEPENDENT]
    assert abs(choice.law.difficulty.share - 0.2) < 0.05
    assert abs(choice.law.difficulty.left - 0.3) < 0.1
    np.testing.assert_allclose(2 * choice.law.accuracy[0] - 1, EDGE, atol=0.05)
