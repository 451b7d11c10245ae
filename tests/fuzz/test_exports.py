"""Whatever is damaged in what a tool wrote: an answer, or one sentence and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from tests.exports import EXPORTS, lay_exports
from tests.fuzz.damage import copy
from tests.fuzz.desk import MADE, Case, lay
from tests.fuzz.trials import firsts, inside, trial

FEW, MANY = 200, 10_000  # damaged inputs
EACH = 40  # of them in a test
CASES = (
    *(Case(f"pull campaign {name} --from {tool} -o new", (name,)) for tool, name in EXPORTS.items()),
    *(Case(f"import {name} --from {tool} --epsilon 0.3 -o new", (name,), 0.5) for tool, name in EXPORTS.items()),
    Case("import llm_labels.jsonl --from potato --time-as-price -o new", ("llm_labels.jsonl",)),
    Case("import deepeval.json --from deepeval --token-prices tokens.csv -o new", ("deepeval.json", "tokens.csv")),
    Case("pull campaign studio.json --from label-studio --people who.csv -o new", ("who.csv",)),
    Case("push campaign plan --to potato -o pushed", ("pushed",)),
    Case("push campaign plan --to label-studio --content show.csv --answers answers -o new", ("show.csv", "answers")),
    Case("push campaign plan --to prodigy --content show.csv -o new", ("show.csv",), 0.5),
    Case("push campaign plan --to inspect -o new", (), 0.5),
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """The good files: a campaign with its plan and answers, and every export."""
    folder = tmp_path_factory.mktemp("desk")
    with inside(folder):
        lay(folder, MADE[:3])
        lay_exports(folder)
        (folder / "tokens.csv").write_text(
            "worker,input,output,batch\nada,3,15,\nbo,3,15,yes\nchen,0,0,no\n", encoding="utf-8"
        )
        (folder / "who.csv").write_text("worker,account\nada,ada@example.org\n", encoding="utf-8")
        (folder / "show.csv").write_text(
            "task,text\n" + "".join(f"t{k},photo {k}\n" for k in range(6)), encoding="utf-8"
        )
        done = CliRunner().invoke(main, ["push", "campaign", "plan", "--to", "potato", "-o", "pushed"])
        assert done.exit_code == 0, done.output
    return folder


def beside(desk: Path, folder: Path, case: Case) -> None:
    """What a command reads beside the file that is damaged."""
    for name in ("campaign", "plan", "studio.json", "show.csv"):
        if name in case.words.split() and name not in case.reads:
            copy(desk, folder, (name,))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_without_damage_every_command_answers(desk, tmp_path, case):
    """Otherwise the trials below would try nothing."""
    copy(desk, tmp_path, case.reads)
    beside(desk, tmp_path, case)
    with inside(tmp_path):
        result = CliRunner().invoke(main, case.words.split())
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("first", firsts(FEW, EACH))
def test_damaged_exports_end_in_an_answer_or_a_sentence(desk, first):
    """No traceback, no leftover, one line that says what is wrong."""
    wrong = [trial(desk, seed, CASES, beside) for seed in range(first, first + EACH)]
    assert not [said for said in wrong if said]


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 100_000 + MANY, 500))
def test_many_damaged_exports_end_in_an_answer_or_a_sentence(desk, first):
    """The same with other seeds, 10,000 of them."""
    wrong = [trial(desk, seed, CASES, beside) for seed in range(first, first + 500)]
    assert not [said for said in wrong if said]
