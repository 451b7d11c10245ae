"""What a replay counts, refuses and proves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.crowd.label_kinds import REFUSED, WORK
from crowdopt.errors import InputError
from crowdopt.io.campaign.label_record import LabelRecord
from crowdopt.online.arrivals import Decision
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies.greedy import Greedy
from crowdopt.online.recorded_crowd import hold_out, recorded_stream
from crowdopt.online.replay import Replay
from crowdopt.online.run_score import Optimum, answers_of, claimed_error, exact_error, score
from tests.chance import BASE, binomial, most, seeds
from tests.online.streams import EVERY, crowd, start, stream


@pytest.mark.parametrize("text", EVERY)
def test_nobody_is_asked_more_than_she_takes(text):
    """Capacities, barred pairs and one label per pair hold in every run, and the account adds up."""
    of = stream()
    run = start(text, of).finish()
    pairs = np.column_stack([run.task, run.worker])
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    barred = {tuple(pair) for pair in of.instance.barred.tolist()}
    assert not barred & {tuple(pair) for pair in pairs.tolist()}
    loads = np.bincount(run.worker, minlength=of.instance.n_workers)
    assert np.maximum(0, loads - of.instance.capacity).sum() == run.over_capacity
    assert run.over_capacity == 0 or text.startswith("kos")
    assert run.labels["work"] + run.labels["repair"] == run.task.size
    paid = of.instance.prices(pairs).sum()
    assert run.cost["work"] + run.cost["repair"] == pytest.approx(paid)
    if text.startswith(("sequential", "adaptive", "budget")):  # not every worker is asked as much gold
        assert run.labels["gold"] <= run.cost["gold"] <= 3 * run.labels["gold"]
    else:
        each = run.labels["gold"] / of.instance.n_workers
        assert run.cost["gold"] == pytest.approx(each * of.instance.cost[0].sum())


def test_a_pair_without_a_label_is_refused_and_counted():
    """A table has what it has: refused pairs cost nothing, cover nothing, and another task is tried."""
    rng = np.random.default_rng(0)
    instance = replace(crowd(), forbidden=None)
    n, m = instance.n_tasks, instance.n_workers
    there = np.argwhere(rng.random((n, m)) < 0.6)
    truth = rng.integers(0, 2, n)
    label = np.where(rng.random(len(there)) < 0.8, truth[there[:, 0]], 1 - truth[there[:, 0]])
    of = recorded_stream(instance, LabelRecord(*there.T, label, truth), (0,), np.zeros(n, bool))
    run = start("least-covered", of).finish()
    recorded = set(zip(*np.nonzero(of.crowd.label(0, np.arange(n)) != REFUSED), strict=False))
    assert run.refused > 0 and (run.label >= 0).all() and recorded
    for worker in range(m):
        mine = run.task[run.worker == worker]
        assert (of.crowd.label(worker, mine) == run.label[run.worker == worker]).all()
        assert mine.size <= of.instance.capacity[worker]


def test_gold_of_a_table_comes_from_held_out_tasks():
    """They are asked as gold, never as work, and no worker is asked more than they have recorded."""
    rng = np.random.default_rng(1)
    whole = replace(crowd(tasks=60), forbidden=None)
    n, m = whole.n_tasks, whole.n_workers
    truth, pairs = rng.integers(0, 2, n), np.argwhere(np.ones((n, m), bool))
    instance, held = hold_out(whole, truth, 0.3, seed=4)
    label = np.where(rng.random(len(pairs)) < 0.8, truth[pairs[:, 0]], 1 - truth[pairs[:, 0]])
    of = recorded_stream(instance, LabelRecord(*pairs.T, label, truth), (2,), held, preliminary=6)
    run = start("main-algorithm:gold=50", of).finish()
    assert held.any() and not held[run.task].any()
    there = np.bincount(instance.task_type[held], minlength=2).sum()
    assert run.labels["gold"] == there * m and run.labels["exploration"] == there * 6


def test_a_policy_that_breaks_the_rules_is_stopped():
    """A defect of a policy is said, not repaired."""

    class Twice(Greedy):
        def _pick(self, arrival, rng):
            return np.array([1, 1])

    class Much(Greedy):
        def _pick(self, arrival, rng):
            return np.arange(self.known.n_tasks)

    for policy, said in ((Twice(), "twice"), (Much(), "room")):
        with pytest.raises(RuntimeError, match=said):
            Replay(policy, stream(), 0, crowdopt.solve).finish()


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


@pytest.mark.chance
@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4)], ids=["none", "hard"])
def test_realised_errors_are_those_that_the_exact_ones_foretell(difficulty):
    """With told skills an answer is wrong with the exact error of its pairs, each alone: wrong ones are binomial.

    So they are over easy and hard tasks together, and so are the chances that a told policy claims by the labels.
    """
    wrong, foretold, claimed = [], [], []
    asked, trials = replace(crowd(1), rule="exact-error", difficulty=difficulty), 40
    for seed in seeds(trials):
        run = start("least-covered", simulated_stream(asked, (seed, 3)), seed).finish()
        truth = run.stream.truth
        wrong.append((answers_of(run) != truth).sum())
        foretold.append(exact_error(run)[0].mean())
        claimed.append(claimed_error(run).mean())
    assert binomial(sum(wrong), trials * 24, np.mean(foretold))
    assert binomial(sum(wrong), trials * 24, np.mean(claimed))


def test_every_label_of_a_pair_is_the_same_for_every_policy():
    """Trials are paired: any policy that asks worker j about task i gets the same answer."""
    of = stream()
    one, other = start("greedy", of).finish(), start("random", of).finish()
    seen = dict(zip(zip(one.task.tolist(), one.worker.tolist(), strict=True), one.label.tolist(), strict=True))
    shared = [
        (seen[pair], label)
        for pair, label in zip(zip(other.task.tolist(), other.worker.tolist(), strict=True), other.label, strict=True)
        if pair in seen
    ]
    assert len(shared) > 20 and all(a == b for a, b in shared)


@pytest.mark.chance
def test_more_than_two_classes():
    """One-coin labels of four classes are right as often as they should be, binomially; answers and scores go on.

    With told skills an answer is wrong with a chance of .1 at most, each by itself.
    """
    instance = crowdopt.AssignmentInstance(np.full((1, 40), 0.7), np.zeros(30, int), 30, 0.1, classes=4)
    of = simulated_stream(instance, (BASE,), 12)
    labels = np.concatenate([of.crowd.label(j, np.arange(30)) == of.truth for j in range(40)])
    assert binomial(labels.sum(), labels.size, 0.7)
    for text in ("re-solve", "entropy", "main-algorithm:gold=5", "kos:labels=300"):
        figures = score(start(text, of).finish(), Optimum(None, None, None))
        assert figures["error_exact"] is None and 0 <= figures["error_realised"] <= 1
        assert text not in ("re-solve", "entropy") or figures["error_realised"] * 30 <= most(30, 0.1)


def test_a_decision_of_gold_is_not_work():
    """Kinds are told apart by their names alone."""
    assert Decision(WORK, np.arange(3)).workers is None


def test_a_stream_leaves_its_instance_as_it_was():
    """Frozen is frozen: the stream works out who is barred from what, and nothing is written elsewhere."""
    of = stream()
    before = set(of.instance.__dict__)
    barred = [of.arrival(j, False).barred for j in range(of.instance.n_workers)]
    written = set(of.instance.__dict__) - before
    assert all(hasattr(type(of.instance), name) for name in written)  # what it keeps of itself, and nothing of ours
    pairs = {(int(task), j) for j, tasks in enumerate(barred) for task in tasks}
    assert pairs == set(map(tuple, of.instance.barred.tolist())) and pairs
