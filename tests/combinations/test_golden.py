"""Plans of campaigns are no worse than they were, and nothing that is claimed contradicts what was.

``python -m tests.combinations.test_golden`` makes golden.json, or betters it: the cheaper plan and the higher bound.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.combinations.measured import NEAR, Row, measure
from tests.draw import RULES, WISHES, clash, planned

PATH = Path(__file__).with_name("golden.json")
SECONDS = 10.0
OPEN = 0.1  # of a gap that was open: how far the clock may move the plan; of a proven one nothing
CAMPAIGNS = (  # size, skills, wishes; the seed is the place
    ("40x15", "three", "hoeffding fixed most-labels"),
    ("40x15", "six", "probit least-share"),
    ("40x15", "twelve", "exact-error most-per-task"),
    ("40x15", "three-own", "classes exact-error targets"),
    ("40x15", "six-own", "priors prices least-labels"),
    ("40x15", "six", "difficulty prices-by-type"),
    ("40x15", "three", "families-of-several own-row"),
    ("40x15", "six", "overlapping collected least-loads"),
    ("40x15", "three", "families budget forbidden prior"),
    ("300x25", "six", "probit most-labels prices"),
    ("300x25", "twelve", "exact-error least-share"),
    ("300x25", "three", "classes exact-error forbidden"),
    ("300x25", "six", "difficulty collected"),
    ("300x25", "twelve", "least-labels most-labels most-share"),
    ("300x25", "three-own", "prices-by-type fixed budget"),
    ("300x25", "six", "families overlapping least-per-task"),
)


def kept() -> list[dict]:
    """Cost and bound of each, as they stand in the file."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else [{}] * len(CAMPAIGNS)


def measured(place: int) -> Row:
    """What becomes of a campaign now."""
    size, skills, wishes = CAMPAIGNS[place]
    return measure(planned(place, *map(int, size.split("x")), wishes, skills=skills), SECONDS, seed=place)


def test_every_wish_is_among_them():
    """Each at least once, at no clash."""
    wishes = [said.split() for *_, said in CAMPAIGNS]
    assert {*RULES, *WISHES} - {"bhattacharyya"} == {one for some in wishes for one in some}
    assert not any(map(clash, wishes))
    assert len(kept()) == len(CAMPAIGNS)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(CAMPAIGNS)))
def test_no_plan_is_worse_and_no_bound_contradicts(place):
    """Two bounds and two plans of one campaign: neither bound is above either plan."""
    old, row = kept()[place], measured(place)
    assert not row.false and not row.raised
    near = NEAR * max(1.0, old["cost"])
    assert row.cost is not None
    assert row.bound is None or row.bound <= old["cost"] + near
    assert old["bound"] <= row.cost + near
    assert row.cost <= old["cost"] + near + OPEN * (old["cost"] - old["bound"])


def main() -> None:
    """Plan each, and keep the better."""
    found = []
    for place, old in enumerate(kept()):
        row = measured(place)
        assert row.cost is not None and not row.false, row
        found.append({"cost": min(row.cost, old.get("cost", row.cost)), "bound": max(row.bound, old.get("bound", 0))})
    lines = [json.dumps({name: round(value, 6) for name, value in entry.items()}) for entry in found]
    PATH.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
