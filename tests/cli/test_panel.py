"""A panel of judges from `init --panel` to answers, with families, a group's share and an own row."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import crowdopt
from crowdopt.crowd.vote_errors import breaches
from tests.io import write_table
from tests.typed import column, rows, said


def test_a_panel_from_init_to_answers(tmp_path: Path) -> None:
    """Solve, verify, rehearse, answer and write the next round: no item has two judges of a family."""
    camp, plan, labels, after = (tmp_path / name for name in ("panel", "plan", "labels.csv", "answers/campaign"))
    crowdopt.init(camp, panel=True)
    write_table(camp / "rows.csv", "row,task,worker,coefficient,lower", "keep busy,,west-small,1,5")
    assert crowdopt.solve(camp, output=plan).proven and crowdopt.verify(camp, plan).holds
    pairs = [(row["task"], row["worker"]) for row in rows(plan / "assignment.csv")]
    families = Counter((task, worker.partition("-")[0]) for task, worker in pairs)
    assert set(families.values()) == {1}
    dear = sum(worker in ("north-large", "south-large") for _, worker in pairs)
    assert dear <= len(pairs) / 2 and sum(worker == "west-small" for _, worker in pairs) >= 5
    crowdopt.rehearse(camp, plan, output=labels, lost=0.1)
    crowdopt.aggregate(labels, plan=plan, campaign=camp, output=tmp_path / "answers")
    groups = [sorted(map(str, crowdopt.read_campaign(folder).groups)) for folder in (camp, after)]
    assert len(rows(tmp_path / "answers" / "answers.csv")) == 40 and groups[0] == groups[1]
    had = column(after / "collected.csv", "worker").count("west-small")
    assert float(rows(after / "rows.csv")[0]["lower"]) == 5 - had, "a row is about labels to come"


@pytest.mark.slow
def test_a_round_that_cannot_go_on_says_which_items_and_what_to_do(tmp_path: Path) -> None:
    """An item whose three families disagree may have no other judge: accepted as it is, the campaign goes on."""
    camp, plan, labels, answers = (tmp_path / name for name in ("panel", "plan", "labels.csv", "answers"))
    crowdopt.init(camp, panel=True)
    crowdopt.solve(camp, output=plan)
    assert "within each of 3 families" in said("rehearse", camp, plan, "--seed", "1", "-o", labels)
    told = said("aggregate", labels, "--plan", plan, "--campaign", camp, "-o", answers)
    stuck = re.search(r"(\d+) of those not sure can have no more labels within the limits: item-", told)
    told = said("solve", answers / "campaign", "-o", tmp_path / "next", code=1)
    blocked = re.findall(r"group \w+: its max_per_task blocks (\d+) task", told)
    assert stuck and sum(map(int, blocked)) == int(stuck[1]) > 0
    found = crowdopt.explain(answers / "campaign", time_limit=120)
    way = next(way for way in found.ways if way.kind == "accepted")
    assert way.amount == int(stuck[1]) and "tasks.csv" in way.sentence and not breaches(way.instance, way.pairs)
