"""A panel of judges from `init --panel` to answers, with families, a group's share and an own row."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import crowdopt
from crowdopt.crowd.vote_errors import breaches
from tests.typed import rows
from tests.typed import said as run


def test_a_panel_from_init_to_answers(tmp_path: Path) -> None:
    """Solve, verify, rehearse, answer and write the next round: no item has two judges of a family."""
    camp, plan = tmp_path / "panel", tmp_path / "plan"
    run("init", "--panel", camp)
    (camp / "rows.csv").write_text("row,task,worker,coefficient,lower\nkeep busy,,west-small,1,5\n", encoding="utf-8")
    said = run("solve", camp, "-o", plan)
    assert "proven optimal" in said
    assert json.loads(run("verify", camp, plan, "--json"))["holds"]
    pairs = [(row["task"], row["worker"]) for row in rows(plan / "assignment.csv")]
    families = Counter((task, worker.partition("-")[0]) for task, worker in pairs)
    assert set(families.values()) == {1}
    dear = sum(worker in ("north-large", "south-large") for _, worker in pairs)
    assert dear <= len(pairs) / 2 and sum(worker == "west-small" for _, worker in pairs) >= 5
    labels, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    run("rehearse", camp, plan, "-o", labels, "--truth", truth, "--lost", "0.1")
    run("aggregate", labels, "--plan", plan, "--campaign", camp, "-o", tmp_path / "answers")
    assert len(rows(tmp_path / "answers" / "answers.csv")) == 40
    after = tmp_path / "answers" / "campaign"
    assert sorted(map(str, crowdopt.read_campaign(after).groups)) == sorted(
        map(str, crowdopt.read_campaign(camp).groups)
    )
    had = sum(row["worker"] == "west-small" for row in rows(after / "collected.csv"))
    row = rows(after / "rows.csv")[0]
    assert float(row["lower"]) == 5 - had, "a row is about labels to come"


@pytest.mark.slow
def test_a_round_that_cannot_go_on_says_which_items_and_what_to_do(tmp_path: Path) -> None:
    """An item whose three families disagree may have no other judge: accepted as it is, the campaign goes on."""
    camp, answers = tmp_path / "panel", tmp_path / "answers"
    run("init", "--panel", camp)
    run("solve", camp, "-o", tmp_path / "plan")
    said = run("rehearse", camp, tmp_path / "plan", "--seed", "1", "-o", tmp_path / "labels.csv")
    assert "within each of 3 families" in said
    said = run("aggregate", tmp_path / "labels.csv", "--plan", tmp_path / "plan", "--campaign", camp, "-o", answers)
    stuck = re.search(r"(\d+) of those not sure can have no more labels within the limits: item-", said)
    said = run("solve", answers / "campaign", "-o", tmp_path / "next", code=1)
    blocked = re.findall(r"group \w+: its max_per_task blocks (\d+) task", said)
    assert stuck and sum(map(int, blocked)) == int(stuck[1]) > 0
    found = crowdopt.explain(answers / "campaign", time_limit=120)
    way = next(way for way in found.ways if way.kind == "accepted")
    assert way.amount == int(stuck[1]) and "tasks.csv" in way.sentence and not breaches(way.instance, way.pairs)
