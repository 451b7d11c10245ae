"""Multipliers of shares and own rows, forged in limits.csv under the form ``sets``."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, InputError, OwnRows, verify, write_campaign, write_plan
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import Certificate

COST = 5.5  # one cheap label and one dear one, as each of the limits below asks
ROWS = OwnRows(  # at least one dear label; and a row that holds whatever the plan is
    ["dear", "idle"],
    np.array([0, 0, 1, 1]),
    np.array([[0, 2], [1, 2], [0, 2], [1, 2]]),
    np.ones(4),
    np.array([1.0, -1.0]),
    np.array([np.inf, 9.0]),
)
LIMITS = {  # what is asked, and the multiplier that proves it
    "own": ("row", "dear", 3.0, {"own_rows": ROWS}),
    "most_share": ("max_share", "cheap", -3.0, {"groups": [Group("cheap", (0, 1), max_share=0.5)]}),
    "least_share": ("min_share", "dear", 3.0, {"groups": [Group("dear", (2,), min_share=0.5)]}),
}


@pytest.fixture(params=[(block, rule) for block in LIMITS for rule in ("bhattacharyya", "exact-error")], ids="-".join)
def folders(request, tmp_path):
    """Two tasks of one label each, two workers at 1.25, one at 4.25: no more than 2.5 without the multiplier."""
    block, rule = request.param
    limit, name, dual, asked = LIMITS[block]
    instance = AssignmentInstance(
        np.full((1, 3), 0.9),
        np.zeros(2, np.int64),
        capacity=np.full(3, 2),
        epsilon=0.4,
        rule=rule,
        cost=np.array([1.25, 1.25, 4.25]),
        **asked,
    )
    joint = {block: np.array([dual] + [0.0] * (block == "own"))}
    duals = Duals(np.zeros(2), np.zeros(3), np.zeros(2), joint=joint, form="sets", levels=0)
    known = Certificate(None, COST, "certificate", None, None)
    plan = Plan.of(instance, "ip", known, COST, duals, np.array([[0, 0], [1, 2]]), method="exact", backend="highs")
    write_campaign(instance, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    return tmp_path / "campaign", tmp_path / "plan", (limit, name, dual)


def rewritten(folder, *lines):
    """The folder with other multipliers of joint limits."""
    text = "\n".join(["limit,name,task,dual", *(",".join(map(str, line)) for line in lines)])
    (folder / "limits.csv").write_text(text + "\n", encoding="utf-8")


def test_a_bound_by_joint_multipliers_holds(folders):
    """The dear label is priced as the cheap ones are, and the limit's side pays the difference."""
    campaign, folder, _ = folders
    report = verify(campaign, folder)
    assert report.holds, report.problems
    assert report.certified_bound == pytest.approx(COST, abs=1e-9)


def test_another_multiplier_proves_less(folders):
    """None, half of it, twice, of the other sign and so on a side that is not there: none proves what is claimed."""
    campaign, folder, (limit, name, dual) = folders
    for forged in (0.0, dual / 2, 2 * dual, -dual, -1e6 * dual):
        rewritten(folder, (limit, name, "", forged))
        report = verify(campaign, folder)
        assert any("certified_bound says 5.5" in problem for problem in report.problems), (forged, report.problems)
        assert not report.proven


@pytest.mark.parametrize("size", [2.0**60, 1e200, 1e308])
def test_multipliers_without_measure_prove_nothing(folders, size):
    """On either side, alone or two that cancel: rounding is taken off, and sums that are no numbers are no proof."""
    campaign, folder, (limit, name, dual) = folders
    for forged in ([size], [-size], [size, -size], [size, size], [dual, size, -size]):
        rewritten(folder, *((limit, name, "", one) for one in forged))
        report = verify(campaign, folder)
        assert not report.holds and not report.proven, forged


def test_multipliers_of_nothing_are_refused(folders):
    """Rows, groups, limits and tasks that the campaign does not have, and one row's multiplier put on another."""
    campaign, folder, (limit, name, dual) = folders
    for other, whose, task, why in (
        (limit, "nobody", "", "which the campaign does not have"),
        ("share", name, "", "which the campaign does not have"),
        ("per_task", "nobody", "0", "which the campaign does not have"),
        (limit, name, "0", "names the task '0'"),
    ):
        rewritten(folder, (other, whose, task, dual))
        assert any(why in problem for problem in verify(campaign, folder).problems)
    if limit == "row":
        rewritten(folder, (limit, "idle", "", dual))
        assert any("certified_bound says 5.5" in problem for problem in verify(campaign, folder).problems)


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "1e999", "", "three", "1_0"])
def test_multipliers_that_are_no_numbers_are_refused(folders, cell):
    """Such a table is not read at all."""
    campaign, folder, (limit, name, _) = folders
    rewritten(folder, (limit, name, "", cell))
    with pytest.raises(InputError, match=r"limits\.csv, line 2, column dual"):
        verify(campaign, folder)
