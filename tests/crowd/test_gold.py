"""Gold: skills and tables by it, gold that cannot be right, who errs together, what it leaves open of errors."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, dirichlet_multinomial

import crowdopt
from crowdopt import AssignmentInstance, InputError
from crowdopt.crowd import skills
from crowdopt.crowd.doubt import drawn_errors, left_open
from crowdopt.crowd.error_correlation import chances_of_common, error_correlation
from crowdopt.crowd.gold import Gold
from crowdopt.crowd.law import Law
from crowdopt.crowd.skills import FALSE_ALARM, STRENGTHS, against_chance, heed
from crowdopt.crowd.vote_errors import errors_by, exact_errors
from crowdopt.errors import GoldWarning
from crowdopt.io.settings import overridden
from crowdopt.verbs.generate import init
from tests.chance import fewest, most, rng, seeds
from tests.crowd.enumerated import coin, joint, vote_error
from tests.io import lay, write_table


@pytest.mark.parametrize(("correct", "asked"), [([3], [2]), ([-1], [2]), ([0.5], [2]), ([1, 2], [3]), ([0], [0])])
def test_impossible_tallies_are_refused(correct, asked):
    """More right than asked, negatives, fractions, other workers, no worker asked: no estimate comes out of these."""
    with pytest.raises(InputError):
        skills.averaged([correct], [asked])


@given(st.integers(2, 12), st.floats(0.05, 0.95))
def test_the_evidence_of_the_unbiased_is_unbiased_before_the_clip(s, p):
    """E (s q - 1)/(s - 1) = (2p - 1)^2 over the binomial law of the tally; whose side is kept."""
    c = np.arange(s + 1)
    raw = (s * (2 * c / s - 1) ** 2 - 1) / (s - 1)
    assert binom.pmf(c, s, p) @ raw == pytest.approx((2 * p - 1) ** 2)
    found = skills.unbiased([c], [np.full(s + 1, s)])[0]
    assert (2 * found - 1) ** 2 == pytest.approx(np.maximum(0, raw)) and ((found < 0.5) <= (2 * c < s)).all()
    assert np.isnan(skills.unbiased([[1, 0]], [[1, 0]])).all()  # of fewer than two questions


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 4))
def test_tables_from_gold_are_shares_drawn_to_the_crowds(seed, workers, classes):
    """Gold counts as it is, and the crowd's table as the number of labels under which it is likeliest."""
    draws = np.random.default_rng(seed)
    tallies = draws.multinomial(draws.integers(1, 30), draws.dirichlet(np.ones(classes), (workers, classes)))
    tallies[0] = 0
    found, crowd, logs = skills.confusions(tallies), tallies.sum(axis=0), np.zeros(STRENGTHS.size)
    table = found[0]  # of a worker without gold: the crowd's
    assert (np.abs(table * (crowd.sum(axis=1, keepdims=True) + 1) - crowd) <= 1).all()  # but for one label a class
    for j, k in np.argwhere(tallies.any(axis=2)):
        weights = STRENGTHS[:, None] * table[k]
        logs += dirichlet_multinomial(weights, tallies[j, k].sum()).logpmf(tallies[j, k])
    likeliest = STRENGTHS[logs > logs.max() - 1e-9]
    tables = [(tallies + a * table) / (tallies.sum(axis=2, keepdims=True) + a) for a in likeliest]
    assert any(np.allclose(found, one, rtol=1e-12) for one in tables)
    with pytest.raises(InputError, match="need gold"):
        skills.confusions(0 * tallies)


@given(
    st.lists(st.tuples(st.integers(0, 25), st.sampled_from([0, 1, 2, 9, 25])), min_size=1, max_size=12),
    st.integers(2, 4),
)
def test_tails_are_those_of_guessing_and_those_named_are_holms(pairs, classes):
    """Of each worker and of all together; a worker without gold is never below chance.

    Holm: the k-th smallest tail is held against alpha / (m - k + 1), and the first that fails ends it.
    """
    right, asked = np.minimum(*np.transpose(pairs)), np.transpose(pairs)[1]
    of_all, tails, low = against_chance(right, asked, classes)
    wanted = [binom.pmf(np.arange(c + 1), s, 1 / classes).sum() for c, s in zip(right, asked, strict=True)]
    assert tails == pytest.approx(wanted, rel=1e-9)
    assert of_all == pytest.approx(binom.cdf(right.sum(), asked.sum(), 1 / classes), rel=1e-9)
    known, named = np.count_nonzero(asked), []
    for worker in sorted(np.flatnonzero(asked), key=wanted.__getitem__):
        if wanted[worker] > FALSE_ALARM / 2 / (known - len(named)):
            break
        named.append(worker)
    assert sorted(low) == sorted(named)


def test_what_is_said_of_gold():
    """What, where and the test's figure, at the line of the user; of gold that is right, nothing."""
    names, honest = "abcdefghij", [16] * 9
    with pytest.warns(GoldWarning, match=r"1 of 10 worker\(s\) got fewer .*: j 0 of 20 \(9.5e-07\); their") as caught:
        crowdopt.skills({"worker": [*names], "correct": [*honest, 0], "asked": [20] * 10})
    assert caught[0].filename == __file__
    with pytest.warns(GoldWarning, match="10 of 20 gold answers are right, where guessing gets 10"):
        heed([10], [20], 2, names, "gold.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heed(honest, [20] * 9, 2, names, "gold.csv")
        skills.tell_missing(np.full((2, 9), 20), names, "gold.csv")


def test_gold_turned_round_is_refused_and_goes_on_where_it_is_trusted(tmp_path):
    """By every verb that decides; what only looks back at a plan does not ask again, nor a campaign that trusts."""
    folder, made = tmp_path / "birds", tmp_path / "made"
    init(folder)
    head, *rows = (folder / "gold.csv").read_text(encoding="utf-8").split()
    cells = [row.split(",") for row in rows]
    write_table(folder / "gold.csv", head, *(f"{worker},{kind},{int(s) - int(c)},{s}" for worker, kind, c, s in cells))
    task, worker = (place.ravel() for place in np.indices((60, 8)))
    right = (task + worker) % 5 == 0
    labels = {"task": task, "worker": worker, "label": task % 2 ^ ~right & 1}
    truth, correct = {"task": np.arange(60), "label": np.arange(60) % 2}, np.bincount(worker, right)
    for verb, *tables in (
        *((verb, folder) for verb in (crowdopt.solve, crowdopt.explain, crowdopt.read_campaign)),
        *((crowdopt.import_labels, labels, truth), (crowdopt.select, correct.astype(int), 60)),
    ):
        with pytest.raises(InputError, match=r"gold answers are right, .* labels and truth do not fit each other"):
            verb(*tables)
    assert crowdopt.solve(folder, trust_gold=True, output=tmp_path / "plan").found
    assert crowdopt.verify(folder, tmp_path / "plan").holds
    assert crowdopt.select(correct.astype(int), 60, trust_gold=True).found
    crowdopt.import_labels(labels, truth, output=made, trust_gold=True)
    assert crowdopt.read_campaign(made).n_workers == 8


def cribs(seed: int) -> np.ndarray:
    """Errors on 400 tasks of six workers: all err with .2, and the first three copy a crib with probability .7."""
    draws = np.random.default_rng(seed)
    wrong = draws.random((400, 6)) < 0.2
    crib, copies = draws.random(400) < 0.2, draws.random((400, 3)) < 0.7
    wrong[:, :3] = np.where(copies, crib[:, None], wrong[:, :3])
    return wrong


@pytest.mark.chance
def test_a_crib_is_found_and_its_users_suggested_as_a_family():
    """Copies with probability .7 correlate by .49; three such are worth about 1.5 votes.

    Crowds are independent. In 95 of 100 or more the three are a family and their votes are near that number; the first
    pair's interval has .49 in it in 70 of 100 or more (of 1000 in 83: Fisher's transform is of normal errors). One in
    twenty at most has another pair that is warned about.
    """
    trials, seen = 40, np.zeros(4, int)
    for seed in seeds(trials):
        wrong = cribs(seed)
        found = error_correlation(*(place.ravel() for place in (*np.indices(wrong.shape), wrong)), 6)
        inside = (found.first < 3) & (found.second < 3)
        family = found.warned[inside].all() and found.family.tolist()[:3] == [0, 0, 0]
        near = abs(found.effective_votes([0, 1, 2]) - 3 / (1 + 2 * 0.49)) < 0.25
        seen += [family, near, found.low[0] < 0.49 < found.high[0], found.warned[~inside].any()]
    assert (seen[:3] >= [fewest(trials, 0.95), fewest(trials, 0.95), fewest(trials, 0.7)]).all()
    assert seen[3] <= most(trials, 0.05)


def test_the_chance_of_common_errors_is_that_of_all_orders():
    """Two types of four and five tasks: of all ways to lay the second worker's errors out, type by type."""
    first, seen = [(1, 1, 0, 0), (1, 1, 1, 0, 0)], [(1, 0, 1, 0), (1, 1, 0, 1, 0)]
    sums = [[np.dot(a, b) for b in set(permutations(other))] for a, other in zip(first, seen, strict=True)]
    ways = np.add.outer(*sums).ravel()
    errors = [[[sum(row)] for row in rows] for rows in (first, seen)]
    for common in range(6):
        wanted = (ways >= common).mean() if common > 2 * 2 / 4 + 3 * 3 / 5 else 1.0
        assert chances_of_common([common], [[4], [5]], errors) == pytest.approx(wanted, abs=1e-12)


def test_within_types_it_is_the_correlation_of_what_is_left_of_errors():
    """Of errors less each worker's share in the type: that every sixth task is hard for all is no dependence.

    Of pairs that share eight tasks nothing is said.
    """
    wrong, (task, worker) = cribs(0), np.indices((400, 6)).reshape(2, -1)
    wrong[1::6] = True
    found = error_correlation(task, worker, wrong.ravel(), 6, kind=task % 2)
    left = wrong.astype(float)
    for type_ in range(2):
        left[type_::2] -= left[type_::2].mean(axis=0)
    assert found.correlation == pytest.approx(np.corrcoef(left.T)[found.first, found.second], abs=1e-12)
    assert error_correlation(task[:48], worker[:48], wrong[:8].ravel(), 6).first.size == 0


SHARES = {0.95: "19 of 20", 0.6: "3 of 5", 0.85: "17 of 20", 0.99: "99 of 100"}


def campaign(skill: np.ndarray, gold: int, epsilon: float, draws: np.random.Generator, classes: int = 2):
    """Five tasks for all workers, with skills as so much gold tells them."""
    known = Gold(draws.binomial(gold, skill)[None], np.full((1, skill.size), gold), "gold", classes)
    told = known.told(1, "").accuracy
    return AssignmentInstance(told, np.zeros(5, int), 5, epsilon, classes=classes).as_read(known)


@pytest.mark.parametrize("hard", [0.0, 0.3])
def test_votes_under_another_law_err_as_enumeration_says(hard):
    """Two classes: all ways to vote, weighed by the campaign's skills, with chances of the law's."""
    draws = rng()
    instance = AssignmentInstance(draws.uniform(0.55, 0.95, (1, 6)), np.zeros(3, int), 3, 0.2, prior=[0.6, 0.4])
    true = draws.uniform(0.4, 0.95, (1, 6))
    law = Law.coins(true, 2, crowdopt.crowd.law.Difficulty(hard, 0.4))
    pairs = np.array([(i, j) for i, hand in enumerate([(0, 1, 2), (1, 3, 4, 5), (2,)]) for j in hand])
    for task, error in zip(range(3), errors_by(instance, law, np.arange(3), pairs), strict=True):
        hand = pairs[pairs[:, 0] == task, 1]
        parts = [coin(law.speech.right(part, 0, hand)) for part in range(law.share.size)]
        chance = joint([0.6, 0.4], *parts, share=law.share)
        assert error == pytest.approx(vote_error(chance, instance.weight[0, hand], np.log([0.6, 0.4])), abs=1e-9)


@pytest.mark.chance
@pytest.mark.parametrize("by_table", [False, True])
def test_votes_of_more_classes_are_simulated_as_they_err(by_table):
    """Under its own law a vote errs as exactly computed; of tables, as all ways to label say."""
    draws, tasks = rng(), 400
    instance = AssignmentInstance(draws.uniform(0.5, 0.9, (1, 4)), np.zeros(tasks, int), tasks, 0.2, classes=3)
    if by_table:
        tables = draws.dirichlet(np.ones(3), (1, 4, 3)) * 0.4 + 0.6 * np.eye(3)
        instance = replace(instance, rule="bhattacharyya").with_confusion(tables)
    pairs = np.array([(i, j) for i in range(tasks) for j in range(4)])
    found = errors_by(instance, instance.law, np.arange(tasks), pairs)
    true = instance.law.error(np.arange(4), instance.prior)
    assert abs(found.mean() - true) < 5 * np.sqrt(true * (1 - true) / (tasks * 50))


@pytest.mark.parametrize("classes", [2, 3])
def test_gold_by_class_leaves_open_what_tables_do(tmp_path, classes):
    """Of two classes as of three: the plan has the line, and verify the same."""
    names, folder = "abc"[:classes], by_gold(tmp_path / "c", 4, range(6))
    answers = [(f"w{j}", k, y, 9 if k == y else 1) for j in range(6) for k in names for y in names]
    write_table(folder / "gold.csv", "worker,true,answered,count", *(",".join(map(str, row)) for row in answers))
    plan = crowdopt.solve(folder, output=tmp_path / "plan")
    assert 0 < plan.left_open.mean < plan.left_open.high < 0.5
    assert crowdopt.verify(folder, tmp_path / "plan").holds


@pytest.mark.parametrize("changes", [{}, {"difficulty": {"share": 0.3, "left": 0.2}}])
def test_much_gold_leaves_nothing_open(changes):
    """A million answers each: errors are those that the plan computes, with skills as they are on easy tasks too."""
    instance = overridden(campaign(np.array([0.9, 0.8, 0.7, 0.7, 0.6]), 10**6, 0.1, rng()), changes)
    pairs = np.array([(i, j) for i in range(5) for j in range(5)])
    known, exact = left_open(instance, pairs), exact_errors(instance, pairs)[0].mean()
    assert known.mean == pytest.approx(exact, rel=0.02) and known.high == pytest.approx(exact, rel=0.05)
    assert (known.fewest, known.most, known.share) == (10**6, 10**6, 0.95)
    assert all(f" % in {of} crowds" in str(known._replace(share=share)) for share, of in SHARES.items())


@pytest.mark.chance
def test_crowds_stay_below_the_high_figure_as_often_as_it_says():
    """Of crowds like those that a prior of the average describes: mean errors by true skills, of plans of the best."""
    trials, below, gold = 75, 0, 8
    for seed in seeds(trials):
        draws = np.random.default_rng([seed, gold])
        low, high = np.sort(draws.uniform(0.5, 1.0, 2))
        skill = draws.uniform(low, high, 12)
        instance = campaign(skill, gold, 0.2, draws)
        best = np.argsort(-instance.accuracy[0], kind="stable")[:3]
        pairs = np.column_stack([np.repeat(np.arange(5), 3), np.tile(best, 5)])
        true = errors_by(instance, Law.coins(skill[None]), np.arange(5), pairs).mean()
        below += true <= left_open(instance, pairs, 0.9).high
    assert below >= fewest(trials, 0.9)


def by_gold(folder, tasks, rights, settings="epsilon = 0.2", asked=20):
    """A campaign whose workers label all tasks, and had so many gold answers right."""
    lay(folder, settings, (f"t{i}" for i in range(tasks)), {f"w{j}": (tasks, None) for j in range(len(rights))})
    write_table(folder / "gold.csv", "worker,correct,asked", *(f"w{j},{c},{asked}" for j, c in enumerate(rights)))
    return folder


def test_it_is_said_by_the_plan_and_recomputed_by_verify(tmp_path):
    """The line is in plan.json; another one does not pass; skills that gold did not tell have none."""
    folder = by_gold(tmp_path / "c", 6, range(16, 10, -1))
    plan = crowdopt.solve(folder, output=tmp_path / "plan")
    assert str(plan.left_open).startswith("with 20 gold answers a worker")
    assert crowdopt.verify(folder, tmp_path / "plan").holds
    text = (tmp_path / "plan" / "plan.json").read_text(encoding="utf-8")
    forged = text.replace(f'"high": {plan.left_open.high!r}', '"high": 0.01')
    (tmp_path / "plan" / "plan.json").write_text(forged, encoding="utf-8")
    assert forged != text and any("left_open" in one for one in crowdopt.verify(folder, tmp_path / "plan").problems)
    given = replace(plan.instance, accuracy=plan.instance.accuracy + 0.01)
    assert drawn_errors(given, plan.pairs) is None


@pytest.mark.parametrize("share", [0.3, 0.999999, "0.95", None])
def test_verify_takes_no_share_that_draws_cannot_tell(tmp_path, share):
    """Whatever figures stand beside it: the most of 100 draws is no limit for all but one of a million crowds."""
    folder = by_gold(tmp_path / "c", 1, range(16, 10, -1))
    plan = crowdopt.solve(folder, output=tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    honest = left_open(plan.instance, plan.pairs, share).facts if isinstance(share, float) else {}
    path.write_text(json.dumps(facts | {"left_open": facts["left_open"] | honest | {"share": share}}), encoding="utf-8")
    (problem,) = crowdopt.verify(folder, tmp_path / "plan").problems
    assert "left_open says" in problem and "but it is not known" in problem


def test_a_confidence_lowers_targets_until_the_plan_keeps_them_so_often(tmp_path):
    """The plan is the campaign's for lower targets, which it records; where it cannot be, that is said."""
    folder = by_gold(tmp_path / "c", 6, [16, 15, 14] * 3)
    usual = crowdopt.solve(folder)
    sure = crowdopt.solve(folder, confidence=0.95, output=tmp_path / "plan")
    assert usual.left_open.high > 0.2 >= sure.left_open.high and sure.is_sure
    assert sure.objective > usual.objective and sure.instance.one_target < 0.2
    assert crowdopt.verify(folder, tmp_path / "plan").overrides == {"epsilon": sure.instance.one_target}
    unsure = crowdopt.solve(by_gold(tmp_path / "few", 1, [8] * 3, asked=10), confidence=0.99)
    assert unsure.found and not unsure.is_sure and "more gold would help" in unsure.note
    with pytest.raises(InputError, match="confidence must lie between"):
        crowdopt.solve(folder, confidence=1.5)
    with pytest.raises(InputError, match="a confidence needs skills that rest on gold"):
        crowdopt.solve(replace(usual.instance, origin=None), confidence=0.9)
    told = by_gold(tmp_path / "told", 1, [16], "epsilon = 0.2\nprior = { no = 0.1, yes = 0.9 }")  # rests on no skill
    empty = crowdopt.solve(told, confidence=0.9, output=tmp_path / "empty")
    assert empty.found and empty.labels == 0 and crowdopt.verify(told, tmp_path / "empty").holds
