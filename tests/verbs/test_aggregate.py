"""The road from labels to answers, and round again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta

import crowdopt
from crowdopt import AssignmentInstance, Group
from crowdopt.answers.planned import answers
from crowdopt.crowd.recipes import simulated_labels
from crowdopt.crowd.vote_errors import exact_errors
from crowdopt.verbs.aggregate import aggregate_tables
from tests.chance import BASE, binomial, most, rng
from tests.typed import column, rows


def test_no_more_is_claimed_than_tasks_and_known_answers_support():
    """Ten workers of one opinion: a posterior of 1 - 1e-9; the claim is Laplace's, or what known answers show."""
    task, worker = (index.ravel() for index in np.indices((40, 10)))
    table = {"task": task, "worker": worker, "label": np.where(task % 2, "a", "b")}
    done = aggregate_tables(table, "one-coin")
    assert done.answers.confidence.mean() > 1 - 1e-6 and done.claimed == 1 - 1 / 42
    right = np.where(np.arange(40) % 2, "a", "b")
    right[:10] = "a"  # five of forty are wrong
    truth = {"task": np.arange(40), "label": right}
    done = aggregate_tables(table, "one-coin", truth=truth)
    assert done.right == 0.875
    assert done.claimed == min(beta.ppf(0.975, 36, 5), done.answers.confidence.mean())


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya", "exact-error"])
def test_errors_average_to_the_exact_error(rule):
    """Over all label outcomes, weighted by their chance, the answers' errors make the plan's exact error."""
    instance = AssignmentInstance([[0.9, 0.7, 0.6, 0.55]], [0], [1] * 4, 0.2, rule=rule)
    pairs = np.array([(0, j) for j in range(4)])
    total = 0.0
    for said in itertools.product([0, 1], repeat=4):
        label = np.array(said)
        found = answers(instance, pairs, pairs, label, instance.weight[0])
        chance = sum(
            0.5 * np.prod(np.where(label == k, instance.accuracy[0], 1 - instance.accuracy[0])) for k in (0, 1)
        )
        total += chance * float(found.error[0])
    assert total == pytest.approx(float(exact_errors(instance, pairs)[0][0]), abs=1e-12)


@pytest.mark.chance
@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_the_whole_round_trip(tmp_path, rule):
    """Plan, labels (some never come), answers, second plan, its labels, answers again: more are sure each time.

    Given the labels an answer is wrong with the chance that is claimed, each by itself: their number is binomial.
    """
    skills = rng().uniform(0.55, 0.95, (2, 20))
    instance = AssignmentInstance(skills, np.arange(30) % 2, np.full(20, 25), 0.1, rule=rule, types=["a", "b"])
    here, plans, found = tmp_path / "campaign", [], []
    crowdopt.write_campaign(instance, here)
    for k, lost in enumerate((0.2, 0.0)):
        plan, labels, answers_of = (tmp_path / f"{name}{k}" for name in ("plan", "labels", "answers"))
        plans.append(crowdopt.solve(here, output=plan))
        assert crowdopt.verify(here, plan).holds
        truth = tmp_path / "truth.csv"
        count = crowdopt.rehearse(here, plan, output=labels, truth=truth, seed=BASE + k, lost=lost)
        found.append(crowdopt.aggregate(labels, plan=plan, campaign=here, output=answers_of))
        assert count == len(found[-1].new) == plans[-1].labels - len(found[-1].answers.missing)
        here = answers_of / "campaign"
    (first, last), more = found, plans[1]
    assert len(first.answers.missing) and more.instance.observed
    assert (more.instance.capacity == 25 - np.bincount(first.new[:, 1], minlength=20)).all()
    assert set(more.pairs[:, 0].tolist()) == set(np.flatnonzero(~first.answers.sure).tolist()) != set()
    assert not set(map(tuple, more.pairs.tolist())) & set(map(tuple, first.new.tolist()))
    assert len(last.pairs) == len(first.pairs) + more.labels
    assert last.answers.sure.sum() > first.answers.sure.sum()
    assert last.answers.error.sum() < first.answers.error.sum()
    right = dict(zip(column(truth), column(truth, "label"), strict=True))
    wrong = sum(row["answer"] != right[row["task"]] for row in rows(answers_of / "answers.csv"))
    assert wrong <= most(30, last.answers.error.mean())


@pytest.mark.chance
def test_simulated_labels_follow_the_skills():
    """Every accuracy is kept, the worse of a family errs wherever the better does, with the same class; in rounds too.

    True classes are binomial by the prior; tasks are independent: right labels and errors in common are binomial. The
    same seed, the same labels.
    """
    tasks, family = 20_000, Group("f", [0, 1], max_per_task=2, dependent=True)
    skills, given = [[0.9, 0.6, 0.8]], {"classes": 3, "prior": [0.6, 0.3, 0.1], "groups": [family]}
    instance = AssignmentInstance(skills, np.zeros(tasks, np.int64), tasks, 0.1, **given)
    pairs = np.array(list(itertools.product(range(tasks), range(3))))
    truth, label = simulated_labels(instance, pairs, rng(1))
    assert (simulated_labels(instance, pairs, rng(1))[1] == label).all()
    assert binomial(np.bincount(truth, minlength=3), tasks, given["prior"])
    first, worse, other = label.reshape(-1, 3).T
    _, later = simulated_labels(instance, pairs[pairs[:, 1] == 0], rng(2), truth, (pairs[pairs[:, 1] == 1], worse))
    for better in (first, later):
        assert (worse[better != truth] == better[better != truth]).all()
        assert binomial([(one == truth).sum() for one in (better, worse, other)], tasks, skills[0])
        assert binomial(((better != truth) & (other != truth)).sum(), tasks, 0.1 * 0.2)
