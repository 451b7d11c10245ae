"""Campaigns from tables at hand are those of a folder with the same tables; plans read back are those written."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError

TABLES = {
    "tasks": {"task": ["a", "b", "c"], "type": ["x", "y", "x"]},
    "workers": {"worker": ["u", "v", "w"], "capacity": [3, 3, 2], "price": [1, 2.5, 1], "family": ["f", "f", ""]},
    "gold": {"worker": ["u", "v", "w"], "correct": [9, 8, 9], "asked": [10, 10, 10]},
    "forbidden": {"task": ["a"], "worker": ["u"]},
}
SETTINGS = {"epsilon": np.float64(0.2), "classes": ["no", "yes"], "prior": {"no": 0.6, "yes": 0.4}, "title": 'a "b"'}


def test_a_campaign_of_columns_is_that_of_its_folder(tmp_path):
    """The folder that it is written to says the same of every field."""
    made = crowdopt.campaign(**TABLES, **SETTINGS)
    assert made.title == 'a "b"' and made.class_names == ("no", "yes") and made.epsilon.tolist() == [0.2] * 3
    assert made.groups and made.forbidden.tolist() == [[0, 0]]
    crowdopt.write_campaign(made, tmp_path / "c")
    again = crowdopt.read_campaign(tmp_path / "c")
    for name in ("capacity", "epsilon", "prior", "forbidden", "task_type"):
        assert np.array_equal(getattr(made, name), getattr(again, name)), name
    assert np.allclose(made.accuracy, again.accuracy) and np.array_equal(made.cost, again.cost)


def test_files_and_columns_mix_and_a_fault_is_named_as_in_a_folder(tmp_path):
    (tmp_path / "t.csv").write_text("task,type\na,x\nb,y\nc,x\n", encoding="utf-8")
    made = crowdopt.campaign(**{**TABLES, "tasks": tmp_path / "t.csv"}, **SETTINGS)
    assert made.task_ids == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"gold.csv, line 3, column correct"):
        crowdopt.campaign(**{**TABLES, "gold": {**TABLES["gold"], "correct": [9, 11, 9]}}, **SETTINGS)
    with pytest.raises(InputError, match="epsilom"):
        crowdopt.campaign(**TABLES, epsilom=0.1)
    with pytest.raises(InputError, match="title must be a number, text"):
        crowdopt.campaign(**TABLES, **{**SETTINGS, "title": object()})


def test_a_plan_read_back_is_the_one_that_was_written(tmp_path):
    """Also one of shares, and with settings in place of the campaign's; another campaign's is a sentence."""
    birds, panel = tmp_path / "c", tmp_path / "panel"
    crowdopt.init(birds)
    crowdopt.init(panel, panel=True)
    lp, other = {"program": "lp"}, {"rule": "hoeffding", "epsilon": 0.3}
    for campaign, words in ((birds, {}), (birds, lp), (birds, other), (panel, {"method": "adaptive"})):
        plan = crowdopt.solve(campaign, output=tmp_path / "p", force=True, **words)
        read = crowdopt.read_plan(campaign, tmp_path / "p")
        assert sorted(read.pairs.tolist()) == sorted(plan.pairs.tolist())
        assert read.objective == plan.objective and read.proven == plan.proven and read.bound == plan.bound
        assert read.instance.rule == plan.instance.rule
        assert np.array_equal(read.instance.epsilon, plan.instance.epsilon)
        assert "share" in str(read)
        assert words != lp or read.shares.sum() == pytest.approx(plan.labels)
    with pytest.raises(InputError):
        crowdopt.read_plan(birds, tmp_path / "p")
