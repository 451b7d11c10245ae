"""Every verb on a campaign whose rule is no linear constraint: an answer, and each claim says of which rule it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import crowdopt
from crowdopt.crowd.vote_errors import exact_errors
from tests.typed import said

NAMED = "by rule bhattacharyya, which implies exact-error's promise"
SETS = "by exact errors, over the least sets of each task"
CLAIM = re.compile(r"costs less than|optimal|optimum|infeasible")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Eight tasks of one type, twenty workers, under exact-error."""
    folder = tmp_path_factory.mktemp("promise") / "campaign"
    crowdopt.write_campaign(replace(crowdopt.recipe("R1:8x20"), rule="exact-error"), folder)
    return folder


@pytest.mark.parametrize(
    "words", [("--program", "lp"), ("--program", "lp", "--method", "highs"), ("--method", "primal-approximation")]
)
def test_a_plan_by_sums_says_so_wherever_it_claims_something(campaign, tmp_path, words):
    """On the screen of solve and of verify no bound and no optimum stands without its rule."""
    told = said("solve", campaign, *words, "-o", tmp_path / "plan")
    assert NAMED in told
    told += said("verify", campaign, tmp_path / "plan")
    for line in told.splitlines():
        assert not CLAIM.search(line) or "by rule bhattacharyya" in line or "not claimed" in line, line


def test_backends_plans_are_held_against_exact_errors(campaign, tmp_path):
    """A plan of whole labels by a backend is one of the promise: it is checked and mended, and needs no other rule."""
    plan = crowdopt.solve(campaign, "highs", output=tmp_path / "plan")
    assert plan.instance.rule == "exact-error" and not plan.promise
    assert (exact_errors(plan.instance, plan.pairs)[0] <= plan.instance.epsilon + 1e-12).all()
    assert plan.objective == crowdopt.solve(campaign).objective


@pytest.mark.parametrize(
    ("program", "ending", "named"),
    [("ip", "dat", NAMED), ("ip", "mps", SETS), ("dual", "lp", NAMED), ("sampled:share=.5", "mps", NAMED)],
)
def test_an_exported_file_names_its_rule(campaign, tmp_path, program, ending, named):
    """In its first lines and on the screen; what is read back is the program of that rule, or of the promise itself."""
    file = tmp_path / f"program.{ending}"
    assert named in said("export", campaign, "--program", program, "-o", file)
    assert named in "".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:3])
    if named == SETS:
        value = crowdopt.certify(crowdopt.solve_program(crowdopt.read_program(file))).value
        assert value == pytest.approx(crowdopt.solve(campaign).objective)


@pytest.mark.usefixtures("undrawn")
def test_a_comparison_has_both_optima(campaign, tmp_path):
    """Policies go by the linear rule and its bound; the promise's optimum is the plan's, and stands beside by name."""
    told = said("compare", campaign, "--policies", "re-solve", "--trials", 1, "-o", tmp_path / "out")
    assert "no plan by rule bhattacharyya costs less than" in told
    facts = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    best, exact = facts["optimum"], crowdopt.solve(campaign)
    assert (best["rule"], best["promise"]) == ("bhattacharyya", "exact-error")
    assert best["promise_bound"] == best["promise_found"] == exact.objective < best["bound"]
    assert told.startswith(f"offline, skills known, no plan costs less than {exact.objective:g}\n")
    for line in facts["policies"]:
        assert line["ratio_promise"] == pytest.approx(line["cost"] / exact.objective)
        assert line["missed_share"] is not None
