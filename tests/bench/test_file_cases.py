"""Programs of others, by path, are measured and judged like ours."""

from __future__ import annotations

import csv

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from crowdopt.report import charts

KNAPSACK = """NAME foreign
ROWS
 N cost
 L room
COLUMNS
 M1 'MARKER' 'INTORG'
 a cost -5 room 4
 b cost -4 room 3
 c cost -3 room 2
 M2 'MARKER' 'INTEND'
RHS
 r room 5
BOUNDS
 UP b1 a 1
 UP b1 b 1
 UP b1 c 1
ENDATA
"""


@pytest.mark.slow
def test_an_mps_file_is_a_case(tmp_path, monkeypatch):
    """Three things of worth 5, 4, 3 and weight 4, 3, 2 into a bag of 5: the last two, worth 7, in parts as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(charts, "can_draw", lambda: False)
    (tmp_path / "bag.mps").write_text(KNAPSACK, encoding="utf-8")
    words = "bench bag.mps --backends exact,highs --time-limit 5 -o out"
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["method"] for row in rows} == {"highs"}
    assert {(row["program"], round(float(row["value"]), 6)) for row in rows} == {("ip", -7.0), ("lp", -7.0)}
