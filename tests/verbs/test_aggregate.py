"""The road from labels to answers, and round again."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

import crowdopt
from crowdopt import AssignmentInstance, Group
from crowdopt.answers.planned import answers
from crowdopt.crowd.recipes import simulated_labels
from crowdopt.crowd.vote_errors import exact_errors
from crowdopt.verbs.aggregate import aggregate, aggregate_tables
from tests.chance import BASE, binomial, most, rng
from tests.typed import rows


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


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(2, 4))
def test_posteriors_are_bayes(seed, classes):
    """P(class | labels) by multiplying out prior and chances, one coin per worker."""
    rng = np.random.default_rng(seed)
    n, m = 3, 4
    prior = rng.dirichlet(np.full(classes, 4.0))
    instance = AssignmentInstance(
        rng.uniform(0.2, 0.95, (n, m)), None, np.full(m, n), 0.1, classes=classes, prior=prior
    )
    pairs = np.array([(i, j) for i in range(n) for j in range(m) if rng.random() < 0.7], np.int64).reshape(-1, 2)
    label = rng.integers(0, classes, len(pairs))
    wanted = np.tile(prior, (n, 1))
    for (task, worker), said in zip(pairs.tolist(), label.tolist(), strict=True):
        p = instance.accuracy[task, worker]
        wanted[task] *= np.where(np.arange(classes) == said, p, (1 - p) / (classes - 1))
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert instance.posterior(pairs, label) == pytest.approx(wanted, abs=1e-9)


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


def campaign(tmp_path, rule="exact-error", **options):
    instance = AssignmentInstance(
        rng().uniform(0.55, 0.95, (2, 20)),
        np.arange(30) % 2,
        np.full(20, 25),
        0.1,
        rule=rule,
        tasks=[f"t{k}" for k in range(30)],
        workers=[f"w{k}" for k in range(20)],
        types=["a", "b"],
        **options,
    )
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    return tmp_path / "campaign"


@pytest.mark.chance
@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_the_whole_round_trip(tmp_path, rule):
    """Plan, labels (some never come), answers, second plan, its labels, answers again: more are sure each time.

    Given the labels an answer is wrong with the chance that is claimed, each by itself: their number is binomial.
    """
    place = campaign(tmp_path, rule)
    plan = crowdopt.solve(crowdopt.read_campaign(place))
    crowdopt.write_plan(plan, tmp_path / "plan")
    count = crowdopt.rehearse(
        place, tmp_path / "plan", output=tmp_path / "labels.csv", truth=tmp_path / "truth.csv", seed=BASE, lost=0.2
    )
    first = crowdopt.aggregate(
        tmp_path / "labels.csv", plan=tmp_path / "plan", campaign=place, output=tmp_path / "answers"
    )
    assert count == len(first.new) == plan.labels - len(first.answers.missing) < plan.labels
    assert not first.answers.sure.all()

    again = tmp_path / "answers" / "campaign"
    second = crowdopt.read_campaign(again)
    assert second.observed and (second.capacity == 25 - np.bincount(first.new[:, 1], minlength=20)).all()
    more = crowdopt.solve(second)
    assert set(more.pairs[:, 0].tolist()) == set(np.flatnonzero(~first.answers.sure).tolist())
    assert not {tuple(p) for p in more.pairs.tolist()} & {tuple(p) for p in first.new.tolist()}
    crowdopt.write_plan(more, tmp_path / "plan2")
    assert crowdopt.verify(again, tmp_path / "plan2").holds
    crowdopt.rehearse(
        again, tmp_path / "plan2", output=tmp_path / "labels2.csv", truth=tmp_path / "truth.csv", seed=BASE + 1
    )
    last = crowdopt.aggregate(
        tmp_path / "labels2.csv", plan=tmp_path / "plan2", campaign=again, output=tmp_path / "answers2"
    )
    assert len(last.pairs) == len(first.pairs) + more.labels
    assert last.answers.sure.sum() > first.answers.sure.sum()
    assert last.answers.error.sum() < first.answers.error.sum()
    truth = {row["task"]: row["label"] for row in rows(tmp_path / "truth.csv")}
    wrong = sum(row["answer"] != truth[row["task"]] for row in rows(tmp_path / "answers2" / "answers.csv"))
    assert wrong <= most(30, last.answers.error.mean())


def test_the_second_plan_keeps_its_promise_given_the_labels():
    """Conditional on what was seen, the expected error after the second plan is at most epsilon: by enumeration."""
    instance = AssignmentInstance([[0.8, 0.75, 0.7, 0.7, 0.65]], [0], [1] * 5, 0.25, rule="exact-error")
    seen, label = np.array([[0, 0], [0, 1]]), np.array([1, 0])
    known = replace(instance, collected=seen)
    second = known.given(known.posterior(seen, label))
    plan = crowdopt.solve(second)
    before, total = known.posterior(seen, label)[0], 0.0
    for said in itertools.product([0, 1], repeat=len(plan.pairs)):
        p = instance.accuracy[0, plan.pairs[:, 1]]
        each = [before[k] * np.prod(np.where(np.array(said) == k, p, 1 - p)) for k in (0, 1)]
        total += min(each)
    assert total <= 0.25 + 1e-12
    assert float(exact_errors(second, plan.pairs)[0][0]) == pytest.approx(total, abs=1e-12)


@pytest.mark.chance
def test_families_are_drawn_together():
    """Every accuracy is kept, the worse errs wherever the better does, with the same wrong class; in rounds too.

    Tasks are independent: right labels and errors in common are binomial.
    """
    family = Group("f", [0, 1], max_per_task=2, dependent=True)
    instance = AssignmentInstance(
        [[0.9, 0.6, 0.8]], np.zeros(20_000, np.int64), 20_000, 0.1, classes=3, groups=[family]
    )
    pairs = np.array(list(itertools.product(range(20_000), range(3))))
    truth, label = simulated_labels(instance, pairs, rng(1))
    first = (pairs[pairs[:, 1] == 1], label[pairs[:, 1] == 1])
    _, later = simulated_labels(instance, pairs[pairs[:, 1] == 0], rng(2), truth, first)
    for better in (label.reshape(-1, 3)[:, 0], later):
        worse, other = label.reshape(-1, 3)[:, 1], label.reshape(-1, 3)[:, 2]
        assert (worse[better != truth] == better[better != truth]).all()
        assert binomial([(one == truth).sum() for one in (better, worse, other)], truth.size, [0.9, 0.6, 0.8])
        assert binomial(((better != truth) & (other != truth)).sum(), truth.size, 0.1 * 0.2)


@pytest.mark.chance
def test_simulated_labels_follow_the_skills():
    """Right labels are binomial by the accuracies, true classes by the prior; the same seed, the same labels."""
    instance = AssignmentInstance(
        [[0.9, 0.6]], np.zeros(20_000, np.int64), 20_000, 0.1, classes=3, prior=[0.6, 0.3, 0.1]
    )
    pairs = np.array(list(itertools.product(range(20_000), range(2))))
    truth, label = simulated_labels(instance, pairs, rng())
    assert binomial(np.bincount(truth, minlength=3), truth.size, [0.6, 0.3, 0.1])
    right = label == truth[pairs[:, 0]]
    assert binomial([right[pairs[:, 1] == j].sum() for j in (0, 1)], truth.size, [0.9, 0.6])
    assert (simulated_labels(instance, pairs, rng())[1] == label).all()


@pytest.mark.chance
def test_gold_by_class_tells_what_workers_mix_up(tmp_path):
    """A crowd that takes two classes for one another: by confusion tables its labels are read right, by accuracies not.

    Gold is a hundred thousand answers a class, so tables are known, and given the labels an answer is wrong with the
    chance that is claimed, each by itself: of 400 the wrong ones are binomial.
    """
    draws = rng()
    mixed = np.array([[0.9, 0.05, 0.05], [0.05, 0.15, 0.8], [0.05, 0.6, 0.35]])  # two classes change names
    table = 0.8 * mixed + 0.2 * draws.dirichlet(np.ones(3), (15, 3))
    truth = draws.integers(0, 3, 400)
    gold = [f"w{j},{k},{y},{round(p * 1e5)}" for (j, k, y), p in np.ndenumerate(table)]
    (tmp_path / "gold.csv").write_text("worker,true,answered,count\n" + "\n".join(gold) + "\n", encoding="utf-8")
    given = [
        f"t{i},w{j},{draws.choice(3, p=table[j, truth[i]])}" for i in range(400) for j in draws.permutation(15)[:5]
    ]
    (tmp_path / "labels.csv").write_text("task,worker,label\n" + "\n".join(given) + "\n", encoding="utf-8")
    done = aggregate_tables(tmp_path / "labels.csv", "wmv-confusion", gold=tmp_path / "gold.csv")
    claimed = float(1 - done.answers.confidence.mean())
    assert binomial((done.answers.answer != truth).sum(), 400, claimed)
    assert (aggregate(done.labels).answer != truth).sum() > most(400, claimed)
