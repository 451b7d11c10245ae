"""What a replay counts, refuses and proves."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.law import NONE, Difficulty
from crowdopt.errors import InputError
from crowdopt.io.campaign import LabelRecord
from crowdopt.online.crowds import hold_out, recorded_stream, simulated_stream
from crowdopt.online.policies.simple import Greedy
from crowdopt.online.replay import Replay
from crowdopt.online.run_score import answers_of, claimed_error, exact_error, weighted_vote
from tests.chance import BASE, binomial, seeds
from tests.online.streams import crowd, start, stream


def recorded(tasks=60, there=1.0, preliminary=0):
    """A table of that share of all pairs, three of ten tasks held out as gold."""
    rng = np.random.default_rng(1)
    whole = replace(crowd(tasks=tasks), forbidden=None)
    truth = rng.integers(0, 2, tasks)
    pairs = np.argwhere(rng.random((tasks, whole.n_workers)) < there)
    label = np.where(rng.random(len(pairs)) < 0.8, truth[pairs[:, 0]], 1 - truth[pairs[:, 0]])
    instance, held = hold_out(whole, truth, 0.3, seed=4)
    return recorded_stream(instance, LabelRecord(*pairs.T, label, truth), (2,), held, preliminary=preliminary)


@pytest.mark.parametrize("text", ["least-covered", "sequential", "adaptive"])
def test_a_pair_without_a_label_is_refused_and_counted(text):
    """A table has what it has: refused pairs cost nothing, cover nothing, are not asked again; others are tried."""
    of = recorded(36, 0.6)
    run = start(text, of).finish()
    pairs = np.column_stack([run.task, run.worker])
    assert 0 < run.refused <= of.instance.n_tasks * of.instance.n_workers
    assert (run.label >= 0).all() and len(np.unique(pairs, axis=0)) == len(pairs)
    for worker in range(of.instance.n_workers):
        mine = run.task[run.worker == worker]
        assert (of.crowd.label(worker, mine) == run.label[run.worker == worker]).all()
        assert mine.size <= of.instance.capacity[worker]


def test_gold_of_a_table_comes_from_held_out_tasks():
    """They are asked as gold, never as work, and no worker is asked more than they have recorded."""
    of = recorded(preliminary=6)
    run = start("main-algorithm:gold=50", of).finish()
    held = of.instance.need == 0
    assert held.any() and not held[run.task].any()
    assert run.labels["gold"] == held.sum() * of.instance.n_workers and run.labels["exploration"] == held.sum() * 6


def asked(of, number, preliminary, portions):
    """Tallies of a worker who is asked gold in portions, each after the last."""
    arrival, done, right = of.arrival(number, False, preliminary), np.zeros(2, np.int64), np.zeros(2, np.int64)
    for counts in portions:
        good, there = of.crowd.gold(replace(arrival, gold_done=done), np.array(counts))
        done, right = done + there, right + good
    return right.tolist(), done.tolist()


@pytest.mark.parametrize("make", [stream, lambda: recorded(90, preliminary=3)], ids=["simulated", "recorded"])
@pytest.mark.parametrize("preliminary", [False, True])
def test_portions_of_gold_do_not_matter(make, preliminary):
    """The k-th gold task of a worker and type has one outcome: 1 and 1 is 2, whatever the other type is asked."""
    of, differ = make(), 0
    for number in range(3):
        whole = asked(of, number, preliminary, [(9, 5)])
        for portions in ([(1, 0)] * 9 + [(0, 1)] * 5, [(0, 2), (8, 2), (1, 1)]):
            assert asked(of, number, preliminary, portions) == whole
        ones = [asked(of, number, preliminary, [(k, 0)])[0][0] for k in range(10)]
        assert set(np.diff(ones)) <= {0, 1}
        differ += len(set(np.diff(ones))) - 1
    assert differ, "some answers are right and some wrong, else nothing was tested"


@pytest.mark.chance
def test_gold_is_right_as_often_as_the_worker_is():
    """Tallies are binomial by the workers' skills, each by itself and all together."""
    of = stream(BASE, workers=200, tasks=300)
    skill = of.instance.accuracy
    right = np.array([asked(of, j, False, [(70, 70)])[0] for j in range(200)]).T
    assert binomial(right, 70, skill)
    assert binomial(right.sum(), 70 * skill.size, skill.mean())


def test_a_policy_that_breaks_the_rules_is_stopped():
    """A defect of a policy is said, not repaired."""

    class Twice(Greedy):
        def pick(self, here, rng):
            return np.array([1, 1])

    class Much(Greedy):
        def pick(self, here, rng):
            return np.arange(self.known.n_tasks)

    for policy, said in ((Twice(), "twice"), (Much(), "room")):
        with pytest.raises(RuntimeError, match=said):
            Replay(policy, stream(), 0, crowdopt.solve_program).finish()


def test_limits_that_no_policy_knows_are_refused():
    """Better than to ignore them."""
    instance = crowd()
    for changed in ({"budget": 5.0}, {"min_labels": np.full(24, 1)}, {"fixed": [(20, 1)]}):
        with pytest.raises(InputError, match="online policies do not know"):
            simulated_stream(replace(instance, **changed), (0,))


def test_told_skills_keep_the_bound_exactly():
    """With told skills the exact error of each task is at most the rule's bound for what it got."""
    of = stream(5)
    for text in ("re-solve", "greedy", "sampled-lp"):
        run = start(text, of).finish()
        exact, width = exact_error(run)
        assert (exact <= of.instance.error_bound(run.covered) + 1e-9).all() and (width == 0).all()


@pytest.mark.parametrize("text", ["primal-approximation", "sampled-lp", "main-algorithm:gold=5"])
def test_policies_as_printed_say_when_the_rule_is_another(text):
    """Ho et al.'s evidence is the rule hoeffding's."""
    for rule, said in (("hoeffding", False), ("exact-error", True)):
        of = stream()
        notes = start(text, replace(of, instance=replace(of.instance, rule=rule))).finish().notes
        assert any("by rule bhattacharyya; printed are rule hoeffding's" in note for note in notes) == said


def test_a_weighted_vote_is_the_largest_sum():
    """Ties to the smaller class, a negative weight speaks against its class, a task without labels answers -1."""
    task, label = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 0, 0, 0, 1, 1])
    assert weighted_vote(task, label, np.array([3.0, 1.0, 1.0, 2.0, 2.0, -1.0]), 4).tolist() == [1, 0, 0, -1]


def bayes(run, difficulty):
    """Chance of each class of each task by the true skills, easy and hard multiplied out, (tasks, classes)."""
    of, states = run.stream.instance, np.ones((run.stream.instance.n_tasks, run.stream.instance.classes, 2))
    states *= [1 - difficulty.share, difficulty.share]
    skill = of.accuracy[of.task_type[run.task], run.worker]
    for k, hard in product(range(of.classes), (0, 1)):
        right = 1 / of.classes + (difficulty.left if hard else 1) * (skill - 1 / of.classes)
        np.multiply.at(states[:, k, hard], run.task, np.where(run.label == k, right, (1 - right) / (of.classes - 1)))
    chance = states.sum(axis=2)
    return chance / chance.sum(axis=1, keepdims=True)


@pytest.mark.chance
@pytest.mark.parametrize(
    ("text", "classes", "difficulty"),
    [
        ("least-covered", 2, Difficulty(0.3, 0.4)),
        ("entropy", 4, NONE),
        ("budget:each=3", 2, NONE),
        ("budget:each=5", 4, NONE),
    ],
)
def test_claims_of_told_skills_are_bayes_and_errors_are_as_claimed(text, classes, difficulty):
    """The posterior given the labels, multiplied out; an answer is wrong with that chance, each alone: binomial.

    So it is with the exact error of its pairs, over easy and hard tasks together.
    """
    rule = "exact-error" if classes == 2 else "bhattacharyya"
    asked, trials = replace(crowd(1), rule=rule, classes=classes, prior=None, difficulty=difficulty), 20
    wrong, claims, foretold = [], [], []
    for seed in seeds(trials):
        run = start(text, simulated_stream(asked, (seed, 3)), seed).finish()
        answers, claimed, some = answers_of(run), claimed_error(run), np.bincount(run.task, minlength=24) > 0
        chance = bayes(run, difficulty)[np.arange(24), np.maximum(answers, 0)]
        np.testing.assert_allclose(claimed, 1 - chance, atol=1e-9)
        wrong.extend(answers[some] != run.stream.truth[some])
        claims.extend(claimed[some])
        foretold.extend([] if exact_error(run)[0] is None else exact_error(run)[0][some])
    assert binomial(sum(wrong), len(wrong), np.mean(claims))
    assert not foretold or binomial(sum(wrong), len(wrong), np.mean(foretold))


def test_every_label_of_a_pair_is_the_same_for_every_policy():
    """Trials are paired: any policy that asks worker j about task i gets the same answer."""
    of = stream()
    seen = [
        dict(zip(zip(run.task.tolist(), run.worker.tolist(), strict=True), run.label.tolist(), strict=True))
        for run in (start(text, of).finish() for text in ("greedy", "random"))
    ]
    shared = set(seen[0]) & set(seen[1])
    assert len(shared) > 20 and all(seen[0][pair] == seen[1][pair] for pair in shared)
