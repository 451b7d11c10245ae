"""Laws of labels: every law against all ways to label a task; laws learned from gold; campaigns that go by them."""

from __future__ import annotations

from argparse import Namespace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from benchmarks.dependence import families as dependent
from benchmarks.dependence import planned
from benchmarks.laws import campaign as learned
from crowdopt import AssignmentInstance, Group
from crowdopt.answers import wmv_confusion
from crowdopt.assign.cascade.cascade import Cascade
from crowdopt.assign.cascade.law_prices import law_price
from crowdopt.assign.cascade.panels import vote_panel
from crowdopt.core.solution import Options
from crowdopt.crowd.error_correlation import effective_votes
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import Difficulty, Given, Law, Tables, confusion_evidence, one_coin_like
from crowdopt.crowd.law_fits import (
    FITS,
    INDEPENDENT,
    LATENT,
    PAIRWISE,
    LawParams,
    chosen_law,
    independent_law,
    latent_law,
    log_chances,
    pairwise_law,
)
from crowdopt.crowd.recipes import family_posteriors, simulated_labels
from crowdopt.crowd.rules import BHATTACHARYYA, bhattacharyya_error
from crowdopt.crowd.subset import of_workers
from crowdopt.crowd.vote_errors import exact_errors, likeliest_errors
from tests.chance import binomial, rng
from tests.crowd.enumerated import coin, joint, least_error, vote_error, ways

SKILLS, DRAWS = np.array([0.95, 0.8, 0.9]), 30_000
TABLES = np.array([[[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.2, 0.1, 0.7]]] * 2 + [[[0.5, 0.3, 0.2]] * 3])
MIXED = Law.votes("planted", np.array([0.6, 0.4]), np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]]))


def family(members: list[int], classes: int) -> np.ndarray:
    """One number decides who of a family errs, another which wrong class all of them name: the worse err first."""
    ends = np.unique([0.0, 1.0, *SKILLS[members]])
    parts, share = [], []
    for low, high in pairwise(ends):
        for shift in range(1, classes):
            part = coin(SKILLS, classes)
            for j in members:
                part[j] = np.roll(np.eye(classes), 0 if high <= SKILLS[j] else shift, axis=1)
            parts.append(part)
            share.append((high - low) / (classes - 1))
    return joint(np.full(classes, 1 / classes), *parts, share=share)


# what is said of each task, and the law of class and labels of its three workers
LAWS = {
    "two classes": ({"rule": "exact-error"}, joint([0.5, 0.5], coin(SKILLS))),
    "a prior": ({"rule": "exact-error", "prior": [0.8, 0.2]}, joint([0.8, 0.2], coin(SKILLS))),
    "three classes": (
        {"rule": "exact-error", "classes": 3, "prior": [0.5, 0.3, 0.2]},
        joint([0.5, 0.3, 0.2], coin(SKILLS, 3)),
    ),
    "hard tasks": (
        {"rule": "exact-error", "difficulty": Difficulty(0.4, hard=0.1)},
        joint([0.5, 0.5], coin(SKILLS), coin(0.5 + 0.1 * (SKILLS - 0.5)), share=(0.6, 0.4)),
    ),
    "a mixture": (
        {"rule": "exact-error", "vote_law": MIXED, "prior": [0.3, 0.7]},
        joint([0.3, 0.7], *map(coin, MIXED.accuracy), share=MIXED.share),
    ),
    "confusion": ({"classes": 3}, joint(np.full(3, 1 / 3), TABLES)),
    "a family": ({"groups": [Group("f", [0, 1], max_per_task=2, dependent=True)]}, family([0, 1], 2)),
    "a family of three classes": (
        {"classes": 3, "groups": [Group("f", [0, 2], max_per_task=2, dependent=True)]},
        family([0, 2], 3),
    ),
}
laws = pytest.mark.parametrize("name", LAWS)


def case(name: str, tasks: int) -> tuple[AssignmentInstance, np.ndarray]:
    """So many tasks alike, and the law of one, (classes, ways)."""
    fields, chance = LAWS[name]
    instance = AssignmentInstance(SKILLS[None], [0] * tasks, tasks, 0.1, **fields)
    return (instance.with_confusion(TABLES[None]) if name == "confusion" else instance), chance


def of_tasks(tasks: int, workers: list[int]) -> np.ndarray:
    """Each task's labels by these workers, as pairs."""
    return np.array(list(product(range(tasks), workers))).reshape(-1, 2)


@laws
def test_posteriors_are_bayes(name):
    """One task for each way to label it."""
    chance = LAWS[name][1]
    classes, count = chance.shape
    instance, _ = case(name, count)
    pairs, label = of_tasks(count, [0, 1, 2]), ways(classes, 3).reshape(-1)
    found = family_posteriors(instance, pairs, label)
    there = chance.sum(axis=0) > 1e-12
    assert found[there] == pytest.approx((chance / chance.sum(axis=0).clip(1e-12)).T[there])
    assert found[~there] == pytest.approx(instance.posterior(pairs, label)[~there])  # as if they erred alone
    if not instance.groups:
        assert instance.posterior(pairs, label) == pytest.approx(found)


@pytest.mark.chance
@laws
def test_labels_are_drawn_by_the_law(name):
    """Class and labels together, before any label is in."""
    instance, chance = case(name, DRAWS)
    truth, label = simulated_labels(instance, of_tasks(DRAWS, [0, 1, 2]), rng())
    way = label.reshape(-1, 3) @ len(chance) ** np.arange(3)[::-1]
    counts = np.bincount(truth * chance.shape[1] + way, minlength=chance.size)
    assert binomial(counts, DRAWS, chance.reshape(-1))


@pytest.mark.chance
@laws
def test_a_later_round_is_of_the_same_world(name):
    """Given two workers' labels, the class and the third one's label: families and hard tasks stay what they are."""
    chance = LAWS[name][1]
    classes = len(chance)
    given, each = chance.reshape(classes, classes**2, classes), 3_000
    instance, _ = case(name, classes**2 * each)
    known = np.repeat(ways(classes, 2), each, axis=0)
    has = (of_tasks(len(known), [0, 1]), known.reshape(-1))
    truth, label = simulated_labels(instance, of_tasks(len(known), [2]), rng(), None, has)
    way = np.repeat(np.arange(classes**2), each)
    counts = np.bincount((truth * classes**2 + way) * classes + label, minlength=given.size).reshape(given.shape)
    total = given.sum(axis=(0, 2))
    there = total > 1e-12
    assert binomial(counts[:, there], each, given[:, there] / total[there, None])


@pytest.mark.parametrize("name", list(LAWS)[:5])
def test_each_set_errs_as_the_law_says(name):
    """Votes have the weights of easy tasks; by a mixture it is the likeliest class that is named."""
    sets = [some for size in range(4) for some in combinations(range(3), size)]
    instance, chance = case(name, len(sets))
    classes = len(chance)
    pairs = np.array([(task, j) for task, some in enumerate(sets) for j in some])
    found = likeliest_errors(instance, pairs) if instance.vote_law else exact_errors(instance, pairs)[0]
    for some, error in zip(sets, found, strict=True):
        others = tuple(1 + j for j in range(3) if j not in some)
        mine = chance.reshape(classes, *[classes] * 3).sum(axis=others).reshape(classes, -1)
        lean, weight = np.log(instance.prior), instance.weight[0, list(some)]
        wanted = least_error(mine) if instance.vote_law else vote_error(mine, weight, lean)
        assert error == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(3, 4))
def test_evidence_of_tables_bounds_the_error_of_their_vote(seed, classes):
    """The vote by log-likelihoods is Bayes' own, and errs no more than the rule says of the sum of evidence."""
    rng = np.random.default_rng(seed)
    table = 0.7 * coin(rng.uniform(0.4, 0.95, 4), classes) + 0.3 * rng.dirichlet(np.ones(classes), (4, classes))
    chance, said = joint(np.full(classes, 1 / classes), table), ways(classes, 4)
    names = [tuple(map(str, range(count))) for count in (len(said), 4, classes)]
    labels = Labels(*of_tasks(len(said), [0, 1, 2, 3]).T, said.reshape(-1), *names)
    found = wmv_confusion(labels, table).posterior
    np.testing.assert_allclose(found, (chance / chance.sum(axis=0)).T, atol=1e-12)
    bound = bhattacharyya_error(confusion_evidence(table).sum(keepdims=True), np.full(classes, 1 / classes))[0]
    assert least_error(chance) <= bound + 1e-12


@pytest.mark.parametrize("classes", [2, 5])
def test_a_one_coin_table_has_the_evidence_of_one_coin(classes):
    """Confusion tables generalise accuracies: the same number, and back."""
    accuracy = np.linspace(1 / classes, 0.98, 5)
    evidence = confusion_evidence(coin(accuracy, classes))
    np.testing.assert_allclose(evidence, BHATTACHARYYA.evidence(accuracy, classes), atol=1e-9)
    np.testing.assert_allclose(one_coin_like(evidence, classes), accuracy, atol=1e-7)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 6))
def test_outcomes_need_not_be_classes(seed, classes, outcomes):
    """A label may be "unsure" or have a confidence: posterior and error by enumeration, parts mixed."""
    rng = np.random.default_rng(seed)
    parts, share = rng.dirichlet(np.full(outcomes, 0.7), (3, 4, classes)), rng.dirichlet(np.ones(3))
    law, prior = Law(share, Tables(parts[:, None])), rng.dirichlet(np.ones(classes) * 3)
    chance = joint(prior, *parts, share=share)
    assert law.error(np.arange(4), prior) == pytest.approx(least_error(chance), abs=1e-12)
    said = ways(outcomes, 4)[: 3 * outcomes]
    task, worker = of_tasks(len(said), [0, 1, 2, 3]).T
    found = law.posterior(prior, Given(task, 0, worker, said.reshape(-1)), len(said))
    np.testing.assert_allclose(found, (chance / chance.sum(axis=0)).T[: len(said)], atol=1e-9)


def test_a_family_beside_a_law_of_votes_errs_as_its_skills_say():
    """The law's parts are ways in which all vote; what a family shares is drawn by each one's own skill."""
    fields = {"groups": [Group("f", [0, 1], max_per_task=2, dependent=True)], "rule": "bhattacharyya"}
    instance = AssignmentInstance([[0.9, 0.6]], [0], 1, 0.1, vote_law=coupled_pair(), **fields)
    found = family_posteriors(instance, np.array([[0, 1]]), np.array([1]))
    assert found[0] == pytest.approx([0.4, 0.6])


def coupled_pair() -> Law:
    """Two workers, each way to vote a part of its own, the first of which is that both err."""
    return Law.votes(
        "planted", np.array([0.2, 0.1, 0.1, 0.6]), np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    )


@pytest.mark.parametrize(
    "law",
    [
        Law.votes("one worker short", np.ones(1), np.full((1, 1), 0.7)),
        Law.coins(np.full((1, 2), 0.7), 3),
        Law(np.ones(1), Tables(np.full((1, 1, 2, 2, 2), 0.5))),
        Law.votes("a share too few", np.ones(2) / 2, np.full((3, 2), 0.7)),
    ],
)
def test_a_law_of_votes_that_does_not_fit_is_refused(law):
    with pytest.raises(crowdopt.InputError, match="law of votes"):
        AssignmentInstance([[0.9, 0.6]], [0], 1, 0.1, vote_law=law)


EDGE = 2 * np.array([0.95, 0.93, 0.9, 0.86, 0.8, 0.76]) - 1
HARD = Law.votes("planted", np.array([0.8, 0.2]), (1 + np.array([EDGE, 0.3 * EDGE])) / 2)


def coupled(coupling: float) -> Law:
    """Two families of two workers, each pair coupled: every way to vote is a part."""
    votes = 2.0 * ways(2, 4) - 1
    weight = np.exp(votes @ [0.6, 0.5, 0.4, 0.3] + coupling * (votes[:, 0] * votes[:, 1] + votes[:, 2] * votes[:, 3]))
    return Law.votes("planted", weight / weight.sum(), (votes + 1) / 2)


def drawn(law: Law, items: int, seed: int) -> np.ndarray:
    """Right (1) and wrong (0) votes."""
    rng = np.random.default_rng(seed)
    part = rng.choice(law.share.size, items, p=law.share)
    return (rng.random((items, law.accuracy.shape[1])) < law.accuracy[part]).astype(np.int64)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_chances_are_those_of_a_mixture(fit):
    """Of all patterns, a worker who is not asked (-1) is summed out; so those of all who are asked add up to one."""
    right = drawn(coupled(0.5), 60, 0)
    right[::3, 1] = -1
    law = fit(right)
    every = np.array(list(product((-1, 0, 1), repeat=4)))
    p = law.accuracy[:, None]
    wanted = law.share @ np.where(every == 1, p, np.where(every == 0, 1 - p, 1.0)).prod(axis=2)
    np.testing.assert_allclose(np.exp(log_chances(law, every)), wanted, rtol=1e-9)
    assert wanted[0] == pytest.approx(1) == wanted[(every >= 0).all(axis=1)].sum()


def test_order_of_items_and_workers_changes_no_chance():
    """Permuted gold gives the permuted law."""
    right, order = drawn(HARD, 80, 2), np.array([3, 1, 5, 0, 2, 4])
    law, same = latent_law(right), latent_law(right[::-1][:, order])
    np.testing.assert_allclose(same.accuracy, law.accuracy[:, order], atol=1e-9)
    np.testing.assert_allclose(same.share, law.share, atol=1e-6)


def test_a_planted_law_is_found_as_gold_grows():
    """20,000 items: share, edge left and edges come within .05 of what was planted, and difficulty is chosen."""
    choice = chosen_law(drawn(HARD, 20_000, 0))
    assert choice.law.name == LATENT and choice.loss[LATENT] < choice.loss[INDEPENDENT]
    assert abs(choice.law.difficulty.share - 0.2) < 0.05
    assert abs(choice.law.difficulty.left - 0.3) < 0.1
    np.testing.assert_allclose(2 * choice.law.accuracy[0] - 1, EDGE, atol=0.05)


def test_pairwise_law_is_the_mean_over_what_gold_leaves_open():
    """Two workers, so that all odds and couplings can be added up on a grid: of 61^3 points, with Jeffreys' prior.

    Information about odds and couplings has the determinant ``prod P(x)`` times a number, where all are free.
    """
    right, penalty = drawn(coupled(0.5), 80, 8)[:, :2], 10.0
    right[::4, 0] = -1
    axis = np.linspace(-1.5, 3.5, 61)
    b, c, j = (each.reshape(-1, 1) for each in np.meshgrid(axis, axis, axis, indexing="ij"))
    signs = 2.0 * ways(2, 2) - 1
    score = b * signs[:, 0] + c * signs[:, 1] + j * signs[:, 0] * signs[:, 1]
    chance = np.exp(score - np.logaddexp.reduce(score, axis=1, keepdims=True))
    seen = [((row < 0) | (row == ways(2, 2))).all(axis=1) for row in right]
    height = sum(np.log(chance @ one) for one in seen) + np.log(chance).sum(axis=1) / 2
    height -= (LawParams().soft * (b * b + c * c) + penalty * j * j)[:, 0] / 2
    weight = np.exp(height - height.max())
    law = np.exp(log_chances(pairwise_law(right, LawParams(penalties=(penalty,))), ways(2, 2)))
    np.testing.assert_allclose(law, weight @ chance / weight.sum(), atol=0.003)


@pytest.mark.slow
def test_planted_couplings_are_found_as_gold_grows():
    """20,000 items: every chance within .01 of the planted one, and pairwise is chosen."""
    true = coupled(0.5)
    choice = chosen_law(drawn(true, 20_000, 3), tuple(FITS))
    assert choice.law.name == PAIRWISE
    gap = np.exp(log_chances(choice.law, ways(2, 4))) - np.exp(log_chances(true, ways(2, 4)))
    assert np.abs(gap).max() < 0.01


def test_gold_of_independent_workers_shows_no_couplings():
    """5,000 items without couplings: the pairwise law is as good as the independent one, to .01 nats an item."""
    loss = chosen_law(drawn(coupled(0.0), 5_000, 4), tuple(FITS)).loss
    assert loss[PAIRWISE] < loss[INDEPENDENT] + 0.01


def test_effective_votes_of_copies_and_of_independent_workers():
    """Four copies of one worker are one vote; four independent workers about four."""
    one = drawn(coupled(0.0), 2_000, 5)
    assert effective_votes(np.repeat(one[:, :1], 4, axis=1)).votes == pytest.approx(1, abs=1e-5)
    worth = effective_votes(one)
    assert worth.low <= worth.votes <= worth.high and worth.votes > 3.5


def test_a_copy_of_a_worker_votes_by_the_law_as_they_do():
    """Another like somebody who is hired has the same chances in each part; one who is left out has none."""
    larger = of_workers(case("a mixture", 2)[0], np.array([0, 2, 2])).vote_law
    assert larger.accuracy.tolist() == [[0.9, 0.7, 0.7], [0.6, 0.4, 0.4]]
    assert larger.share.tolist() == MIXED.share.tolist()


def test_plan_by_the_true_law_keeps_its_promise_and_costs_what_it_says():
    """Followed under its own law a plan comes to its own figures; by independence it errs more than it says."""
    true = coupled(0.8)
    instance = AssignmentInstance([[0.7] * 4], [0] * 50, [50] * 4, 0.05, vote_law=true)
    panel, options = vote_panel(instance), Options(time_limit=60)
    own = law_price(Cascade(panel, 9.0), true, crowdopt.solve, options)
    assert own.cost == pytest.approx(own.promised, rel=1e-9) and own.errs == pytest.approx(own.times, rel=1e-9)
    other = law_price(Cascade(panel, 9.0), independent_law(drawn(true, 20_000, 6)), crowdopt.solve, options)
    assert other.errs > 1.1 * other.times


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """Four judges with 300 gold votes, coupled in pairs."""
    folder = tmp_path_factory.mktemp("panel")
    (folder / "campaign.toml").write_text("epsilon = 0.2\n")
    (folder / "tasks.csv").write_text("task\n" + "".join(f"t{i}\n" for i in range(30)))
    (folder / "workers.csv").write_text("worker,capacity,price\n" + "".join(f"w{j},30,{1 + j}\n" for j in range(4)))
    right = drawn(coupled(1.0), 300, 7).tolist()
    rows = "".join(f"q{i},w{j},{vote},1\n" for i, row in enumerate(right) for j, vote in enumerate(row))
    (folder / "gold_votes.csv").write_text("item,worker,label,truth\n" + rows)
    return folder


def test_campaign_with_coupled_gold_goes_through_the_whole_loop(panel, tmp_path):
    """Plan, verify, rehearse, answers, the next plan: all by the learned law, which explain prices."""
    instance = crowdopt.read_campaign(panel)
    assert instance.vote_law.name == PAIRWISE
    plan = crowdopt.assign(panel, adaptive=True, output=tmp_path / "plan")
    assert plan.proven and instance.vote_law.name in plan.note
    assert crowdopt.verify(panel, tmp_path / "plan").proven
    crowdopt.rehearse(panel, tmp_path / "plan", output=tmp_path / "labels.csv", seed=1)
    found = crowdopt.answers(tmp_path / "labels.csv", tmp_path / "plan", campaign=panel, output=tmp_path / "answers")
    assert found.onward is not None
    onward = crowdopt.assign(tmp_path / "answers" / "campaign", adaptive=True, output=tmp_path / "next")
    assert onward.found and crowdopt.verify(tmp_path / "answers" / "campaign", tmp_path / "next").holds
    facts = crowdopt.explain(panel, tmp_path / "plan").facts["laws"]
    assert facts["chosen"] == instance.vote_law.name and len(facts["plans"]) == len(FITS)


def test_plan_of_fixed_sets_says_what_it_errs_with_by_the_law(panel, tmp_path):
    """It is a plan by the better of independence and difficulty, and verifies; its largest error is by enumeration."""
    plan, law = crowdopt.assign(panel, output=tmp_path / "plan"), crowdopt.read_campaign(panel).vote_law
    assert crowdopt.verify(panel, tmp_path / "plan").holds
    every = joint([0.5, 0.5], *map(coin, law.accuracy), share=law.share).reshape([2] * 5)
    sets = {tuple(plan.pairs[plan.pairs[:, 0] == i, 1]) for i in range(30)}
    worst = max(
        least_error(every.sum(axis=tuple(1 + j for j in range(4) if j not in some)).reshape(2, -1)) for some in sets
    )
    assert f"err up to {100 * worst:.3g} %" in plan.note and "do not heed" in plan.note and "--each-task" in plan.note


def test_one_round_by_the_law_keeps_the_target_in_the_mean_and_not_of_each_task():
    """A set is dealt to its share of the tasks up to one, so the mean is off by one task's error; some get no label."""
    target, tasks = 0.2, 60
    given = {"cost": [[1.0, 2.0, 3.0, 4.0]], "vote_law": coupled(0.4), "rule": "exact-error"}
    instance = AssignmentInstance([[0.7] * 4], [0] * tasks, [tasks] * 4, target, **given)
    plan = crowdopt.assign(instance, adaptive=True, rounds=1)
    assert plan.proven and plan.errors[0] == pytest.approx(target, rel=1e-9)
    errors = likeliest_errors(instance, plan.pairs)
    assert abs(errors.mean() - target) <= 0.5 / tasks and errors.max() == pytest.approx(0.5)


def test_archive_keeps_a_law(tmp_path):
    """Written and read again it is the same."""
    crowdopt.write_campaign(case("a mixture", 2)[0], tmp_path / "one.npz")
    read = crowdopt.read_campaign(tmp_path / "one.npz").vote_law
    assert (read.name, read.accuracy.tolist()) == (MIXED.name, MIXED.accuracy.tolist())
    assert read.share.tolist() == MIXED.share.tolist()


@pytest.mark.slow
def test_learned_difficulty_keeps_the_target_that_independence_misses():
    """20 % hard items with .3 of the edge left, ten campaigns, target .05; errors are enumerated, not simulated."""
    given = Namespace(gold=300, workers=12, epsilon=0.05)
    rows = [learned(seed, given)[1] for seed in range(10)]
    realised = {law: np.mean([each[law][1] for each in rows]) for law in ("independent", "chosen")}
    assert realised["chosen"] <= 1.15 * given.epsilon < realised["independent"]


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [0.4, 0.6])
def test_learned_couplings_keep_the_target_that_independence_misses(coupling):
    """Three families of two, ten draws of gold, adaptive plans with an expert; errors are enumerated, not simulated."""
    given = Namespace(gold=300, epsilon=0.05)
    runs = [planned(dependent(coupling), seed, given, (INDEPENDENT,)) for seed in range(10)]
    errs = {law: np.mean([run[law].errs for run in runs]) for law in (INDEPENDENT, "chosen")}
    assert errs["chosen"] <= 1.15 < 1.4 < errs[INDEPENDENT]
