"""Pictures are made in a process of their own: what ends it ends no verb, and costs no table."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from crowdopt.errors import InputError
from crowdopt.pages import charts
from crowdopt.pages.charts import Undrawn, altair, drawn, save, save_all
from crowdopt.verbs.generate import generate
from tests.sampled import first_of
from tests.typed import run

ENDINGS = {
    "signal SIGABRT": "import os; os.abort()",
    "exit status 3": "import sys; sys.exit(3)",
}
ADDRESSES = 3 * 10**9  # bytes; less than the engine asks for, more than Python and a solver do

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


@pytest.mark.parametrize("ending", first_of(ENDINGS))
def test_a_process_that_ends_is_a_sentence(monkeypatch, ending):
    """By a signal or by itself."""
    with monkeypatch.context() as patch:
        patch.setattr(charts, "SCRIPT", ENDINGS[ending])
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


@pytest.mark.slow
def test_under_a_limit_on_addresses_the_tables_are_written(tmp_path: Path) -> None:
    """As under `ulimit -v`, where the engine's reservation of addresses is refused."""
    generate("HS:20x60", epsilon=0.3, output=tmp_path / "campaign")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))

    command = [sys.executable, "-m", "crowdopt.cli", "explain", "campaign", "--time-limit", "5", "-o", "new"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "cannot be drawn" in done.stdout and list((tmp_path / "new").glob("*.csv"))
    assert not [path for path in tmp_path.rglob("*") if ".partial" in path.name]
