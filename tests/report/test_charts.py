"""Charts are written whole, in either format, or refused with a sentence."""

from __future__ import annotations

import pytest

from crowdopt.errors import InputError
from crowdopt.report.charts import altair, save


@pytest.fixture
def chart():
    rows = [{"x": x, "y": x * x} for x in range(5)]
    return altair().Chart(altair().Data(values=rows)).mark_line().encode(x="x:Q", y="y:Q")


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<svg")])
def test_both_formats_are_what_their_names_say(chart, tmp_path, name, start):
    """A reader's program goes by the content, and nothing else is left in the folder."""
    save(chart, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_another_format_is_refused(chart, tmp_path):
    """Before anything is drawn."""
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        save(chart, tmp_path / "a.gif")
