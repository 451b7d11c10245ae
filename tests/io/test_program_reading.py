"""Programs read back in: ours whole, other people's as they state them, everything else refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import highspy
import numpy as np
import pytest

import crowdopt
from crowdopt.io.programs import write_program
from tests.io import write_table
from tests.io.test_program_files import PROGRAMS, ids


@pytest.mark.parametrize("name", PROGRAMS)
def test_mps_comes_back_whole(name: str, tmp_path: Path) -> None:
    """Every number to the last digit (a range to its rounding), every block with its shape."""
    program, path = PROGRAMS[name], tmp_path / "x.mps"
    write_program(program, path, ids(name))
    back = crowdopt.read_program(path)
    for side in ("cost", "lower", "upper", "integer"):
        assert np.array_equal(getattr(back, side), getattr(program, side))
    for side in ("row_lower", "row_upper"):
        np.testing.assert_allclose(getattr(back, side), getattr(program, side), rtol=1e-15, atol=1e-15)
    assert abs(back.matrix - program.matrix).sum() == 0
    assert (back.columns, back.rows, back.name) == (program.columns, program.rows, program.name)


MPS_FILE = """* somebody's
NAME other
ROWS
 N cost
 G need
 L cap
COLUMNS
 a cost 2 need 1
 a cap 1
 b cost 3 need 1
RHS
 RHS need 1.5 cap 1
RANGES
 RNG cap 3
BOUNDS
 UP BND a 1
ENDATA
"""


def test_other_people_s_files_are_read(tmp_path: Path) -> None:
    """As the world writes them, packed or not, read by hand here."""
    (tmp_path / "x.mps").write_text(MPS_FILE, encoding="utf-8")
    (tmp_path / "y.mps.gz").write_bytes(gzip.compress(MPS_FILE.encode()))
    other, packed = (crowdopt.read_program(tmp_path / name) for name in ("x.mps", "y.mps.gz"))
    assert abs(other.matrix - packed.matrix).sum() == 0 and other.columns == packed.columns
    assert other.row_lower.tolist() == [1.5, -2] and other.row_upper.tolist() == [np.inf, 1]
    assert crowdopt.certify(crowdopt.solve_program(other)).value == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("entries", "ours"),
    [  # a number that goes on, no number, a row that is not there, a place twice, a small entry
        ([" x r 1abc"], "'1abc' is not a number"),
        ([" x r nan"], "'nan' is not a number"),
        ([" x s 2"], "which ROWS does not"),
        ([" x r 1", " x r 2"], "second time"),
        ([" x r 1e-10"], 1e-10),
    ],
)
def test_highs_reads_another_program_than_the_file_s(entries: list[str], ours: str | float, tmp_path: Path) -> None:
    """No error, and not the entry that stands there: here it is refused, or read as it stands."""
    lines = ["NAME t", "ROWS", " N o", " G r", "COLUMNS", " x o 1", *entries, "RHS", " RHS r 1", "ENDATA"]
    model, path = highspy.Highs(), write_table(tmp_path / "x.mps", *lines)
    model.setOptionValue("output_flag", False)
    assert model.readModel(str(path)) != highspy.HighsStatus.kError
    read = list(model.getLp().a_matrix_.value_)
    if isinstance(ours, str):
        with pytest.raises(crowdopt.InputError, match=ours):
            crowdopt.read_program(path)
        assert not sum(read) > 1  # HiGHS went on, with the entry or without
    else:
        assert crowdopt.read_program(path).matrix.data.tolist() == [ours] != read
