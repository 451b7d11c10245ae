"""Shares of labels: rules that count votes of whole labels promise nothing there, and verify says so."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, budget, solve, verify, write_campaign, write_plan
from crowdopt.assign.plan import Plan
from crowdopt.core.certificate import Certificate

TWO = AssignmentInstance(np.full((1, 2), 0.8), np.zeros(1, np.int64), np.ones(2, np.int64), 0.12, rule="exact-error")
UNKNOWN = Certificate(None, -np.inf, "none", None, None)


def shares_of(instance, pairs, amounts, place):
    """A campaign, and a folder of shares for it."""
    plan = Plan.of(instance, "lp", UNKNOWN, -np.inf, None, pairs, amounts, method="exact", backend="highs")
    write_campaign(instance, place / "campaign")
    write_plan(plan, place / "plan")
    return place / "campaign", place / "plan"


@pytest.mark.parametrize("amount", [1.0, 0.9])
def test_shares_keep_no_exact_error(amount, tmp_path):
    """Two labels that err with .2 do not hold for .12 because a column calls them shares."""
    pairs = np.array([[0, 0], [0, 1]])
    assert not verify(*shares_of(TWO, pairs, np.full(2, amount), tmp_path)).holds


def test_no_labels_at_all_are_no_average(tmp_path):
    """A plan of no labels is not optimal under mean-error because its program is called lp."""
    instance = replace(TWO, rule="mean-error")
    report = verify(*shares_of(instance, np.zeros((0, 2), np.int64), np.zeros(0), tmp_path))
    assert not report.holds and not report.proven


def test_shares_of_nothing_spend_nothing_well(tmp_path):
    """What a plan of money expects to be wrong counts whole labels: shares of 0 of them are none."""
    spent = budget(replace(TWO, rule="bhattacharyya"), money=1.0)
    write_campaign(TWO, tmp_path / "campaign")
    write_plan(spent.plan, tmp_path / "plan")
    path = tmp_path / "plan" / "assignment.csv"
    rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([rows[0] + ",value", *(row + ",0" for row in rows[1:])]) + "\n", encoding="utf-8")
    claims = json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))
    claims |= {"program": "lp", "objective": 0.0, "cost": 0.0, "labels": 0.0}
    (tmp_path / "plan" / "plan.json").write_text(json.dumps(claims), encoding="utf-8")
    problems = verify(tmp_path / "campaign", tmp_path / "plan").problems
    assert any("spending is about whole labels" in problem for problem in problems)
    assert any("shares of labels" in problem for problem in problems)


def test_a_repair_of_shares_is_none(tmp_path):
    """Algorithm 1 takes whole labels: what plan.json says of its repair is refused beside shares."""
    instance = replace(TWO, rule="bhattacharyya", epsilon=np.full(1, 0.45))
    campaign, folder = tmp_path / "campaign", tmp_path / "plan"
    write_campaign(instance, campaign)
    write_plan(solve(instance, program="lp"), folder)
    assert verify(campaign, folder).holds
    claims = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    claims["repaired"] = {"labels": 99, "short": 0, "lacking": 0.0}
    (folder / "plan.json").write_text(json.dumps(claims), encoding="utf-8")
    assert not verify(campaign, folder).holds
