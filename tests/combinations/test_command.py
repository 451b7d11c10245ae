"""The command loses no row, and goes on where it was stopped."""

from __future__ import annotations

import json

import pytest

from tests.combinations import __main__ as command
from tests.combinations.measured import Row
from tests.combinations.tables import brief, report, sentence, worst


def run(monkeypatch, capsys, *arguments: str) -> str:
    """What the command prints, without compiling first."""
    monkeypatch.setattr(command, "WARM", ())
    monkeypatch.setattr("sys.argv", ["combinations", "--size", "3x5", "--seconds", "9", *arguments])
    command.main()
    return capsys.readouterr().out


def test_rows_that_are_there_are_not_run_again(monkeypatch, capsys, tmp_path):
    """Nor is a line that was cut off taken for one."""
    path = tmp_path / "rows.jsonl"
    run(monkeypatch, capsys, "--count", "2", "-o", str(path))
    first = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(first[0] + first[1][:30], encoding="utf-8")
    said = run(monkeypatch, capsys, "--count", "2", "-o", str(path))
    again = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert again[0] == first[0] and json.loads(again[1])["cost"] == json.loads(first[1])["cost"] and len(again) == 2
    assert "| all | 2 |" in said


def test_what_stops_it_leaves_the_rows(monkeypatch, capsys, tmp_path):
    """Ctrl-C during the second campaign: the first stands in the file and in the table."""
    measured, path = command.measure, tmp_path / "rows.jsonl"

    def stopped(drawn, limit, seed, **how):
        if seed == 1:
            raise KeyboardInterrupt
        return measured(drawn, limit, seed=seed, **how)

    monkeypatch.setattr(command, "measure", stopped)
    said = run(monkeypatch, capsys, "--count", "3", "-o", str(path))
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert "stopped" in said and "| all | 1 |" in said


def test_one_seed_alone_says_what_came_of_it(monkeypatch, capsys):
    """And the worst of several are those with false claims."""
    assert "--size 3x5 --only 4:" in run(monkeypatch, capsys, "--only", "4")


@pytest.mark.parametrize("page", [report, brief])
def test_tables_count_what_went_wrong(page):
    """A late plan, a false claim, none at all."""
    about = {"size": "3x5", "skills": "six", "wishes": ["budget"], "feasible": True, "limit": 1.0}
    fine = Row(seed=0, status="optimal", seconds=0.1, cost=5.0, bound=5.0, known=5.0, gap=0.0, **about)
    false = Row(seed=1, status="feasible", seconds=1.9, cost=6.0, bound=3.0, known=5.0, gap=0.5, false=("x",), **about)
    none = Row(seed=2, status="undecided", seconds=0.1, known=5.0, **about)
    assert "| 3 | 2 of 3 | 25.000 % | 45.000 % | 50.000 % | 0 | 1 | 1 | 1 | 0 | 1 |" in page([fine, none, false])
    assert worst([fine, none, false]) == [false, none, fine]
    assert sentence(false).endswith("1.90 s (late) (dear); x")
