"""solve --method auto: exactly one row of the package's decision holds, the plan says which, and others step in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt.backends import registered
from crowdopt.bench.figures import advice
from crowdopt.bench.figures.traits import Condition
from crowdopt.bench.harness.ours import OWN
from crowdopt.cli import main
from crowdopt.io.campaign.campaign_writing import write_campaign

MADE = {"date": "2026-11-22", "instances": 9, "seconds": 10.0}
ROWS = [
    {"when": "at most 900", "conditions": [["pairs", False, 900.0]], "use": ["highs", "exact"], "instances": 4},
    {"when": "more than 900", "conditions": [["pairs", True, 900.0]], "use": ["exact"], "instances": 5},
]


@pytest.fixture()
def two_rows(monkeypatch):
    monkeypatch.setattr(advice, "stored", lambda: {"version": 1, "made": MADE, "rows": ROWS})


def test_the_packages_decision_has_one_row_for_every_instance():
    """Made by a command; whatever the traits are, one row and only one holds, and names methods that there are."""
    rows = advice.stored()["rows"]
    rng = np.random.default_rng(0)
    traits = np.column_stack([rng.integers(0, 2, 500), 10 ** rng.uniform(0, 11, 500), 10 ** rng.uniform(0, 6, 500),
                              rng.integers(0, 2, 500), rng.integers(0, 2, 500)])  # fmt: skip
    held = [
        np.logical_and.reduce([Condition(*one).holds(traits) for one in row["conditions"]] or [True]) for row in rows
    ]
    assert (np.sum([np.broadcast_to(some, 500) for some in held], axis=0) == 1).all()
    assert all(row["use"] and set(row["use"]) <= {*OWN, *registered()} for row in rows)


def test_auto_is_the_rows_method_and_the_plan_says_so(two_rows, tmp_path):
    """The same plan as by the method itself, with a note; without --method nothing is said and nothing changes."""
    small, large = crowdopt.recipe("R1:8x20"), crowdopt.recipe("R1:50x20")
    plan = crowdopt.assign(small, "auto")
    assert np.array_equal(plan.pairs, crowdopt.assign(small, "highs").pairs)
    assert plan.method == "highs" and "row 1" in plan.note and "4 of 9 programs, 10 s each" in plan.note
    assert "method exact, by row 2" in crowdopt.assign(large, "auto").note
    assert crowdopt.assign(small).note == ""
    write_campaign(small, tmp_path / "c")
    done = CliRunner().invoke(main, ["solve", str(tmp_path / "c"), "--method", "auto", "-o", str(tmp_path / "p")])
    assert done.exit_code == 0 and done.output.startswith("method highs, by row 1 of the decision table")


def test_what_is_not_installed_or_was_not_measured(two_rows, monkeypatch):
    """The next method of the row steps in; rules that are no linear programs go to exact, which says why."""
    small = crowdopt.recipe("R1:8x20")
    monkeypatch.setattr(advice, "is_installed", lambda method: method != "highs")
    found = advice.advised(small, "ip")
    assert found.method == "exact" and found.why.endswith("highs is not installed)")
    found = advice.advised(replace(small, rule="exact-error"), "ip")
    assert found.method == "exact" and "not among the measurements" in found.why
