"""Pictures are made in a process of their own: what ends it ends no verb, and costs no table."""

from __future__ import annotations

import pytest

from crowdopt.errors import InputError
from crowdopt.pages import charts
from crowdopt.pages.charts import Undrawn, altair, drawn, save, save_all
from tests.typed import run

ENDINGS = {
    "signal SIGABRT": "import os; os.abort()",
    "exit status 3": "import sys; sys.exit(3)",
}

pytest.importorskip("vl_convert")


def point():
    """A chart of a point."""
    return altair().Chart(altair().Data(values=[{"a": 1}])).mark_point().encode(x="a:Q")


def test_one_process_draws_all_pictures(tmp_path):
    """Two kinds of picture; one that cannot be drawn is named, without a traceback, and a third kind refused."""
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        save(point(), tmp_path / "a.gif")
    save_all({"a.svg": point(), "b.png": point()}, tmp_path)
    assert [path.read_bytes()[:4] for path in sorted(tmp_path.iterdir())] == [b"<svg", b"\x89PNG"]
    with pytest.raises(Undrawn, match=r"^d\.svg cannot be drawn: "):
        drawn({"c.svg": point(), "d.svg": point().transform_calculate(b="(((")})


def test_a_process_that_ends_is_a_sentence(monkeypatch):
    """By a signal or by itself."""
    for ending, script in ENDINGS.items():
        monkeypatch.setattr(charts, "SCRIPT", script)
        with pytest.raises(Undrawn, match=rf"x\.svg cannot be drawn: the process .* ended with {ending}; it may"):
            drawn({"x.svg": point()})


def test_tables_are_written_without_pictures(tmp_path, monkeypatch):
    """Exit 0, the sentence, the tables; nothing half-written."""
    monkeypatch.setattr(charts, "SCRIPT", ENDINGS["signal SIGABRT"])
    monkeypatch.chdir(tmp_path)
    done = run(*["learn", "--draw", "3", "--policies", "ls-ol", "--horizon", "12", "--trials", "1", "-o", "new"])
    assert done.exit_code == 0, done.output
    assert "cannot be drawn: the process that draws ended with signal SIGABRT" in done.stdout
    assert (tmp_path / "new" / "trials.csv").is_file()
    assert not [path for path in tmp_path.rglob("*") if ".partial" in path.name or path.suffix in (".svg", ".png")]
