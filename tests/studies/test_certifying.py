"""What an audit of recorded answers would have certified; trials summed up."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.answers.audit.tariff import Tariff
from crowdopt.io.campaign import LabelRecord
from crowdopt.online.crowds import AUDIT
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of
from crowdopt.studies.online_trials import Setting, certified, interval, summarise
from tests.chance import most, rng, seeds


@pytest.fixture(scope="module")
def record():
    """Every worker labels everything once; a third of the labels is wrong."""
    draws = rng()
    tasks, workers = 60, 9
    truth = draws.integers(0, 2, tasks)
    task, worker = np.repeat(np.arange(tasks), workers), np.tile(np.arange(workers), tasks)
    label = np.where(draws.random(task.size) < 2 / 3, truth[task], 1 - truth[task])
    instance = crowdopt.AssignmentInstance(np.full((1, workers), 0.67), np.zeros(tasks, np.int64), 40, 0.3)
    return instance, LabelRecord(task, worker, label, truth)


@pytest.mark.chance
def test_bounds_hold_and_looking_at_everything_leaves_nothing(record):
    """100 draws: the false ones are binomial by five in a hundred at most; the cost counts every look."""
    instance, labels = record
    stream = Setting(instance, labels, np.zeros(60, bool), None).stream(0, 0, 0)
    run = replay(named("greedy"), stream, 0, crowdopt.solve_program)
    wrong = answers_of(run) != labels.truth
    every = certified(run, Tariff(checks=1000, price=2), 0)
    assert every == {"certified": 0.0, "cost_audited": run.total_cost + 2 * 60}
    false, bounds = 0, []
    for seed in seeds(100):
        bounds.append(round(certified(run, Tariff(checks=20), seed)["certified"] * 60))
        drawn = np.random.default_rng([seed, AUDIT]).choice(60, 20, replace=False)
        false += int(wrong.sum() - wrong[drawn].sum()) > bounds[-1]
    assert 0 < wrong.sum() < 60 and len(set(bounds)) > 2
    assert false <= most(100, 0.05)


def test_compare_tells_it_for_recorded_labels_only(record):
    """Simulated labels have a model's truth; an expert cannot be asked about them."""
    instance, labels = record
    line = crowdopt.compare(instance, ["greedy"], trials=1, record=labels, audit="checks=20,price=3").summary[0]
    assert 0 < line["certified"] <= 1 and line["cost_audited"] == line["cost"] + 60
    assert "certified" not in crowdopt.compare(instance, ["greedy"], trials=1).summary[0]
    with pytest.raises(crowdopt.InputError, match="unknown word"):
        crowdopt.compare(instance, ["greedy"], trials=1, audit="looks=3")


def test_differences_are_paired_and_notes_are_counted():
    """A constant difference within trials has no width, however much the trials differ; absent figures stay absent.

    The interval is Student's: mean and t-quantile times the standard error; t(.975, 3) = 3.18245.
    """
    rows = [
        {"text": text, "trial": k, "ratio_bound": base + k, "error_realised": None, "cost": k, "notes": [f"{k} gone"]}
        for k in range(4)
        for text, base in (("a", 1.0), ("b", 3.0))
    ]
    first, second = summarise(rows, ["a", "b"], "a")
    assert second["ratio_bound_minus_a"] == pytest.approx(2.0) and second["ratio_bound_minus_a_half"] == 0.0
    assert second["ratio_bound_half"] > 1 and second["error_realised_minus_a"] is None
    assert first["notes"] == ["0 gone (alike in 4 of 4 trials)"]
    mean, half = interval(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3.0 and half == pytest.approx(3.18245 * np.std([1, 2, 3, 6], ddof=1) / 2, rel=1e-5)
    assert interval(np.array([2.0])) == (2.0, None)
