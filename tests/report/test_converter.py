"""Pictures are made in a process of their own: what ends it ends no verb, and costs no table."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdopt.api.generate import generate
from crowdopt.cli import main
from crowdopt.report import converter
from crowdopt.report.converter import Undrawn, converted
from tests.sampled import first_of

POINT = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}
ENDINGS = {
    "signal SIGABRT": "import os; os.abort()",
    "exit status 3": "import sys; sys.exit(3)",
    "exit status 0": "import sys; sys.stdin.readline(); print('[true, 99]')",
}
ADDRESSES = 3 * 10**9  # bytes; less than the engine asks for, more than Python and a solver do


@pytest.fixture(autouse=True)
def none_running():
    """Every test begins, and leaves, without a process."""
    pytest.importorskip("vl_convert")
    converter._ended()
    yield
    converter._ended()


def test_one_process_draws_all_pictures():
    """Two kinds of picture, what cannot be drawn, and the next picture: one process all along."""
    assert converted("a", "vegalite_to_svg", POINT).startswith(b"<svg")
    process = converter._running().process.pid
    assert converted("b", "vegalite_to_png", POINT, scale=2.0).startswith(b"\x89PNG")
    with pytest.raises(Undrawn, match="c cannot be drawn: Vega-Lite"):
        converted("c", "vegalite_to_svg", {"mark": 3})
    assert converted("d", "vegalite_to_svg", POINT).startswith(b"<svg")
    assert converter._running().process.pid == process


@pytest.mark.parametrize("ending", first_of(ENDINGS))
def test_a_process_that_ends_is_a_sentence(tmp_path, monkeypatch, ending):
    """By a signal, by itself, or in the middle of its answer; the next picture has another process."""
    script = tmp_path / "script.py"
    script.write_text(ENDINGS[ending], encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(converter, "SCRIPT", script)
        with pytest.raises(Undrawn, match=f"x cannot be drawn: the process that draws ended with {ending}; it may"):
            converted("x", "vegalite_to_svg", POINT)
    assert converted("x", "vegalite_to_svg", POINT).startswith(b"<svg")


def test_an_interrupted_picture_is_not_the_next_one(monkeypatch):
    """The answer to a question that is no longer waited for must not be read as that to the next."""
    first = converted("x", "vegalite_to_svg", POINT)
    process = converter._running().process

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(converter.json, "loads", interrupted)
        converted("y", "vegalite_to_png", POINT)
    assert process.poll() is not None
    assert converted("x", "vegalite_to_svg", POINT) == first


@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("explain campaign --rule bhattacharyya --time-limit 2 -o new", "curve.csv"),
        ("compare campaign --policies greedy --trials 1 -o new", "trials.csv"),
        ("learn --draw 3 --policies ls-ol --horizon 12 --trials 1 -o new", "trials.csv"),
    ],
)
def test_tables_are_written_without_pictures(tmp_path, monkeypatch, words, table):
    """Exit 0, the sentence, the tables; nothing half-written."""
    script = tmp_path / "script.py"
    script.write_text(ENDINGS["signal SIGABRT"], encoding="utf-8")
    monkeypatch.setattr(converter, "SCRIPT", script)
    monkeypatch.chdir(tmp_path)
    generate("HS:20x60", epsilon=0.3, output="campaign")
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, done.output
    assert "cannot be drawn: the process that draws ended with signal SIGABRT" in done.stdout
    assert (tmp_path / "new" / table).is_file()
    assert not [path for path in tmp_path.rglob("*") if ".partial" in path.name or path.suffix in (".svg", ".png")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["explain campaign --time-limit 5 -o new", "compare campaign --policies greedy --trials 1 -o new"]
)
def test_under_a_limit_on_addresses_the_tables_are_written(tmp_path: Path, words: str) -> None:
    """As under `ulimit -v`, where the engine's reservation of addresses is refused."""
    generate("HS:20x60", epsilon=0.3, output=tmp_path / "campaign")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))

    command = [sys.executable, "-m", "crowdopt.cli", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "cannot be drawn" in done.stdout and list((tmp_path / "new").glob("*.csv"))
    assert not [path for path in tmp_path.rglob("*") if ".partial" in path.name]
