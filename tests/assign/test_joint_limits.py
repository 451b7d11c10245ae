"""Groups, families and own rows: brute force agrees, the folder proves it, others say so."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, InputError, OwnRows
from crowdopt.crowd.vote_errors import breaches
from crowdopt.verbs.plan_gold import plan_gold
from tests.draw import campaign


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


@pytest.mark.parametrize("program", ["ip", "lp"])
def test_the_folder_proves_the_plan(program: str, tmp_path: Path) -> None:
    """Campaign and plan folder alone: limits recounted, and the bound from the stored multipliers, groups' included."""
    instance = panel()
    crowdopt.write_campaign(instance, tmp_path / "camp")
    plan = crowdopt.solve(tmp_path / "camp", program=program, output=tmp_path / "plan")
    assert plan.found
    priced = {name for name, duals in plan.duals.joint.items() if duals.any()}
    assert program == "ip" or "group" in priced  # sets of whole labels keep the limits of groups by themselves
    report = crowdopt.verify(tmp_path / "camp", tmp_path / "plan")
    assert report.holds, report.problems
    assert report.certified_bound == pytest.approx(plan.certified_bound, rel=1e-9)
    if priced:
        shutil.copytree(tmp_path / "plan", tmp_path / "cut")
        (tmp_path / "cut" / "limits.csv").unlink()
        cut = crowdopt.verify(tmp_path / "camp", tmp_path / "cut")
        assert not cut.holds, "without its multipliers the bound is false"
    back = crowdopt.read_campaign(tmp_path / "camp")
    assert back.groups == instance.groups and back.own_rows.names == ("not both",)


BROKEN = {
    "too few of a group": lambda one: {"groups": {"senior": Group("", [0, 5, 9], min_per_task=3)}},
    "too many of a group": lambda one: {"groups": {"all": Group("", range(12), max_per_task=1)}},
    "more than its share": lambda one: {"groups": {"a": Group("", range(12), max_share=0.5)}},
    "less than its share": lambda one: {"groups": {"a": Group("", [11], min_share=0.9)}},
    "an own row": lambda one: {
        "own_rows": OwnRows(("none",), [0] * 12, [(0, j) for j in range(12)], [1] * 12, [0], [0])
    },
    "a family": lambda one: {"groups": {"f": Group("", range(12), dependent=True, max_per_task=12)}},
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_limit_is_found_by_the_second_opinion(what: str, tmp_path: Path) -> None:
    """A plan held against a campaign that asks for more: recounted there, without the solver's code."""
    plain = replace(panel(), groups=(), own_rows=None).as_read()
    crowdopt.solve(plain, output=tmp_path / "plan")
    crowdopt.write_campaign(plain, tmp_path / "plain")
    assert crowdopt.verify(tmp_path / "plain", tmp_path / "plan").holds
    crowdopt.write_campaign(replace(plain, **BROKEN[what](plain)), tmp_path / "camp")
    problems = crowdopt.verify(tmp_path / "camp", tmp_path / "plan").problems
    assert any(problem.startswith("assignment.csv") for problem in problems), problems


def test_who_does_not_know_groups_says_so(tmp_path: Path) -> None:
    """Ignoring a limit would be a wrong answer: each refuses in one sentence."""
    instance = replace(panel(), own_rows=None)
    crowdopt.write_campaign(instance, tmp_path / "camp")
    refused = [
        lambda: crowdopt.compare(instance, ["greedy"], trials=1),
        lambda: crowdopt.budget(instance, labels=30, output=tmp_path / "b"),
        lambda: crowdopt.solve(instance, "primal-approximation"),
        lambda: plan_gold(instance, trials=0),
        lambda: crowdopt.export(instance, tmp_path / "x.dat", program="dual"),
    ]
    for call in refused:
        with pytest.raises(InputError, match="group") as raised:
            call()
        assert "\n" not in str(raised.value)
    assert crowdopt.export(instance, tmp_path / "x.lp", program="dual").name == "assignment-lp-dual"


def test_checked_rules_keep_joint_limits() -> None:
    """Exact errors are no dearer to keep than their bound: a plan wherever the rule of the bound has one."""
    for seed in range(12):
        wishes = "bhattacharyya most-per-task least-per-task most-share own-row"
        instance = campaign(seed, 3, 4, wishes, spoiled=True)
        bound, exact = crowdopt.solve(instance), crowdopt.solve(instance, rule="exact-error")
        assert exact.found or not bound.found, seed
        if exact.found:
            assert not breaches(exact.instance, exact.pairs), seed
            assert (exact.exact_error[0] <= instance.epsilon + 1e-12).all(), seed


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


def test_labels_already_in_raise_the_dependence_of_their_task() -> None:
    """Two collected labels of one family are there, whatever max_per_task says: that task pays for both."""
    given = {"groups": {"f": Group("", [0, 1], dependent=True)}, "collected": [[0, 0], [0, 1]]}
    instance = AssignmentInstance([[0.9, 0.9, 0.9]], [0, 0], 2, 0.1, **given)
    assert instance.dependence.tolist() == [2, 1]
    assert instance.need[0] == pytest.approx(4 * np.log(1 / 0.1)) and instance.need[1] == pytest.approx(2 * np.log(5))


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
