"""Campaigns in parts: a part says what an instance says, is the same wherever it is drawn, and faults have a place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError
from crowdopt.io.parts import count_tasks, read_part, read_parts_folder
from crowdopt.verbs.parts import take_apart

pq = pytest.importorskip("pyarrow.parquet", reason="the extra frames is not installed")


OWN = {"epsilon": np.linspace(0.2, 0.4, 12), "forbidden": [[0, 1], [0, 4], [7, 2]], "fixed": [[1, 0], [11, 3]]}
OWN_ACCURACIES = replace(recipe("I2:12x5", seed=3), **OWN)


@pytest.mark.parametrize("instance", [OWN_ACCURACIES, recipe("T3:12x5", seed=1)], ids=["own accuracies", "types"])
def test_parts_say_what_the_instance_says(instance, tmp_path):
    """Put together again in the order of the parts, every number of every task is what it was."""
    folder = take_apart(instance, parts=5, output=tmp_path / "parts")
    parts = [read_part(folder, part) for part in folder.parts]
    assert [part.instance.n_tasks for part in parts] == [count_tasks(folder, part) for part in folder.parts]
    accuracy = np.concatenate([part.instance.accuracy[part.instance.task_type] for part in parts])
    assert (accuracy == instance.accuracy[instance.task_type]).all()
    assert (np.concatenate([part.instance.epsilon for part in parts]) == instance.epsilon).all()
    assert [name for part in parts for name in part.ids.to_pylist()] == [instance.task_id(i) for i in range(12)]
    starts = np.cumsum([0] + [part.instance.n_tasks for part in parts])
    for name in ("forbidden", "fixed"):
        pairs = [getattr(one.instance, name) + np.array([k, 0]) for one, k in zip(parts, starts, strict=False)]
        assert (np.concatenate(pairs) == getattr(instance, name)).all()
    for part in parts:
        assert (part.instance.cost[0] == instance.cost[0]).all() and (part.instance.capacity == instance.capacity).all()


def test_an_empty_target_is_the_campaigns_and_a_rule_is_one_whose_sums_decide(tmp_path):
    """A column of targets beside the one that campaign.toml states; parts hold no vote against its target."""
    folder = take_apart(recipe("I2:12x5", seed=3), parts=3, output=tmp_path / "parts")
    stated = read_part(folder, "part-0.parquet").instance.epsilon[0]
    table = pq.read_table(folder.path("part-0.parquet"))
    pq.write_table(table.append_column("epsilon", [[None, 0.1, 0.2, None]]), folder.path("part-0.parquet"))
    read = read_part(read_parts_folder(folder.folder), "part-0.parquet").instance.epsilon
    assert read.tolist() == [stated, 0.1, 0.2, stated]
    toml = folder.folder / "campaign.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("bhattacharyya", "probit"), encoding="utf-8")
    with pytest.raises(InputError, match="rule probit needs votes checked"):
        read_parts_folder(folder.folder)


FAULTS = {
    "row 3, column w1: 1.5 is not in [0, 1]": {"w1": [0.5, 0.6, 1.5]},
    "row 2, column w1: is empty": {"w1": [0.5, None, 0.6]},
    "row 3, column task: 'b' was there before": {"task": ["a", "b", "b"]},
    "row 1, column epsilon: must lie strictly": {"epsilon": [0.7, 0.1, 0.1]},
    "row 2, column forbidden: has a worker whom": {"forbidden": [[], ["w9"], ["w1"]]},
    "row 1, column fixed: has a worker twice": {"fixed": [["w1", "w1"], [], []]},
    "has the column 'w9'": {"w9": [0.5, 0.5, 0.5]},
}


@pytest.mark.parametrize("sentence", FAULTS)
def test_a_fault_has_a_file_and_a_row(sentence, tmp_path):
    """Among thousands of files only the place of a fault helps."""
    import pyarrow

    folder = take_apart(replace(recipe("I2:6x2"), workers=["w0", "w1"]), parts=2, output=tmp_path / "parts")
    table = pq.read_table(folder.path("part-1.parquet")).to_pydict()
    pq.write_table(pyarrow.table({**table, **FAULTS[sentence]}), folder.path("part-1.parquet"))
    with pytest.raises(InputError) as refused:
        read_part(folder, "part-1.parquet")
    assert str(refused.value).startswith("part-1.parquet") and sentence in str(refused.value)
