"""What the command prints: tables that count what went wrong, of the rows so far where it is stopped."""

from __future__ import annotations

import pytest

from tests.combinations import __main__ as command
from tests.combinations.measured import Row
from tests.combinations.tables import brief, report, sentence, worst


def test_what_stops_it_leaves_the_rows(monkeypatch, capsys):
    """Ctrl-C during the second campaign: the first stands in the table."""
    measured = command.measure

    def stopped(drawn, limit, seed, **how):
        if seed == 1:
            raise KeyboardInterrupt
        return measured(drawn, limit, seed=seed, **how)

    monkeypatch.setattr(command, "WARM", ())
    monkeypatch.setattr(command, "measure", stopped)
    monkeypatch.setattr("sys.argv", ["combinations", "--size", "3x5", "--seconds", "9", "--count", "3"])
    command.main()
    said = capsys.readouterr().out
    assert "stopped" in said and "| all | 1 |" in said and "--size 3x5 --only 0:" in said


@pytest.mark.parametrize("page", [report, brief])
def test_tables_count_what_went_wrong(page):
    """A late plan, a false claim, none at all; the worst of them are those with false claims."""
    about = {"size": "3x5", "skills": "six", "wishes": ["budget"], "feasible": True, "limit": 1.0}
    fine = Row(seed=0, status="optimal", seconds=0.1, cost=5.0, bound=5.0, known=5.0, gap=0.0, **about)
    false = Row(seed=1, status="feasible", seconds=1.9, cost=6.0, bound=3.0, known=5.0, gap=0.5, false=("x",), **about)
    none = Row(seed=2, status="undecided", seconds=0.1, known=5.0, **about)
    assert "| 3 | 2 of 3 | 25.000 % | 45.000 % | 50.000 % | 0 | 1 | 1 | 1 | 0 | 1 |" in page([fine, none, false])
    assert worst([fine, none, false]) == [false, none, fine]
    assert sentence(false).endswith("1.90 s (late) (dear); x")
