"""Laws of labels: every law against all ways to label a task; laws learned from gold; campaigns that go by them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from benchmarks.dependence import set_errors
from crowdopt import Adaptive, AssignmentInstance, Group
from crowdopt.crowd import gold as law_fits
from crowdopt.crowd.error_correlation import effective_votes
from crowdopt.crowd.gold import COMMON, FITS, INDEPENDENT, PAIRWISE, PARAMS, GoldVotes, chosen_law, log_chances
from crowdopt.crowd.law import Difficulty, Given, Law, Tables
from crowdopt.crowd.recipes import family_posteriors, simulated_labels
from crowdopt.crowd.rules import bhattacharyya_error
from crowdopt.crowd.skills import averaged, known
from tests.chance import binomial, rng
from tests.crowd.enumerated import coin, joint, least_error, ways
from tests.io import lay, write_table
from tests.sampled import first_of

SKILLS, DRAWS, EVEN, THREE, EXACT = np.array([0.95, 0.8, 0.9]), 30_000, [0.5, 0.5], [0.5, 0.3, 0.2], "exact-error"
TABLES = np.array([[[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.2, 0.1, 0.7]]] * 2 + [[[0.5, 0.3, 0.2]] * 3])
MIXED = Law.votes("planted", np.array([0.6, 0.4]), np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]]))
EASED, FAMILY = [coin(SKILLS), coin(0.45 + 0.1 * SKILLS)], [Group("f", [0, 1], max_per_task=2, dependent=True)]
BOTH = [coin([first, second, 0.9]) for first, second in ((1, 1), (1, 0), (0, 0))]  # one number decides who errs

# what is said of each task, and the law of class and labels of its three workers
LAWS = {
    "a prior": ({"rule": EXACT, "prior": [0.8, 0.2]}, joint([0.8, 0.2], coin(SKILLS))),
    "three classes": ({"rule": EXACT, "classes": 3, "prior": THREE}, joint(THREE, coin(SKILLS, 3))),
    "hard tasks": ({"rule": EXACT, "difficulty": (0.4, 0.1)}, joint(EVEN, *EASED, share=(0.6, 0.4))),
    "a mixture": ({"rule": EXACT, "vote_law": MIXED}, joint(EVEN, *map(coin, MIXED.accuracy), share=MIXED.share)),
    "confusion": ({"classes": 3}, joint(np.full(3, 1 / 3), TABLES)),
    "a family": ({"groups": FAMILY}, joint(EVEN, *BOTH, share=(0.8, 0.15, 0.05))),
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
    there = chance.sum(axis=0) > 1e-12
    found = family_posteriors(instance, pairs, label)
    assert found[there] == pytest.approx((chance / chance.sum(axis=0).clip(1e-12)).T[there])
    if not instance.groups:
        assert instance.posterior(pairs, label) == pytest.approx(found)


@pytest.mark.chance
@laws
def test_labels_are_drawn_by_the_law_in_two_rounds(name):
    """Two labels of each task, then class and third label given these: families and hard tasks stay what they are."""
    instance, chance = case(name, DRAWS)
    pairs = of_tasks(DRAWS, [0, 1])
    _, first = simulated_labels(instance, pairs, rng(0))
    truth, third = simulated_labels(instance, of_tasks(DRAWS, [2]), rng(1), None, (pairs, first))
    way = np.column_stack([first.reshape(-1, 2), third]) @ len(chance) ** np.arange(3)[::-1]
    counts = np.bincount(truth * chance.shape[1] + way, minlength=chance.size)
    assert binomial(counts, DRAWS, chance.reshape(-1))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 6))
def test_outcomes_need_not_be_classes(seed, classes, outcomes):
    """A label may be "unsure" or have a confidence: posterior, error and evidence, parts mixed, by enumeration."""
    rng = np.random.default_rng(seed)
    parts, share = rng.dirichlet(np.full(outcomes, 0.7), (3, 4, classes)), rng.dirichlet(np.ones(3))
    law, prior = Law(share, Tables(parts[:, None])), np.full(classes, 1 / classes)
    chance, said = joint(prior, *parts, share=share), ways(outcomes, 4)
    assert law.error(np.arange(4), prior) == pytest.approx(least_error(chance), abs=1e-12)
    task, worker = of_tasks(len(said), [0, 1, 2, 3]).T
    found = law.posterior(prior, Given(task, 0, worker, said.reshape(-1)), len(said))
    np.testing.assert_allclose(found, (chance / chance.sum(axis=0)).T, atol=1e-9)
    total, root = law.evidence().sum(axis=1), np.sqrt(classes * chance)
    for part, evidence in zip(parts, total, strict=True):
        assert least_error(joint(prior, part)) <= bhattacharyya_error(np.array([evidence]), prior)[0] + 1e-12
    if classes == 2:  # labels tell no more than to those who know the part
        assert root[0] @ root[1] >= share @ np.exp(-total / 2) - 1e-12


def coupled(coupling: float) -> Law:
    """Two families of two workers, each pair coupled: every way to vote is a part."""
    votes = 2.0 * ways(2, 4) - 1
    weight = np.exp(votes @ [0.6, 0.5, 0.4, 0.3] + coupling * (votes[:, 0] * votes[:, 1] + votes[:, 2] * votes[:, 3]))
    return Law.votes("planted", weight / weight.sum(), (votes + 1) / 2)


EASY = np.array([[0.95, 0.9, 0.85, 0.8, 0.75, 0.7]])
PLANTED = {INDEPENDENT: Law.coins(EASY), COMMON: Law.coins(EASY, 2, Difficulty(0.2, 0.3)), PAIRWISE: coupled(0.5)}


def drawn(law: Law, items: int, seed: int) -> np.ndarray:
    """Right (1) and wrong (0) votes."""
    rng = np.random.default_rng(seed)
    part = rng.choice(law.share.size, items, p=law.share)
    return (rng.random((items, law.accuracy.shape[1])) < law.accuracy[part]).astype(np.int64)


@pytest.mark.parametrize("name", FITS)
def test_chances_are_those_of_a_mixture(name):
    """A worker who is not asked (-1) is summed out; the order of items changes none, and copies vote alike."""
    right, every = drawn(coupled(0.5), 60, 0), np.array(list(product((-1, 0, 1), repeat=4)))
    right[::3, 1] = -1
    law, told = FITS[name](GoldVotes.of(right)), GoldVotes.of(every)
    p = law.accuracy[:, None]
    wanted = law.share @ np.where(every == 1, p, np.where(every == 0, 1 - p, 1.0)).prod(axis=2)
    np.testing.assert_allclose(np.exp(log_chances(law, told)), wanted, rtol=1e-9)
    assert wanted[0] == pytest.approx(1) == wanted[(every >= 0).all(axis=1)].sum()
    np.testing.assert_allclose(np.exp(log_chances(FITS[name](GoldVotes.of(right[::-1])), told)), wanted, atol=1e-6)
    assert (law.of_workers(np.array([0, 3, 3])).ways(np.array([0, 2])) == law.ways(np.array([0, 3]))).all()


def of_types(items: int, classes: int = 2) -> GoldVotes:
    """Gold of three types, the last one without any vote, in rows."""
    item, worker = np.nonzero(rng(5).random((items, 6)) < 0.8)
    right = drawn(PLANTED[COMMON], items, 1)[item, worker]
    return GoldVotes(item, worker, right, np.arange(items) % 2, (3, 6), classes)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_common_discount_is_the_mean_over_its_share(classes):
    """Bayes' mean of h and h s, half of it independence; on the mean item workers are right as tallies say.

    Each vote is told by its worker's other votes of the type, item by item; all types share h and s.
    """
    gold, guess = of_types(60, classes), 1 / classes
    kind, tally = gold.kind[gold.item], np.zeros((2, 3, 6))
    np.add.at(tally, (0, kind, gold.worker), gold.right)
    np.add.at(tally, (1, kind, gold.worker), 1)
    accuracy, law = averaged(*tally, classes), FITS[COMMON](gold)
    np.testing.assert_allclose(FITS[INDEPENDENT](gold).speech.accuracy[0], accuracy, rtol=1e-12)
    c, s = tally[:, kind, gold.worker]
    priors = [known(*one, classes) for one in (tally[:, 0], tally[:, 1])]
    told = np.array([priors[k].means(c[r : r + 1] - gold.right[r], s[r : r + 1] - 1)[0] for r, k in enumerate(kind)])
    scale = classes / (classes - 1)
    grid = np.array([(0.0, 1.0), *product(PARAMS.shares, PARAMS.rests)])
    prior = np.where(grid[:, 0] == 0, 0.5, np.exp(-PARAMS.rate * grid[:, 0]))
    edge, mean = (accuracy - guess) * scale, 1 - grid[:, 0] * (1 - grid[:, 1])
    prior[np.minimum(edge, 0.98 * mean[:, None, None]).sum(axis=(1, 2)) < PARAMS.kept * edge.sum()] = 0
    prior[1:] /= 2 * prior[1:].sum()
    for row, (h, left) in enumerate(grid):
        easy = np.minimum((told - guess) * scale / (1 - h + h * left), 0.98)
        for i in range(60):
            mine, right = easy[gold.item == i], gold.right[gold.item == i]
            each = [guess + mine * left_over / scale for left_over in (1, left)]
            prior[row] *= (1 - h, h) @ np.array([np.where(right == 1, p, 1 - p).prod() for p in each]) * 20
    share, hard = prior @ grid[:, 0] / prior.sum(), law.difficulty
    assert (hard.share, hard.left) == pytest.approx((share, prior @ grid.prod(axis=1) / prior.sum() / share), rel=1e-9)
    edges = np.stack([law.speech.right(m, *np.indices((3, 6))) for m in range(2)])
    np.testing.assert_allclose(np.tensordot(law.share, edges, 1), accuracy, atol=1e-9)


@pytest.mark.chance
@pytest.mark.parametrize(("workers", "items"), first_of([(200, 10), (20, 40), (6, 100)]))
def test_independent_workers_seldom_seem_to_err_together(workers, items):
    """Under independence a common discount is 20 times as likely in one crowd of 20 at most, on average (Markov).

    Of 30 crowds more than 6 are with chance .0001 at most. Where accuracies know the vote that they tell, all are.
    """
    seen = 0
    for seed in range(30):
        skill = rng(seed).choice([0.6, 0.8], workers)
        votes = GoldVotes.of((rng(seed + 100).random((items, workers)) < skill).astype(np.int64))
        loss = chosen_law(votes, law_fits.COINS).loss
        seen += (loss[INDEPENDENT] - loss[COMMON]) * items > np.log(20)
    assert seen <= 6


@pytest.mark.slow
@pytest.mark.parametrize("gold", [20, 50])
@pytest.mark.parametrize("name", PLANTED)
def test_from_little_gold_a_common_discount_is_no_worse(name, gold):
    """Twenty draws of gold, held to the planted law by enumeration: nats of the next item, and wrong answers.

    These are fewer times what the law claims than by independence, which costs as many nats or more.
    """
    true, nats, over = PLANTED[name], {}, {}
    every = ways(2, true.accuracy.shape[1])
    told = GoldVotes.of(every)
    golds = [GoldVotes.of(drawn(true, gold, seed)) for seed in range(20)]
    for fit in law_fits.COINS:
        laws = [FITS[fit](one) for one in golds]
        nats[fit] = -np.mean([np.exp(log_chances(true, told)) @ log_chances(law, told) for law in laws])
        claimed, realised = np.mean([set_errors(np.arange(every.shape[1]), law, true) for law in laws], axis=0)
        over[fit] = realised / claimed
    assert nats[COMMON] < nats[INDEPENDENT] + 0.02 and over[COMMON] < over[INDEPENDENT]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_laws_are_found_as_gold_grows(name):
    """20,000 items: the law, or one that is as good, is chosen, and chances come within .01 of the planted ones."""
    true = PLANTED[name]
    gold, every = drawn(true, 20_000, 3), GoldVotes.of(ways(2, true.accuracy.shape[1]))
    choice = chosen_law(GoldVotes.of(gold))
    assert choice.loss[name] < min(choice.loss.values()) + 1e-3 and (choice.law.name == PAIRWISE) >= (name == PAIRWISE)
    assert np.abs(np.exp(log_chances(choice.law, every)) - np.exp(log_chances(true, every))).max() < 0.01


def test_pairwise_law_is_the_mean_over_what_gold_leaves_open():
    """Two workers, so that all odds and couplings can be added up on a grid: of 61^3 points, with Jeffreys' prior.

    Information about odds and couplings has the determinant ``prod P(x)`` times a number, where all are free.
    """
    right, penalty = drawn(coupled(0.5), 80, 8)[:, :2], 10.0
    right[::4, 0] = -1
    axis, signs = np.linspace(-1.5, 3.5, 61), 2.0 * ways(2, 2) - 1
    b, c, j = (each.reshape(-1, 1) for each in np.meshgrid(axis, axis, axis, indexing="ij"))
    score = b * signs[:, 0] + c * signs[:, 1] + j * signs[:, 0] * signs[:, 1]
    chance = np.exp(score - np.logaddexp.reduce(score, axis=1, keepdims=True))
    seen = [((row < 0) | (row == ways(2, 2))).all(axis=1) for row in right]
    height = sum(np.log(chance @ one) for one in seen) + np.log(chance).sum(axis=1) / 2
    weight = np.exp(height - (PARAMS.soft * (b * b + c * c) + penalty * j * j)[:, 0] / 2 - height.max())
    law = np.exp(log_chances(law_fits.coupled_law(GoldVotes.of(right), penalty), GoldVotes.of(ways(2, 2))))
    np.testing.assert_allclose(law, weight @ chance / weight.sum(), atol=0.003)


def test_effective_votes_of_copies_and_of_independent_workers():
    """Four copies of one worker are one vote; four independent workers about four."""
    one = drawn(coupled(0.0), 2_000, 5)
    assert effective_votes(np.repeat(one[:, :1], 4, axis=1)).votes == pytest.approx(1, abs=1e-5)
    worth = effective_votes(one)
    assert worth.low <= worth.votes <= worth.high and worth.votes > 3.5


def campaign(folder, items: int, words: str):
    """Four judges with so many gold votes, coupled in pairs."""
    lay(folder, words, (f"t{i}" for i in range(30)), {f"w{j}": (30, None) for j in range(4)})
    write_table(folder / "groups.csv", "group,worker", "f,w0", "f,w1")
    right = drawn(coupled(1.0), items, 7).tolist()
    votes = (f"q{i},w{j},{vote},1" for i, row in enumerate(right) for j, vote in enumerate(row))
    write_table(folder / "gold.csv", "item,worker,label,truth", *votes)
    return folder


def test_campaign_with_coupled_gold_goes_through_the_whole_loop(tmp_path):
    """Fixed sets, a policy, verify, rehearse, answers, the next plan: all by the learned law, which explain prices."""
    panel = campaign(tmp_path / "panel", 300, "epsilon = 0.2\n[groups.f]\nmax_per_task = 2\n")
    instance = crowdopt.read_campaign(panel)
    law = instance.vote_law
    crowdopt.write_campaign(instance, tmp_path / "one.npz")
    kept = crowdopt.read_campaign(tmp_path / "one.npz").vote_law
    assert kept.name == law.name == PAIRWISE and (kept.ways(np.arange(4)) == law.ways(np.arange(4))).all()
    fixed = crowdopt.solve(panel, output=tmp_path / "fixed")
    assert crowdopt.verify(panel, tmp_path / "fixed").holds and "each-task" in fixed.note
    sets = {tuple(fixed.pairs[fixed.pairs[:, 0] == i, 1]) for i in range(30)}
    parts = [[coin(part[list(some)]) for part in law.accuracy] for some in sets]
    worst = max(least_error(joint(EVEN, *each, share=law.share)) for each in parts)
    assert f"err up to {100 * worst:.3g} %" in fixed.note
    plan = crowdopt.solve(panel, method=Adaptive(), output=tmp_path / "plan")
    assert plan.proven and law.name in plan.note and crowdopt.verify(panel, tmp_path / "plan").proven
    labels, answers = tmp_path / "labels.csv", tmp_path / "answers"
    crowdopt.rehearse(panel, tmp_path / "plan", output=labels, seed=1)
    crowdopt.aggregate(labels, plan=tmp_path / "plan", campaign=panel, output=answers)
    assert crowdopt.solve(answers / "campaign", method=Adaptive(), output=tmp_path / "next").found
    assert crowdopt.verify(answers / "campaign", tmp_path / "next").holds
    facts = crowdopt.explain(panel, tmp_path / "plan").facts["laws"]
    assert facts["chosen"] == law.name and len(facts["plans"]) == len(FITS)


@pytest.mark.parametrize("dependent", [False, True])
def test_fixed_sets_from_little_gold_heed_a_common_discount(tmp_path, dependent):
    """Families that err together have no exact errors on hard tasks, and are planned without."""
    words = f"epsilon = 0.4\n[groups.f]\nmax_per_task = 2\ndependent = {str(dependent).lower()}\n"
    instance = crowdopt.read_campaign(campaign(tmp_path / "panel", 40, words))
    assert bool(instance.difficulty.share) != dependent and PAIRWISE in instance.skills_source
