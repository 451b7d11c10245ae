"""Answers by confusion tables, from files."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.api.aggregate import aggregate, aggregate_tables
from tests.chance import binomial, most, rng

MIXED_UP = np.array([[0.9, 0.05, 0.05], [0.05, 0.15, 0.8], [0.05, 0.6, 0.35]])  # two classes change names


@pytest.mark.chance
def test_gold_by_class_tells_what_workers_mix_up(tmp_path):
    """A crowd that takes two classes for one another: by confusion tables its labels are read right, by accuracies not.

    Gold is a hundred thousand answers a class, so tables are known, and given the labels an answer is wrong with the
    chance that is claimed, each by itself: of 400 the wrong ones are binomial.
    """
    draws = rng()
    table = 0.8 * MIXED_UP + 0.2 * draws.dirichlet(np.ones(3), (15, 3))
    truth = draws.integers(0, 3, 400)
    gold = [f"w{j},{k},{y},{round(p * 1e5)}" for (j, k, y), p in np.ndenumerate(table)]
    (tmp_path / "gold.csv").write_text("worker,true,answered,count\n" + "\n".join(gold) + "\n", encoding="utf-8")
    rows = [f"t{i},w{j},{draws.choice(3, p=table[j, truth[i]])}" for i in range(400) for j in draws.permutation(15)[:5]]
    (tmp_path / "labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    done = aggregate_tables(tmp_path / "labels.csv", "wmv-confusion", gold=tmp_path / "gold.csv")
    claimed = float(1 - done.answers.confidence.mean())
    assert binomial((done.answers.answer != truth).sum(), 400, claimed)
    assert (aggregate(done.labels).answer != truth).sum() > most(400, claimed)
