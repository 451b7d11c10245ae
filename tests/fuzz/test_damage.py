"""Whatever is damaged: an answer, or one sentence and nothing left behind.

Every verb runs in process on a desk of small good files, of which one is damaged or one word of the command mistyped.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from tests.fuzz.damage import copy
from tests.fuzz.desk import CASES, OF_TOOLS
from tests.fuzz.trials import firsts, inside, trial

FEW, MANY = 160, 20_000  # damaged inputs
EACH = 40  # of them in a test
IN_PARTS = "generate HS:12x4 --epsilon 0.45 --parts 2"
KINDS = {"files": CASES, "exports": OF_TOOLS}


def _wrong(desk: Path, kind: str, first: int, count: int) -> list[str]:
    seeds = range(first, first + count)
    return [wrong for seed in seeds if (wrong := trial(desk, seed, KINDS[kind])) is not None]


@pytest.mark.parametrize("case", [*CASES, *OF_TOOLS], ids=lambda case: case.words)
def test_without_damage_every_command_answers(desk, tmp_path, case):
    """Otherwise the trials below would try nothing."""
    copy(desk, tmp_path, (*case.reads, *case.beside))
    with inside(tmp_path):
        result = CliRunner().invoke(main, case.words.split())
    assert result.exit_code == case.status, result.output


@pytest.mark.parametrize("cells", ["rows gone", "asks no judge", "does what nobody knows"])
def test_a_policy_that_ends_nowhere_is_a_sentence(desk, tmp_path, cells):
    """Labels come back for votes that no row is for, or whose row asks no judge, or says nothing that is done."""
    case = next(one for one in CASES if one.words.startswith("aggregate judged.csv"))
    copy(desk, tmp_path, case.reads)
    path = tmp_path / "adaptive" / "policy.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("what")
    if cells == "rows gone":
        rows = [row for row in rows if ",ask," in row]
    elif cells == "does what nobody knows":
        rows = [row.replace(",answer,", ",waits,") for row in rows]
    else:
        rows = [
            ",".join([*(cut := row.split(","))[:place], "", *cut[place + 1 :]]) if ",ask," in row else row
            for row in rows
        ]
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    with inside(tmp_path):
        result = CliRunner().invoke(main, case.words.split())
    assert result.exit_code == 2 and "solve the campaign again" in result.stderr, result.output


@pytest.mark.parametrize("words", ["learn --draw 3 --policies ls-ol --horizon 9", IN_PARTS])
def test_a_name_that_is_no_utf8_is_a_name(tmp_path, words):
    """A file system takes any bytes; rows are JSON and pyarrow wants text, and neither ends in a traceback."""
    with inside(tmp_path):
        result = CliRunner().invoke(main, [*words.split(), "-o", "caf\udce9"])
        assert result.exit_code == 0, result.output
        result = CliRunner().invoke(main, ["report", "caf\udce9"])
        assert result.exit_code == (0 if words.startswith("learn") else 2), result.output


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", firsts(FEW, EACH))
def test_damage_ends_in_an_answer_or_a_sentence(desk, first, kind):
    """No traceback, no leftover, one line that says what is wrong."""
    assert not _wrong(desk, kind, first, EACH)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", range(100_000, 100_000 + MANY, 500))
def test_much_damage_ends_in_an_answer_or_a_sentence(desk, first, kind):
    """The same with other seeds, 20,000 of each kind."""
    assert not _wrong(desk, kind, first, 500)
