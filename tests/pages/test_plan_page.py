"""The pages of a plan and of an explanation: what stands in the folders, at a glance."""

from __future__ import annotations

import json
from html import unescape

import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists, none, one_of

import crowdopt
from crowdopt.io.policy import plan_overview
from crowdopt.io.samples import write_sample
from crowdopt.notebooks import number
from crowdopt.verbs.explain import CostOfRounds, at_most
from tests.typed import rows

pytestmark = pytest.mark.usefixtures("sketched")


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans") / "birds"
    write_sample(folder)
    return folder


MADE = {
    "shares": {"program": "lp", "rule": "bhattacharyya"},
    "whole": {"epsilon": 0.2, "time_limit": 10, "gap": 0.2},
}


@pytest.mark.parametrize("kind", MADE)
def test_every_kind_of_plan_has_a_page(birds, tmp_path, kind):
    """Costs, the proof's sentence, each task with its workers, each worker with the load: nothing but the folder's."""
    plan = crowdopt.solve(birds, **MADE[kind], output=tmp_path / "plan")
    page = crowdopt.report(tmp_path / "plan").read_text(encoding="utf-8")
    text = unescape(page)
    claims = json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert f"cost {number(claims['cost'])}." in text and claims["rule"] in text
    rule = "" if claims["rule"] == "exact-error" else f" by rule {claims['rule']}"
    assert (f"Proven optimal{rule}:" in text) == claims["proven"]
    assert "Feasible" in text or f"no plan{rule} costs less" in text
    assert page.count('class="chart"') in (3, 4)  # a sentence where every task gets equally many labels
    for name in ("task", "worker"):
        table = rows(tmp_path / "plan" / f"{name}s.csv")
        assert all(f"<td>{row[name]}</td>" in page for row in table)
    assert ("in place of what the campaign says" in text) == bool(claims.get("in_place_of_campaign"))
    assert str(plan.instance.n_tasks) in text


def test_a_page_of_many_tasks_stays_small(tmp_path):
    """Below 100 kB: so many tasks are listed, and figures are of all."""
    one = crowdopt.recipe("R1:1500x400", seed=0)
    plan = crowdopt.solve(one, rule="bhattacharyya", gap=0.05, output=tmp_path / "plan")
    facts = plan_overview(tmp_path / "plan")
    assert sum(row["tasks"] * row["labels"] for row in facts["labels_per_task"]) == plan.labels
    assert sum(row["workers"] for row in facts["use_of_capacity"]) == (one.capacity > 0).sum()
    page = crowdopt.report(tmp_path / "plan")
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 100_000 and "of 1500; all are in tasks.csv." in text
    assert "Use of capacities" in text and "Who labels what" not in text


def test_an_explanation_has_a_page(birds, tmp_path):
    """Every sentence of it, a picture of what targets cost, prices of tasks and values of workers."""
    found = crowdopt.explain(birds, time_limit=10, output=tmp_path / "why")
    page = crowdopt.report(tmp_path / "why").read_text(encoding="utf-8")
    text = unescape(page)
    assert all(sentence[:1].upper() + sentence[1:] in text for sentence in found.sentences)
    assert page.count('class="chart"') == 1 and "What one more task costs" in text
    assert all(f"<td>{row['worker']}</td>" in page for row in rows(tmp_path / "why" / "workers.csv"))


@given(lists(lists(one_of(none(), floats(1, 9)), min_size=5, max_size=5), min_size=1, max_size=3))
def test_more_rounds_never_cost_more(costs):
    """What is shown of a number of rounds is the best plan of at most so many, and a bound of all of more."""
    table = [
        CostOfRounds(many, factor, cost, 1.0 if cost is None else cost, 0.5 * (cost or 1.0))
        for factor, row in enumerate(costs)
        for many, cost in enumerate(row)
    ]
    for one in at_most(sorted(table, key=lambda one: one.rounds)):
        known = [other.cost for other in table if other.factor == one.factor and other.rounds <= one.rounds]
        assert one.cost == min((cost for cost in known if cost is not None), default=None)
        later = [other.bound for other in table if other.factor == one.factor and other.rounds >= one.rounds]
        assert one.bound == max(later)
