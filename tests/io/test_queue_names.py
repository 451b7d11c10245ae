"""Queues as files: names that every system takes and that never meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crowdopt.io.plan import RESERVED, queue_files

IDS = st.lists(st.text(min_size=1, max_size=6) | st.sampled_from(["a", "A", "con", "CON", "Nul", "lpt1"]), unique=True)


@given(IDS)
def test_no_two_queues_are_one_file(workers):
    """Not even where a file system tells no capitals, and none is a device of Windows; a plain id is its own name."""
    names = [name.casefold() for name in queue_files(workers)]
    assert len(set(names)) == len(names)
    assert not {name.partition(".")[0] for name in names} & RESERVED
    assert all(len(name.encode()) <= 255 and not set(name) & set('/\\:*?"<>|\0') for name in names)
    assert queue_files(["ada", "bo-2", "chen wu"]) == ["ada.csv", "bo-2.csv", "chen wu.csv"]
