"""Groups and own rows in the way of a plan: which, by how much, and what loosening them takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import crowdopt
from crowdopt import Group, OwnRows, Status
from crowdopt.assign.shortage import shortage
from crowdopt.crowd.vote_errors import breaches
from crowdopt.verbs.plans_said import why_not
from crowdopt.verbs.solve import probe
from tests.assign.test_joint_limits import panel
from tests.draw import campaign
from tests.sampled import first_of

LIMITED = "bhattacharyya most-per-task least-per-task most-share own-row"


def test_limits_are_blamed_exactly_where_they_are_in_the_way() -> None:
    """By the LP: nothing is blamed where it has a point, limits where it would have one without them."""
    seen = set()
    for seed in range(8):
        instance = campaign(seed, 3, 4, LIMITED, spoiled=True)
        joint = shortage(instance, probe(30)).joint
        if joint is None:
            continue
        has = crowdopt.solve(instance, program="lp").status is Status.OPTIMAL
        free = crowdopt.solve(replace(instance, groups=(), own_rows=None), program="lp").status is Status.OPTIMAL
        assert (joint.blocked is None) == (not free), seed
        assert (joint.blocked == []) == has, seed
        seen.add((free, has))
    assert seen >= {(True, True), (False, False)}


NONE = OwnRows(("none",), [0] * 12, [(0, j) for j in range(12)], [1] * 12, [float("-inf")], [0])
CASES = [
    (
        {"groups": {"senior": Group("", [0, 5, 9], min_per_task=3)}},
        ["group senior: its min_per_task blocks 10 task(s)", "contradict", "min_per_task = 2 in place of 3"],
    ),
    (
        {"groups": (), "own_rows": NONE},
        ["row none: its upper side is", "upper side 2 in place of 0"],
    ),
    (
        {"groups": {"a": Group("", range(6), max_share=0.1)}, "epsilon": 0.05, "capacity": 7},
        ["group a: its max_share is too low; 0.123 would do"],
    ),
]


@pytest.mark.parametrize(("change", "words"), first_of(CASES, 2))
def test_the_words_name_limit_tasks_and_amount(change: dict, words: list[str]) -> None:
    """What a person reads, and why_not says it too; each way out has a plan that keeps the limits as loosened."""
    instance = replace(panel(), **{"own_rows": None, **change})
    found = crowdopt.explain(instance, time_limit=5)
    said = "\n".join(found.sentences)
    assert all(word in said for word in words), said
    assert words[0] in "\n".join(why_not(crowdopt.solve(instance, require="served", time_limit=5)))
    for way in found.ways:
        assert not breaches(way.instance, way.pairs), way.sentence


def test_limits_have_prices_where_there_is_a_plan() -> None:
    """Loosening a limit by one saves at most its multiplier: solved again, it does not save more."""
    instance = panel()
    value = crowdopt.explain(instance, time_limit=20).margins.limit_value["group senior, min_per_task one less"]
    senior, *others = instance.groups
    looser = replace(instance, groups=(replace(senior, min_per_task=0), *others))
    before, after = (crowdopt.solve(one, program="lp").objective for one in (instance, looser))
    assert 0 < before - after <= value + 1e-6
