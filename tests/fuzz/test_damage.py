"""Whatever is damaged: an answer, or one sentence and nothing left behind.

Every verb runs in process on a desk of small good files, of which one is damaged or one word of the command mistyped.
"""

from __future__ import annotations

import re

import pytest

from tests.fuzz.damage import copy
from tests.fuzz.desk import CASES, OF_TOOLS, run
from tests.fuzz.trials import trial
from tests.sampled import first_of

FEW, EACH = 160, 40  # damaged inputs, and how many of them in a test
LONG = [pytest.param(first, 500, marks=pytest.mark.long) for first in range(100_000, 120_000, 500)]
KINDS = {"files": CASES, "exports": OF_TOOLS}
IN_PARTS = "generate HS:12x4 --epsilon 0.45 --parts 2"
SPOILED = {  # rows of a policy that are for no vote, ask no judge, or say nothing that is done
    "rows gone": ("^(?!type|.*,ask,).*\n", ""),
    "asks no judge": ("(,ask,)[^,]*", r"\1"),
    "does what nobody knows": (",answer,", ",waits,"),
}


@pytest.mark.parametrize("case", [*CASES, *OF_TOOLS], ids=lambda case: case.words)
def test_without_damage_every_command_answers(desk, tmp_path, case):
    """Otherwise the trials below would try nothing."""
    copy(desk, tmp_path, (*case.reads, *case.beside))
    result = run(tmp_path, case.words)
    assert result.exit_code == case.status, result.output


@pytest.mark.parametrize("how", SPOILED)
def test_a_policy_that_ends_nowhere_is_a_sentence(desk, tmp_path, how):
    """Where labels come back for votes that it does not know how to go on with."""
    case = next(one for one in CASES if one.words.startswith("aggregate judged.csv"))
    copy(desk, tmp_path, case.reads)
    path = tmp_path / "adaptive" / "policy.csv"
    text = path.read_text(encoding="utf-8")
    spoiled = re.sub(*SPOILED[how], text, flags=re.MULTILINE)
    path.write_text(spoiled, encoding="utf-8")
    result = run(tmp_path, case.words)
    assert spoiled != text and result.exit_code == 2 and "solve the campaign again" in result.stderr, result.output


@pytest.mark.parametrize(
    ("words", "status"), [("learn --draw 3 --policies ls-ol --horizon 9 --trials 2", 0), (IN_PARTS, 2)]
)
def test_a_name_that_is_no_utf8_is_a_name(tmp_path, words, status):
    """A file system takes any bytes; rows are JSON and pyarrow wants text, and neither ends in a traceback."""
    for line, wanted in (([*words.split(), "-o", "caf\udce9"], 0), (["report", "caf\udce9"], status)):
        result = run(tmp_path, line)
        assert result.exit_code == wanted, result.output


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "count"), [*first_of((first, EACH) for first in range(0, FEW, EACH)), *LONG])
def test_damage_ends_in_an_answer_or_a_sentence(desk, first, count, kind):
    """No traceback, no leftover, one line that says what is wrong; of twenty thousand where there is time."""
    trials = (trial(desk, seed, KINDS[kind]) for seed in range(first, first + count))
    assert not [wrong for wrong in trials if wrong is not None]
