"""Real labels into a campaign."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError, import_labels, read_campaign
from tests.io import write_table
from tests.typed import said

LABELS = "task,worker,label\n1,u,cat\n1,v,dog\n2,u,dog\n2,v,dog\n3,u,cat\n3,w,cat\n"


@pytest.fixture
def tables(tmp_path):
    """A label table with truth and types."""
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    (tmp_path / "truth.csv").write_text("task,label\n1,cat\n2,dog\n", encoding="utf-8")
    (tmp_path / "types.csv").write_text("task,type\n1,day\n2,night\n3,night\n", encoding="utf-8")
    return tmp_path


def test_tallies_per_worker_and_type(tables):
    """u: right on 1 (day) and 2 (night); v: wrong on 1, right on 2; task 3 has no truth and counts for neither."""
    found = import_labels(tables / "labels.csv", tables / "truth.csv", types=tables / "types.csv", epsilon=0.3)
    correct, asked = found.gold
    assert found.instance.types == ("day", "night") and found.instance.workers == ("u", "v", "w")
    assert correct.tolist() == [[1, 0, 0], [1, 1, 0]] and asked.tolist() == [[1, 1, 0], [1, 1, 0]]
    assert found.instance.capacity.tolist() == [3, 2, 1] and found.gold_source == "truth"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("labels.csv", "task,worker,label\n", "there is no label"),
        ("labels.csv", "task,worker,label\n1,u,cat\n1,u,dog\n", "labels.csv: worker u labelled task 1 more than once"),
        ("labels.csv", "task,worker,label\n1,u,cat\n2,u,cat\n", "nothing to decide"),
        ("truth.csv", "task,label\n8,cat\n9,dog\n", "knows none of the tasks"),
        ("truth.csv", "task,label\n1,cat\n1,dog\n", "'1' was there before"),
        ("types.csv", "task,type\n1,day\n", "no type for task '2'"),
    ],
)
def test_bad_tables_are_named(tables, name, text, sentence):
    """Which table, which line, what to do."""
    (tables / name).write_text(text, encoding="utf-8")
    truth = None if "nothing to decide" in sentence else tables / "truth.csv"
    with pytest.raises(InputError, match=sentence):
        import_labels(tables / "labels.csv", truth, types=tables / "types.csv")


def test_workers_who_err_together_are_named_and_become_families(tmp_path):
    """Two who copy from one another are seen in their errors; a type that is hard for all is not that.

    Nothing is drawn: a task's number has three digits to base 5 for each type, and a worker errs by their own digit, so
    errors of others are exactly unrelated within a type.
    """
    digit, hard = np.arange(250)[:, None] // 2 // [1, 5, 25] % 5, np.arange(250) % 2 == 1
    truth = np.arange(250) // 2 % 2
    wrong = (digit < np.where(hard, 2, 1)[:, None])[:, [0, 0, 1, 2]]
    wrong[:, 1] &= digit.sum(axis=1) % 5 > 0  # a copy of the first's, but for a fifth of the tasks
    labels, truths, types = (tmp_path / f"{name}.csv" for name in ("labels", "truth", "types"))
    votes = [f"t{i},w{j},{truth[i] ^ wrong[i, j]}" for i in range(250) for j in range(4)]
    write_table(labels, "task,worker,label", *votes)
    write_table(truths, "task,label", *(f"t{i},{truth[i]}" for i in range(250)))
    write_table(types, "task,type", *(f"t{i},{'hard' if hard[i] else 'easy'}" for i in range(250)))
    made = import_labels(labels, truths, types=types, families=True, output=tmp_path / "c")
    assert [family.tolist() for family in made.families] == [[0, 1]]
    assert 1 <= made.together.effective_votes([0, 1]) < 1.3
    back = read_campaign(tmp_path / "c")
    assert [(group.members, group.dependent, group.max_per_task) for group in back.groups] == [((0, 1), True, 1)]
    told = said("import", labels, "--truth", truths, "--types", types, "-o", tmp_path / "d")
    assert "errors go together: 1 of 6 pairs" in told and "suggested family: w0, w1; 2 votes worth 1." in told
    with pytest.raises(InputError, match="--truth"):
        import_labels(labels, families=True)
