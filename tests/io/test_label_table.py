"""The one reader of label tables: every verb that reads labels complains in the same words."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.io.tables.label_table import campaign_pairs, read_label_table, read_labels, read_truth, read_types

TABLE = "task,worker,label,seconds\nt1,ada,yes,3\nt2,bo,no,4\nt1,bo,yes,5\n"


@pytest.fixture
def labels(tmp_path):
    """A small label table with a column more than needed."""
    path = tmp_path / "labels.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_labels_keep_the_order_of_appearance(labels):
    """Tasks and workers as they come, classes sorted: so that equal tables give equal answers."""
    table = read_labels(labels)
    assert (table.tasks, table.workers, table.classes) == (("t1", "t2"), ("ada", "bo"), ("no", "yes"))
    assert table.label.tolist() == [1, 0, 1]


def test_truth_that_nobody_said_is_a_class_beyond(labels, tmp_path):
    """A truth outside the labels counts against every worker; an unknown one against and for none."""
    (tmp_path / "truth.csv").write_text("task,label\nt1,maybe\n", encoding="utf-8")
    assert read_truth(tmp_path / "truth.csv", read_labels(labels)).tolist() == [2, -1]
    assert read_truth(tmp_path / "truth.csv", read_labels(labels, ["maybe"])).tolist() == [0, -1]


def test_types_are_sorted_and_complete(labels, tmp_path):
    """Every labelled task needs a type; without a table all are of one."""
    (tmp_path / "types.csv").write_text("task,type\nt2,bird\nt1,plant\n", encoding="utf-8")
    kinds, names = read_types(tmp_path / "types.csv", ("t1", "t2"))
    assert (kinds.tolist(), names) == ([1, 0], ["bird", "plant"])
    assert read_types(None, ("t1", "t2"))[0].tolist() == [0, 0]
    with pytest.raises(InputError, match="types.csv has no type for task 't3'; every labelled task needs one"):
        read_types(tmp_path / "types.csv", ("t1", "t3"))


WRONG = {
    "line 3, column worker: is empty": ("t2,bo,no", "t2,,no"),
    "worker bo labelled task t1 more than once": ("t2,bo,no", "t1,bo,no"),
    "has the one label 'yes' only": ("no,4", "yes,4"),
    "no column 'label'": ("label,", "lable,"),
}


@pytest.mark.parametrize("complaint", WRONG)
def test_what_cannot_be_used_is_named(labels, complaint):
    """File, line and column of the first thing that is wrong."""
    old, new = WRONG[complaint]
    labels.write_text(TABLE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=f"labels.csv.*{complaint}"):
        read_labels(labels)


def test_pairs_are_in_the_campaigns_indices(labels):
    """A label of a task that the campaign does not have names line and id."""
    from crowdopt import AssignmentInstance

    instance = AssignmentInstance([[0.9, 0.8]] * 2, None, [2, 2], 0.1, tasks=["t2", "t1"], workers=["bo", "ada"])
    pairs = campaign_pairs(read_label_table(labels), instance)
    assert np.array_equal(pairs, [[1, 1], [0, 0], [1, 0]])
    labels.write_text(TABLE.replace("t2,bo", "t9,bo"), encoding="utf-8")
    with pytest.raises(InputError, match="line 3, column task: unknown task 't9'.*not in the campaign"):
        campaign_pairs(read_label_table(labels), instance)
