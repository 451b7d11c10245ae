"""Programs read back in: ours whole, other people's as they state them, everything else refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import highspy
import numpy as np
import pytest

import crowdopt
from crowdopt.errors import ProgramWarning
from crowdopt.io.programs import write_program
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


def highs_read(path: Path, text: str) -> highspy.Highs:
    """HiGHS, whose own reader has taken the file without an error."""
    path.write_text(text, encoding="utf-8")
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    assert model.readModel(str(path)) != highspy.HighsStatus.kError
    return model


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
    """As the world writes them, read by hand here."""
    (tmp_path / "x.mps").write_text(MPS_FILE, encoding="utf-8")
    other = crowdopt.read_program(tmp_path / "x.mps")
    assert other.row_lower.tolist() == [1.5, -2] and other.row_upper.tolist() == [np.inf, 1]
    assert crowdopt.certify(crowdopt.solve_program(other)).value == pytest.approx(3.5)


MAXIMUM = MPS_FILE.replace("ROWS", "OBJSENSE\n MAX\nROWS").replace("RHS need", "RHS cost -4 need")
MAXIMUM = MAXIMUM.replace("cap 1\nRANGES", "\n RHS cap 1\nRANGES").replace(" b cost", " M 'MARKER' 'INTORG'\n b cost")


@pytest.mark.parametrize("packed", [False, True])
def test_maxima_constants_and_packed_files_are_read(packed: bool, tmp_path: Path) -> None:
    """What HiGHS makes of the file is the oracle: the optimum of a maximum is the negative of the minimum read here."""
    path = tmp_path / ("x.mps.gz" if packed else "x.mps")
    path.write_bytes(gzip.compress(MAXIMUM.encode()) if packed else MAXIMUM.encode())
    with pytest.warns(ProgramWarning):
        found = crowdopt.read_program(path)
    model = highs_read(tmp_path / "x.mps", MAXIMUM)
    model.run()
    assert crowdopt.certify(crowdopt.solve_program(found)).value == pytest.approx(-model.getObjectiveValue())


@pytest.mark.parametrize(
    ("entries", "ours"),
    {
        "a number that goes on": ([" x r 1abc"], "'1abc' is not a number"),
        "no number": ([" x r nan"], "'nan' is not a number"),
        "a row that is not there": ([" x s 2"], "which ROWS does not"),
        "a place twice": ([" x r 1", " x r 2"], "second time"),
        "a small entry": ([" x r 1e-10"], 1e-10),
    }.values(),
)
def test_highs_reads_another_program_than_the_file_s(entries: list[str], ours: str | float, tmp_path: Path) -> None:
    """No error, and not the entry that stands there: here it is refused, or read as it stands."""
    lines = ["NAME t", "ROWS", " N o", " G r", "COLUMNS", " x o 1", *entries, "RHS", " RHS r 1", "ENDATA"]
    model = highs_read(tmp_path / "x.mps", "\n".join([*lines, ""]))
    read = list(model.getLp().a_matrix_.value_)
    if isinstance(ours, str):
        with pytest.raises(crowdopt.InputError, match=ours):
            crowdopt.read_program(tmp_path / "x.mps")
        assert not sum(read) > 1  # HiGHS went on, with the entry or without
    else:
        assert crowdopt.read_program(tmp_path / "x.mps").matrix.data.tolist() == [ours] != read


WRONG = {
    "strange-row.mps": (MPS_FILE.replace("a cap 1", "a cup 1"), "line 9.*cup"),
    "no-number.mps": (MPS_FILE.replace("a cap 1", "a cap one"), "line 9.*'one'"),
    "below.mps": (MPS_FILE.replace("UP BND a 1", "UP BND a -1"), "readers differ"),
    "cut.mps": (MPS_FILE.replace("ENDATA\n", ""), "before ENDATA"),
    "other.txt": (MPS_FILE, "must end in"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_a_sentence(name: str, tmp_path: Path) -> None:
    """File, line and reason; what readers do not agree on is refused rather than guessed."""
    text, wanted = WRONG[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(crowdopt.InputError, match=wanted):
        crowdopt.read_program(tmp_path / name)
