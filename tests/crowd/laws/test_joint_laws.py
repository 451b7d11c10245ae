"""The pairwise law: chances add up, planted couplings are found, and campaigns with gold votes go by them."""

from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt.assign.cascade.law_prices import law_price
from crowdopt.core.solution import Options
from crowdopt.crowd.law_errors import law_errors
from crowdopt.crowd.laws.coin_laws import INDEPENDENT, PAIRWISE, CoinLaw, independent_law
from crowdopt.crowd.laws.effective_votes import effective_votes
from crowdopt.crowd.laws.law_choice import FITS, chosen_law
from crowdopt.crowd.laws.pairwise_law import SOFT, pairwise_law
from crowdopt.crowd.posteriors import posteriors
from crowdopt.crowd.states.told_tasks import told_tasks
from crowdopt.crowd.subset import of_workers
from crowdopt.programs.cascade import Cascade

ODDS, COUPLED = np.array([1.2, 1.0, 0.8, 0.6]), ((0, 1), (2, 3))


def coupled(coupling: float) -> CoinLaw:
    """Two families of two workers, each pair coupled: every way to vote is a part."""
    votes = 2.0 * np.array(list(product((0, 1), repeat=4))) - 1
    weight = np.exp(votes @ ODDS / 2 + coupling * sum(votes[:, a] * votes[:, b] for a, b in COUPLED))
    return CoinLaw("planted", weight / weight.sum(), (votes + 1) / 2)


def drawn(law: CoinLaw, items: int, seed: int) -> np.ndarray:
    """Right (1) and wrong (0) votes."""
    rng = np.random.default_rng(seed)
    part = rng.choice(law.share.size, items, p=law.share)
    return (rng.random((items, law.accuracy.shape[1])) < law.accuracy[part]).astype(np.int64)


def everything(workers: int) -> np.ndarray:
    """All ways in which workers can vote."""
    return np.array(list(product((0, 1), repeat=workers)))


@pytest.mark.parametrize("missing", [False, True])
def test_chances_of_all_patterns_add_up_to_one(missing):
    """With all votes there, and where every third item lacks one."""
    right = drawn(coupled(0.5), 60, 0)
    right[::3, 1] = -1 if missing else right[::3, 1]
    assert np.exp(pairwise_law(right).log_chance(everything(4))).sum() == pytest.approx(1, abs=1e-12)


def test_worker_who_is_not_asked_is_summed_out():
    """P of three votes is the sum over both votes of the fourth."""
    law = pairwise_law(drawn(coupled(0.5), 200, 1))
    three = np.column_stack([everything(3), np.full(8, -1)])
    both = [np.exp(law.log_chance(np.column_stack([everything(3), np.full(8, v)]))) for v in (0, 1)]
    np.testing.assert_allclose(np.exp(law.log_chance(three)), both[0] + both[1], rtol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_pairwise_law_is_the_mean_over_what_gold_leaves_open(missing, monkeypatch):
    """Two workers, so that all odds and couplings can be added up on a grid: of 61^3 points, with Jeffreys' prior.

    Information about odds and couplings has the determinant ``prod P(x)`` times a number, where all are free.
    """
    right, penalty = drawn(coupled(0.5), 80, 8)[:, :2], 10.0
    right[::4, 0] = -1 if missing else right[::4, 0]
    axis = np.linspace(-1.5, 3.5, 61)
    b, c, j = (each.reshape(-1, 1) for each in np.meshgrid(axis, axis, axis, indexing="ij"))
    ways = 2.0 * everything(2) - 1
    score = b * ways[:, 0] + c * ways[:, 1] + j * ways[:, 0] * ways[:, 1]
    chance = np.exp(score - np.logaddexp.reduce(score, axis=1, keepdims=True))
    seen = [((row < 0) | (row == everything(2))).all(axis=1) for row in right]
    monkeypatch.setattr("crowdopt.crowd.laws.pairwise_law.PENALTIES", (penalty,))
    height = sum(np.log(chance @ one) for one in seen) + np.log(chance).sum(axis=1) / 2
    height -= (SOFT * (b * b + c * c) + penalty * j * j)[:, 0] / 2
    weight = np.exp(height - height.max())
    law = np.exp(pairwise_law(right).log_chance(everything(2)))
    np.testing.assert_allclose(law, weight @ chance / weight.sum(), atol=0.003)


@pytest.mark.slow
def test_planted_couplings_are_found_as_gold_grows():
    """20,000 items: every chance within .01 of the planted one, and pairwise is chosen."""
    true = coupled(0.5)
    right = drawn(true, 20_000, 3)
    choice = chosen_law(right, tuple(FITS))
    assert choice.law.name == PAIRWISE
    gap = np.exp(choice.law.log_chance(everything(4))) - np.exp(true.log_chance(everything(4)))
    assert np.abs(gap).max() < 0.01


def test_gold_of_independent_workers_shows_no_couplings():
    """5,000 items without couplings: the pairwise law is as good as the independent one, to .01 nats an item."""
    loss = chosen_law(drawn(coupled(0.0), 5_000, 4), tuple(FITS)).loss
    assert loss[PAIRWISE] < loss[INDEPENDENT] + 0.01


def test_effective_votes_of_copies_and_of_independent_workers():
    """Four copies of one worker are one vote; four independent workers about four."""
    one = drawn(coupled(0.0), 2_000, 5)
    copies = np.repeat(one[:, :1], 4, axis=1)
    assert effective_votes(copies).votes == pytest.approx(1, abs=1e-5)
    worth = effective_votes(one)
    assert worth.low <= worth.votes <= worth.high and worth.votes > 3.5


def test_posteriors_by_a_law_equal_a_sum_over_its_parts():
    """Task by task in plain Python, with a prior."""
    law = coupled(0.6)
    instance = crowdopt.AssignmentInstance(
        [[0.7] * 4], [0, 0], [2] * 4, 0.1, prior=[0.3, 0.7], vote_law=law, rule="exact-error"
    )
    pairs, label = np.array([[0, 0], [0, 1], [1, 2], [1, 3], [1, 0]]), np.array([1, 0, 1, 1, 0])
    for task, row in enumerate(posteriors(instance, pairs, label)):
        told = []
        for k, chance in enumerate((0.3, 0.7)):
            right = np.full((1, 4), -1)
            mine = pairs[:, 0] == task
            right[0, pairs[mine, 1]] = label[mine] == k
            told.append(chance * np.exp(law.log_chance(right))[0])
        np.testing.assert_allclose(row, np.array(told) / sum(told), atol=1e-9)


def test_a_copy_of_a_worker_votes_by_the_law_as_they_do() -> None:
    """Another like somebody who is hired has the same chances in each part; one who is left out has none."""
    law = CoinLaw("planted", np.array([0.5, 0.5]), np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]]))
    instance = crowdopt.AssignmentInstance([[0.75, 0.65, 0.55]], [0, 0], [2] * 3, 0.1, vote_law=law, rule="exact-error")
    larger = of_workers(instance, np.array([0, 2, 2]))
    assert larger.vote_law is not None
    assert larger.vote_law.accuracy.tolist() == [[0.9, 0.7, 0.7], [0.6, 0.4, 0.4]]
    assert larger.vote_law.share.tolist() == law.share.tolist()


def test_plan_by_the_true_law_keeps_its_promise_and_costs_what_it_says():
    """Followed under its own law a plan comes to its own figures; by independence it errs more than it says."""
    true = coupled(0.8)
    instance = crowdopt.AssignmentInstance([[0.7] * 4], [0] * 50, [50] * 4, 0.05, vote_law=true)
    told, options = told_tasks(instance), Options(time_limit=60)
    own = law_price(Cascade(told, 9.0), true, crowdopt.solve, options)
    assert own is not None
    assert own.cost == pytest.approx(own.promised, rel=1e-9) and own.errs == pytest.approx(own.times, rel=1e-9)
    alone = independent_law(drawn(true, 20_000, 6))
    other = law_price(Cascade(told, 9.0), alone, crowdopt.solve, options)
    assert other is not None and other.errs > 1.1 * other.times


def campaign(folder, right):
    """A panel with gold votes."""
    folder.mkdir()
    (folder / "campaign.toml").write_text("epsilon = 0.2\n")
    (folder / "tasks.csv").write_text("task\n" + "".join(f"t{i}\n" for i in range(30)))
    (folder / "workers.csv").write_text("worker,capacity,price\n" + "".join(f"w{j},30,{1 + j}\n" for j in range(4)))
    rows = "".join(f"q{i},w{j},{vote},1\n" for i, row in enumerate(right.tolist()) for j, vote in enumerate(row))
    (folder / "gold_votes.csv").write_text("item,worker,label,truth\n" + rows)
    return folder


def test_campaign_with_coupled_gold_goes_through_the_whole_loop(tmp_path):
    """Plan, verify, rehearse, answers, the next plan: all by the learned law, which explain prices."""
    folder = campaign(tmp_path / "campaign", drawn(coupled(1.0), 300, 7))
    instance = crowdopt.read_campaign(folder)
    assert instance.vote_law is not None and instance.vote_law.name == PAIRWISE
    plan = crowdopt.assign(folder, adaptive=True, output=tmp_path / "plan")
    assert plan.proven and instance.vote_law.name in plan.note
    assert crowdopt.verify(folder, tmp_path / "plan").proven
    crowdopt.rehearse(folder, tmp_path / "plan", output=tmp_path / "labels.csv", seed=1)
    found = crowdopt.answers(tmp_path / "labels.csv", tmp_path / "plan", campaign=folder, output=tmp_path / "answers")
    assert found.onward is not None
    onward = crowdopt.assign(tmp_path / "answers" / "campaign", adaptive=True, output=tmp_path / "next")
    assert onward.found and crowdopt.verify(tmp_path / "answers" / "campaign", tmp_path / "next").holds
    facts = crowdopt.explain(folder, tmp_path / "plan").facts["laws"]
    assert facts["chosen"] == instance.vote_law.name and len(facts["plans"]) == len(FITS)


def test_plan_of_fixed_sets_says_what_it_errs_with_by_the_law(tmp_path):
    """It is a plan by the better of independence and difficulty, and verifies; its largest error is by enumeration."""
    folder = campaign(tmp_path / "campaign", drawn(coupled(1.0), 300, 7))
    plan, law = crowdopt.assign(folder, output=tmp_path / "plan"), crowdopt.read_campaign(folder).vote_law
    assert law is not None and crowdopt.verify(folder, tmp_path / "plan").holds
    worst = 0.0
    for workers in {tuple(plan.pairs[plan.pairs[:, 0] == i, 1]) for i in range(30)}:
        error = 0.0
        for votes in product((0, 1), repeat=len(workers)):
            right = np.full((2, 4), -1)
            right[0, workers], right[1, workers] = votes, 1 - np.array(votes)
            error += np.exp(law.log_chance(right)).min() / 2
        worst = max(worst, error)
    assert f"err up to {100 * worst:.3g} %" in plan.note and "do not heed" in plan.note and "--each-task" in plan.note


def test_one_round_by_the_law_keeps_the_target_in_the_mean_and_not_of_each_task():
    """A set is dealt to its share of the tasks up to one, so the mean is off by one task's error; some get no label."""
    target, tasks = 0.2, 60
    instance = crowdopt.AssignmentInstance(
        [[0.7] * 4],
        [0] * tasks,
        [tasks] * 4,
        target,
        cost=[[1.0, 2.0, 3.0, 4.0]],
        vote_law=coupled(0.4),
        rule="exact-error",
    )
    plan = crowdopt.assign(instance, adaptive=True, rounds=1)
    assert plan.proven and plan.errors[0] == pytest.approx(target, rel=1e-9) and plan.pairs is not None
    errors = law_errors(instance, plan.pairs)
    assert errors is not None and abs(errors.mean() - target) <= 0.5 / tasks and errors.max() == pytest.approx(0.5)


def test_archive_keeps_a_law(tmp_path):
    """Written and read again it is the same."""
    law = coupled(0.4)
    instance = crowdopt.AssignmentInstance([[0.7] * 4], [0, 0], [2] * 4, 0.1, vote_law=law)
    crowdopt.write_campaign(instance, tmp_path / "one.npz")
    read = crowdopt.read_campaign(tmp_path / "one.npz").vote_law
    assert read is not None and read.name == law.name
    np.testing.assert_array_equal(read.accuracy, law.accuracy)
    np.testing.assert_array_equal(read.share, law.share)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"vote_law": coupled(0.4), "classes": 3}, "two classes"),
        ({"vote_law": CoinLaw("x", np.ones(1), np.full((1, 3), 0.7))}, "law of votes of 3"),
        ({"vote_law": coupled(0.4), "observed": True}, "observed"),
    ],
)
def test_laws_that_do_not_fit_are_refused(change, says):
    """In one sentence each."""
    with pytest.raises(crowdopt.InputError, match=says):
        crowdopt.AssignmentInstance([[0.7] * 4], [0, 0], [2] * 4, 0.1, **change)
