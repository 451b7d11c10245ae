"""The charts of a benchmark's page, in the cases in which there is little to draw."""

from __future__ import annotations

import pytest

from crowdopt.report.benchmark_page import profile_chart


@pytest.mark.parametrize(("share", "methods"), [(0.4, 1), (0.4, 3), (0.0, 2)])
def test_a_profile_of_one_point_each_is_a_level_line(share, methods):
    """A method alone in settling anything is the fastest at every factor: a line, for a point would not be seen."""
    profile = [{"method": f"m{k}", "factor": 1.0, "share": share if k == 0 else 0.0} for k in range(methods)]
    drawn = profile_chart({"profile": profile, "methods": profile}).to_dict()["data"]["values"]
    for k in range(methods):
        line = [(row["factor"], row["share"]) for row in drawn if row["method"] == f"m{k}"]
        assert len({factor for factor, _ in line}) == 2
        assert {height for _, height in line} == {share if k == 0 else 0.0}


def test_a_profile_that_rises_is_drawn_as_it_is():
    """Nothing is added where a curve has more than a point."""
    profile = [{"method": "m", "factor": factor, "share": factor / 4} for factor in (1.0, 2.0)]
    assert profile_chart({"profile": profile, "methods": profile[:1]}).to_dict()["data"]["values"] == profile
