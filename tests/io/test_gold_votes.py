"""gold_votes.csv: read into who was right, refused in one sentence, and heeded by plans that verify."""

import json

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_tables import Ids
from crowdopt.io.campaign.gold_table import read_gold_votes

IDS = Ids(["t"], ["ann", "bo"], ["all"])
HEAD = "item,worker,label,truth\n"


def table(folder, rows):
    """A table of gold votes."""
    path = folder / "gold_votes.csv"
    path.write_text(HEAD + rows)
    return path


def test_votes_are_right_wrong_or_not_asked(tmp_path):
    """1, 0, -1, items in the order of their first row."""
    right = read_gold_votes(table(tmp_path, "q2,bo,a,a\nq1,ann,b,a\nq2,ann,a,a\n"), IDS)
    assert right.tolist() == [[1, 1], [0, -1]]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("q1,eve,a,a\n", "line 2.*eve"),
        ("q1,ann,a,a\nq1,ann,b,a\n", "line 3.*was there before"),
        ("q1,ann,a,a\nq1,bo,b,b\n", "line 3.*give it one truth"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tmp_path, rows, says):
    """With its line."""
    with pytest.raises(InputError, match=says):
        read_gold_votes(table(tmp_path, rows), IDS)


def test_a_campaign_with_hard_gold_is_planned_for_hard_tasks_and_verifies(tmp_path):
    """40 % of the items are guessed by all ten workers: difficulty is learned, recorded, and holds for verify."""
    rng = np.random.default_rng(0)
    hard = rng.random(300) < 0.4
    right = rng.random((300, 10)) < np.where(hard, 0.5, 0.95)[:, None]
    campaign = tmp_path / "campaign"
    campaign.mkdir()
    (campaign / "campaign.toml").write_text("epsilon = 0.3\n")
    (campaign / "tasks.csv").write_text("task\n" + "".join(f"t{i}\n" for i in range(20)))
    (campaign / "workers.csv").write_text("worker,capacity\n" + "".join(f"w{j},20\n" for j in range(10)))
    table(campaign, "".join(f"q{i},w{j},{int(right[i, j])},1\n" for i in range(300) for j in range(10)))
    instance = crowdopt.read_campaign(campaign)
    assert instance.difficulty.share > 0.2 and "latent difficulty" in instance.skills_source
    plan = crowdopt.assign(instance, time_limit=20)
    crowdopt.write_plan(plan, tmp_path / "plan")
    written = json.loads((tmp_path / "plan" / "plan.json").read_text())["difficulty"]
    assert written == {"share": instance.difficulty.share, "left": instance.difficulty.left}
    assert crowdopt.verify(campaign, tmp_path / "plan").holds
