"""Parts stay with the workers that have them in memory."""

from __future__ import annotations

from collections import Counter

from crowdopt.api.part_homes import deal


def test_parts_stay_where_they_are_as_far_as_that_is_fair():
    """A worker lost moves its parts alone; one who comes takes a fair share and no part moves between others."""
    parts = [f"p{k}" for k in range(10)]
    three = deal({}, parts, ["a", "b", "c"])
    assert sorted(Counter(three.values()).values()) == [3, 3, 4] and deal(three, parts, ["a", "b", "c"]) == three
    two = deal(three, parts, ["a", "c"])
    assert Counter(two.values()) == {"a": 5, "c": 5}
    assert all(two[part] == three[part] for part in parts if three[part] != "b")
    four = deal(three, parts, ["a", "b", "c", "d"])
    assert sorted(Counter(four.values()).values()) == [2, 2, 3, 3]
    assert all(four[part] in (three[part], "d") for part in parts)
    assert deal(three, parts, []) == {}
