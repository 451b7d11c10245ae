"""What gold leaves open of a plan's errors: votes under another law than they are weighed by, over drawn skills."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, InputError
from crowdopt.crowd.doubt import LeftOpen, drawn_errors, left_open
from crowdopt.crowd.gold import Gold
from crowdopt.crowd.law import Law
from crowdopt.crowd.vote_errors import errors_by, exact_errors
from crowdopt.io.settings import overridden
from tests.chance import fewest, rng, seeds
from tests.io import lay, write_table


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
        hand, wrong = pairs[pairs[:, 0] == task, 1], 0.0
        for votes in product((0, 1), repeat=hand.size):
            score = np.log(0.4 / 0.6) + (np.where(votes, 1, -1) * instance.weight[0, hand]).sum()
            for truth, chance in enumerate((0.6, 0.4)):
                for part, share in enumerate(law.share):
                    right = law.speech.right(part, 0, hand)
                    told = np.where(np.array(votes) == truth, right, 1 - right).prod()
                    wrong += chance * share * told * ((score > 0) != truth)
        assert error == pytest.approx(wrong, abs=1e-9)


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
    names, tasks = "abc"[:classes], (f"t{i}" for i in range(4))
    folder = lay(tmp_path / "c", "epsilon = 0.2", tasks, {f"w{j}": (4, None) for j in range(6)})
    answers = [(f"w{j}", k, y, 9 if k == y else 1) for j in range(6) for k in names for y in names]
    write_table(folder / "gold.csv", "worker,true,answered,count", *(",".join(map(str, row)) for row in answers))
    plan = crowdopt.solve(folder, output=tmp_path / "plan")
    assert 0 < plan.left_open.mean < plan.left_open.high < 0.5
    assert crowdopt.verify(folder, tmp_path / "plan").holds


def test_an_empty_plan_keeps_any_confidence(tmp_path):
    """What the prior tells well enough rests on no skill."""
    text = "epsilon = 0.2\nprior = { no = 0.1, yes = 0.9 }"
    folder = lay(tmp_path / "c", text, ["t0"], {"w0": (1, None)})
    write_table(folder / "gold.csv", "worker,correct,asked", "w0,16,20")
    plan = crowdopt.solve(folder, confidence=0.9, output=tmp_path / "plan")
    assert plan.found and plan.labels == 0 and crowdopt.verify(folder, tmp_path / "plan").holds


def test_much_gold_leaves_nothing_open():
    """A million answers each: errors are those that the plan computes."""
    instance = campaign(np.array([0.9, 0.8, 0.7, 0.7, 0.6]), 10**6, 0.1, rng())
    plan = crowdopt.solve(instance)
    known, exact = left_open(instance, plan.pairs), exact_errors(instance, plan.pairs)[0].mean()
    assert known.mean == pytest.approx(exact, rel=0.02) and known.high == pytest.approx(exact, rel=0.05)
    assert (known.fewest, known.most, known.share) == (10**6, 10**6, 0.95)


def test_much_gold_leaves_nothing_open_where_skills_are_those_on_easy_tasks():
    """A difficulty in place of the campaign's: gold's skills count as they are on easy tasks, in each draw as well."""
    instance = campaign(np.array([0.9, 0.8, 0.7, 0.7, 0.6]), 10**6, 0.1, rng())
    stated = overridden(instance, {"difficulty": {"share": 0.3, "left": 0.2}})
    pairs = np.array([(i, j) for i in range(5) for j in range(5)])
    known, exact = left_open(stated, pairs), exact_errors(stated, pairs)[0].mean()
    assert known.mean == pytest.approx(exact, rel=0.02)


@pytest.mark.chance
def test_crowds_stay_below_the_high_figure_as_often_as_it_says():
    """Of crowds like those that a prior of the average describes: mean errors by true skills, of plans of the best."""
    trials, below, gold = 150, 0, 8
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


def test_it_is_said_by_the_plan_and_recomputed_by_verify(tmp_path):
    """The line is in plan.json; another one does not pass; skills that gold did not tell have none."""
    tasks, workers = (f"t{i}" for i in range(6)), {f"w{j}": (6, None) for j in range(6)}
    folder = lay(tmp_path / "c", "epsilon = 0.2", tasks, workers)
    write_table(folder / "gold.csv", "worker,correct,asked", *(f"w{j},{16 - j},20" for j in range(6)))
    plan = crowdopt.solve(folder, output=tmp_path / "plan")
    assert str(plan.left_open).startswith("with 20 gold answers a worker")
    assert crowdopt.verify(folder, tmp_path / "plan").holds
    text = (tmp_path / "plan" / "plan.json").read_text(encoding="utf-8")
    forged = text.replace(f'"high": {plan.left_open.high!r}', '"high": 0.01')
    (tmp_path / "plan" / "plan.json").write_text(forged, encoding="utf-8")
    assert forged != text and any("left_open" in one for one in crowdopt.verify(folder, tmp_path / "plan").problems)
    given = replace(plan.instance, accuracy=plan.instance.accuracy + 0.01)
    assert drawn_errors(given, plan.pairs) is None


@pytest.mark.parametrize(
    ("share", "of"), [(0.95, "19 of 20"), (0.6, "3 of 5"), (0.85, "17 of 20"), (0.99, "99 of 100")]
)
def test_a_share_of_crowds_is_said_as_it_is(share, of):
    """Where it is no such share as 19 of 20, too."""
    assert f" % in {of} crowds" in str(LeftOpen(20, 20, 0.04, 0.06, share))


@pytest.mark.parametrize("share", [0.3, 0.999999, "0.95", None])
def test_verify_takes_no_share_that_draws_cannot_tell(tmp_path, share):
    """Whatever figures stand beside it: the most of 100 draws is no limit for all but one of a million crowds."""
    folder = lay(tmp_path / "c", "epsilon = 0.2", ["t0"], {f"w{j}": (1, None) for j in range(6)})
    write_table(folder / "gold.csv", "worker,correct,asked", *(f"w{j},{16 - j},20" for j in range(6)))
    plan = crowdopt.solve(folder, output=tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    honest = left_open(plan.instance, plan.pairs, share).facts if isinstance(share, float) else {}
    path.write_text(json.dumps(facts | {"left_open": facts["left_open"] | honest | {"share": share}}), encoding="utf-8")
    (problem,) = crowdopt.verify(folder, tmp_path / "plan").problems
    assert "left_open says" in problem and "but it is not known" in problem


def test_a_confidence_lowers_targets_until_the_plan_keeps_them_so_often(tmp_path):
    """The plan is the campaign's for lower targets, which it records; where it cannot be, that is said."""
    folder = lay(tmp_path / "c", "epsilon = 0.2", (f"t{i}" for i in range(6)), {f"w{j}": (6, None) for j in range(9)})
    write_table(folder / "gold.csv", "worker,correct,asked", *(f"w{j},{16 - j % 3},20" for j in range(9)))
    usual = crowdopt.solve(folder)
    sure = crowdopt.solve(folder, confidence=0.95, output=tmp_path / "plan")
    assert usual.left_open.high > 0.2 >= sure.left_open.high and sure.is_sure
    assert sure.objective > usual.objective and sure.instance.one_target < 0.2
    assert crowdopt.verify(folder, tmp_path / "plan").overrides == {"epsilon": sure.instance.one_target}
    few = lay(tmp_path / "few", "epsilon = 0.2", ["t0"], {f"w{j}": (1, None) for j in range(3)})
    write_table(few / "gold.csv", "worker,correct,asked", *(f"w{j},8,10" for j in range(3)))
    unsure = crowdopt.solve(few, confidence=0.99)
    assert unsure.found and not unsure.is_sure and "more gold would help" in unsure.note
    with pytest.raises(InputError, match="confidence must lie between"):
        crowdopt.solve(folder, confidence=1.5)
    with pytest.raises(InputError, match="a confidence needs skills that rest on gold"):
        crowdopt.solve(replace(usual.instance, origin=None), confidence=0.9)
