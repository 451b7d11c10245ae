"""Budgets: greedy and its guarantee, bounds that hold for every plan, the fewest wrong answers, the best promise."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Options, recipe, solve_program, write_campaign
from crowdopt.assign import budget as greedy_spending
from crowdopt.assign.average import spending_on
from crowdopt.assign.problem import SCALE
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import breaches, exact_errors
from crowdopt.recheck.verification import verify
from crowdopt.verbs.budget import budget, promise, spend
from crowdopt.verbs.generate import init
from tests.checkers.plans import every_plan, priors
from tests.draw import campaigns
from tests.recheck.forged import Forged
from tests.sampled import first_of
from tests.typed import run, said

LIMITS = ["prices", "priors", "most-labels", "forbidden", "collected", "most-per-task", "fixed"]


@settings(max_examples=6)
@given(campaigns(7, ["mean-error"], LIMITS, spoiled=False, skills="each"), st.integers(0, 7))
def test_greedy_keeps_its_guarantee_and_sets_spend_best(instance: AssignmentInstance, money: int) -> None:
    """Against all plans: greedy has at least its share of the largest gain; no proven bound is above the least error.

    Sets have the fewest wrong answers of all plans, up to the gap asked for.
    """
    pairs = greedy_spending.spend(instance, money)
    assert not breaches(instance, pairs) and instance.prices(pairs).sum() <= money
    every = every_plan(replace(instance, rule="exact-error"), targets=False)  # whatever they err with
    plans = [np.argwhere(new) for cost, _, new in every if cost <= money]
    nothing, reached, *all_sums = (greedy_spending.surrogate(instance, p).sum() for p in (pairs[:0], pairs, *plans))
    exact = min(float(exact_errors(instance, pairs)[0].sum()) for pairs in plans)
    share = greedy_spending.guarantee(instance, money)
    assert reached >= min(all_sums) - 1e-9
    assert share is None or nothing - reached >= share * (nothing - min(all_sums)) - 1e-9
    work = spending_on(replace(instance, budget=money), solve_program, Options(), Clock(60.0))
    work.climbed()
    assert work.proven()[0] <= SCALE * (exact + 1e-7)
    try:
        spent = spend(instance, money, method="exact")
    except InputError as error:
        assert "of the answers wrong" in str(error) and exact >= priors(instance).min(axis=1).sum() - 1e-6
        return
    assert spent.wrong_bound <= exact + 1e-7 and spent.wrong == pytest.approx(exact, rel=2e-4)


def test_two_labels_are_no_better_than_one() -> None:
    """.7 for every worker and two labels a task: greedy gives each two, which errs like one; 1 and 3 err less."""
    instance = recipe("HS:1000x300")
    hand, best = spend(instance, 2000, method="greedy"), spend(instance, 2000)
    assert hand.wrong == pytest.approx(300) and hand.guarantee == 0.5
    assert best.method == "exact" and best.wrong == pytest.approx(258) and best.wrong_bound >= 257.9


@pytest.mark.parametrize("name", first_of(["R10", "HS", "B5", "U", "R1", "L3", "K3"]))
def test_money_is_spent_within_two_percent_of_its_bound(name: str) -> None:
    """Both figures are proven: the plan's exactly, the bound by prices."""
    spent = spend(recipe(f"{name}:60x60"), 120)
    assert spent.wrong_bound <= spent.wrong * (1 + 1e-9) <= 1.02 * spent.wrong_bound


def test_a_promise_to_each_task_meets_its_bound() -> None:
    """Bisection on the need ends within a percent of what the LP of smallest coverage allows."""
    found = promise(replace(recipe("R1:60x60"), rule="bhattacharyya"), 240, time_limit=120)
    assert found.least_epsilon <= found.epsilon <= 1.02 * found.least_epsilon


@pytest.mark.parametrize("seed", first_of(range(6)))
def test_the_smallest_error_for_each_task_is_that_of_every_choice_of_labels(seed: int) -> None:
    """Exact errors of tasks with priors of their own, as in a second round; the bound is within a percent, too."""
    rng = np.random.default_rng(seed)
    chance = rng.uniform(0.1, 0.9, 3)
    accuracy, prior = rng.uniform(0.6, 0.95, (1, 4)), np.column_stack([chance, 1 - chance])
    instance = AssignmentInstance(accuracy, [0, 0, 0], [2, 2, 2, 2], 0.1, prior=prior)
    best = min(kept.max() for cost, kept, _ in every_plan(instance, targets=False) if cost <= 4)
    found = promise(instance, 4, time_limit=20)
    assert found.epsilon is not None and 0.99 * best <= found.least_epsilon <= best + 1e-9
    assert best - 1e-9 <= found.epsilon <= 1.01 * best


def test_the_verb_writes_what_verify_accepts(tmp_path) -> None:
    """Both promises; more spent than said, or fewer wrong answers claimed, is caught."""
    write_campaign(recipe("L3:60x60"), tmp_path / "campaign")
    for words in (
        ["--labels", "100"],
        ["--money", "120", "--promise", "each", "--time-limit", "3"],
        ["--money", "90", "--method", "greedy"],
    ):
        facts = json.loads(said("budget", tmp_path / "campaign", *words, "--force", "-o", tmp_path / "plan", "--json"))
        report = verify(tmp_path / "campaign", tmp_path / "plan")
        assert report.holds and facts["cost"] <= float(words[1]), report.problems
    for k, change in enumerate(({"money": 80.0}, {"wrong": 1.0}, {"wrong_bound": 20.0}, {"wrong": None})):
        forged = Forged(tmp_path, tmp_path / f"{k}")
        assert forged.says(spending=forged.claims["spending"] | change).problems(), change


@pytest.mark.parametrize("promise_to", ["average", "each"])
def test_a_panel_s_budget_keeps_its_families(promise_to: str, tmp_path) -> None:
    """Money spent on judges of three families: the plan verifies, and each item has one judge of a family at most."""
    init(tmp_path / "c", panel=True)
    toml = tmp_path / "c" / "campaign.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("max_share = 0.5", "max_per_task = 1"), encoding="utf-8")
    found = budget(tmp_path / "c", money=100.0, promise=promise_to, output=tmp_path / "p", time_limit=20)
    assert found.plan.objective <= 100 and len(found.plan.instance.groups) == 4
    report = verify(tmp_path / "c", tmp_path / "p")
    assert report.holds, report.problems


REFUSED = [
    ({}, 0, r"0\.5 of the answers wrong"),
    ({"min_labels": np.full(20, 1)}, 10, "has too few labels"),
    ({"budget": 5.0}, 10, "own budget is 5"),
    ({"rule": "exact-error", "difficulty": (0.1, 0.5)}, 10, "are not known where tasks are hard"),
]


@pytest.mark.parametrize(("limits", "money", "sentence"), REFUSED)
def test_what_budgets_refuse(limits, money, sentence, tmp_path) -> None:
    """One sentence each."""
    with pytest.raises(InputError, match=sentence):
        spend(replace(recipe("HS:20x20"), **limits), money)
    write_campaign(recipe("HS:20x20"), tmp_path / "c")
    done = run("budget", tmp_path / "c", "-o", tmp_path / "p")
    assert done.exit_code == 2 and "--labels or --money" in done.output
