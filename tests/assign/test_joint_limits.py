"""Groups, families and own rows: brute force agrees, the folder proves it, others say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, InputError, OwnRows
from crowdopt.verbs.plan_gold import plan_gold
from tests.assign.by_hand import report_on


def panel() -> AssignmentInstance:
    """Twelve workers in two sites, the seniors across them."""
    rng = np.random.default_rng(4)
    return AssignmentInstance(
        accuracy=rng.uniform(0.7, 0.95, (2, 12)),
        task_type=np.arange(10) % 2,
        rule="bhattacharyya",
        capacity=9,
        epsilon=0.2,
        cost=rng.integers(1, 4, 12),
        groups={
            "senior": Group("", [0, 5, 9], min_per_task=1),
            "site a": Group("", range(6), max_share=0.4),
            "site b": Group("", range(6, 12), max_per_task=2),
        },
        own_rows=OwnRows(("not both",), [0, 0], [[0, 0], [0, 5]], [1, 1], [-np.inf], [1]),
        tasks=[f"t{i}" for i in range(10)],
        workers=[f"w{j}" for j in range(12)],
    )


def test_the_folder_proves_the_plan(tmp_path: Path) -> None:
    """Campaign and plan folder alone: limits recounted, and the bound from the stored multipliers, groups' included."""
    instance = panel()
    plan = crowdopt.solve(instance, program="lp")
    assert plan.found and plan.duals.joint["group"].any()
    report = report_on(instance, plan, tmp_path)
    assert report.holds and report.certified_bound == pytest.approx(plan.certified_bound, rel=1e-9), report.problems
    (tmp_path / "plan" / "limits.csv").unlink()
    assert not crowdopt.verify(tmp_path / "campaign", tmp_path / "plan").holds  # its bound is false without them


BROKEN = {
    "too few of a group": {"groups": {"senior": Group("", [0, 5, 9], min_per_task=3)}},
    "too many of a group": {"groups": {"all": Group("", range(12), max_per_task=1)}},
    "more than its share": {"groups": {"a": Group("", range(12), max_share=0.5)}},
    "less than its share": {"groups": {"a": Group("", [11], min_share=0.9)}},
    "an own row": {"own_rows": OwnRows(("none",), [0] * 12, [(0, j) for j in range(12)], [1] * 12, [0], [0])},
    "a family": {"groups": {"f": Group("", range(12), dependent=True, max_per_task=12)}},
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_limit_is_found_by_the_second_opinion(what: str, tmp_path: Path) -> None:
    """A plan held against a campaign that asks for more: recounted there, without the solver's code."""
    plain = replace(panel(), groups=(), own_rows=None).as_read()
    plan = crowdopt.solve(plain)
    assert report_on(plain, plan, tmp_path).holds
    crowdopt.write_campaign(replace(plain, **BROKEN[what]), tmp_path / "camp")
    problems = crowdopt.verify(tmp_path / "camp", tmp_path / "plan").problems
    assert any(problem.startswith("assignment.csv") for problem in problems), problems


def test_who_does_not_know_groups_says_so(tmp_path: Path) -> None:
    """Ignoring a limit would be a wrong answer: each refuses in one sentence."""
    instance = replace(panel(), own_rows=None)
    for call in (
        lambda: crowdopt.compare(instance, ["greedy"], trials=1),
        lambda: crowdopt.budget(instance, labels=30, output=tmp_path / "b"),
        lambda: crowdopt.solve(instance, "primal-approximation"),
        lambda: plan_gold(instance, trials=0),
        lambda: crowdopt.export(instance, tmp_path / "x.dat", program="dual"),
    ):
        with pytest.raises(InputError, match="group") as raised:
            call()
        assert "\n" not in str(raised.value)
    assert crowdopt.export(instance, tmp_path / "x.lp", program="dual").name == "assignment-lp-dual"


WRONG = [
    ({"groups": {"a": Group("", [0, 40])}}, "members must be"),
    ({"groups": {"a": Group("", [0], min_per_task=2)}}, "it has 1 workers"),
    ({"groups": {"a": Group("", [0, 1, 2], min_per_task=2, max_per_task=1)}}, "is above max_per_task"),
    ({"groups": {"a": Group("", [0], min_share=0.6, max_share=0.5)}}, "min_share <= max_share"),
    ({"groups": [Group("a", [0], dependent=True), Group("b", [0], dependent=True)]}, "two dependent groups"),
    ({"groups": [Group("a", [0]), Group("a", [1])]}, "there twice"),
    ({"groups": {"a": Group("", [0, 1], 0, 2, dependent=True)}, "rule": "probit"}, "err together"),
    ({"own_rows": OwnRows(("a",), [0], [[0, 99]], [1], [0], [1])}, "beyond"),
    ({"own_rows": OwnRows(("a",), [0], [[0, 0]], [1], [2], [1])}, "above its upper"),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG)
def test_senseless_limits_are_refused(change: dict, sentence: str) -> None:
    """What and where, in one sentence, before anything is solved."""
    with pytest.raises(InputError, match=sentence):
        replace(panel(), **{"groups": (), "own_rows": None, **change})


def test_rows_come_from_a_table(tmp_path: Path) -> None:
    """A CSV with sides; an empty cell stands for all; what names nobody, or has no side, is a sentence."""
    plain = replace(panel(), groups=(), own_rows=None)
    camp = tmp_path / "camp"
    crowdopt.write_campaign(plain, camp)
    head = "row,task,worker,coefficient,lower,upper\n"
    (camp / "rows.csv").write_text(f"{head}five labels of w1,,w1,1,5,\nt0 without w2,t0,w2,1,,0\n", encoding="utf-8")
    plan = crowdopt.solve(camp, output=tmp_path / "plan")
    assert plan.loads[1] >= 5
    assert crowdopt.verify(camp, tmp_path / "plan").holds
    for rows, sentence in (("x,t0,nobody,1,1,\n", "line 2.*nobody"), ("x,t0,w1,1,,\n", "no side")):
        (camp / "rows.csv").write_text(head + rows, encoding="utf-8")
        with pytest.raises(InputError, match=sentence):
            crowdopt.solve(camp)
