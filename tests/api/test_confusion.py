"""Answers by confusion tables, from files."""

from __future__ import annotations

import numpy as np

from crowdopt.api.aggregate import aggregate, aggregate_tables


def test_gold_by_class_tells_what_workers_mix_up(tmp_path):
    """A crowd that takes one class for another: by confusion tables its labels are read right, by accuracies not.

    The chances that are said come true, within three standard errors.
    """
    rng = np.random.default_rng(0)
    table = np.array([[0.9, 0.05, 0.05], [0.05, 0.45, 0.5], [0.05, 0.1, 0.85]])
    table = 0.8 * table + 0.2 * rng.dirichlet(np.ones(3), (15, 3))
    truth = rng.integers(0, 3, 400)
    gold = [f"w{j},{k},{y}" for j in range(15) for k in range(3) for y in rng.choice(3, 30, p=table[j, k])]
    (tmp_path / "gold.csv").write_text("worker,true,answered\n" + "\n".join(gold) + "\n")
    rows = [f"t{i},w{j},{rng.choice(3, p=table[j, truth[i]])}" for i in range(400) for j in rng.permutation(15)[:5]]
    (tmp_path / "labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    done = aggregate_tables(tmp_path / "labels.csv", "wmv-confusion", gold=tmp_path / "gold.csv")
    wrong = float((done.answers.answer != truth).mean())
    claimed = float(1 - done.answers.confidence.mean())
    plain = float((aggregate(done.labels).answer != truth).mean())
    assert wrong < 0.8 * plain
    assert abs(wrong - claimed) < 3 * np.sqrt(claimed * (1 - claimed) / 400)
