"""Every pin holds: transcripts of the command line, tables of figures. They change by hand, with a reason."""

from __future__ import annotations

import os

import pytest

from tests.guides import no_pictures
from tests.pins import pinned
from tests.pins.pinned import differences, names, near

MARKS = {"slow": pytest.mark.slow, "long": pytest.mark.long}  # behind the last hyphen of a name
CASES = [pytest.param(name, marks=MARKS.get(name.rpartition("-")[2], ())) for name in names()]


@pytest.fixture(autouse=True, scope="module")
def without_pictures():
    """A pin has the names of what was drawn."""
    with no_pictures():
        yield


@pytest.mark.parametrize("name", CASES)
def test_a_pin_holds(name: str):
    """Words exactly, numbers as near as the pin says."""
    if name == "tables/aggregate-slow" and not os.environ.get("CROWDOPT_DATA"):
        pytest.skip("CROWDOPT_DATA does not name the folder of real label sets")
    found = differences(name)
    assert not found, "\n".join(f"{one.place}\npinned {one.was}\nnow    {one.found}" for one in found)


def test_what_is_near(monkeypatch):
    """Words are words, also where digits are in them; columns may be set apart otherwise."""
    monkeypatch.setattr(pinned, "SAME_SOLVER", True)  # with another one numbers say nothing
    assert near("cost 48 of w1", "cost  48.00001 of w1", 1e-6) and not near("cost 48", "cost 48.1", 1e-6)
    assert not near("by w1", "by w2", 1.0) and not near("1 of 2", "1 of 2 of 3", 1.0)
