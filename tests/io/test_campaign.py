"""Campaign folders: read back what was written, refuse what cannot be used, in one sentence."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, read_campaign, recipe, write_campaign
from crowdopt.io.samples import write_sample
from tests.io import write_table
from tests.small import instances

SAME_FOLDER = [HealthCheck.function_scoped_fixture]


def same(one: AssignmentInstance, other: AssignmentInstance, but: tuple[str, ...] = ()) -> bool:
    """Whether two instances agree in every field, ids that default to 0, 1, 2, ... spelled out or not."""
    names = [field.name for field in fields(one) if field.name not in (*but, "origin")]
    sides = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in sides)


@settings(max_examples=15, suppress_health_check=SAME_FOLDER)
@given(instances())
def test_what_is_written_is_read_back(tmp_path, instance):
    """A campaign folder holds the whole instance, to the last bit of every accuracy."""
    folder = tmp_path / "campaign"
    kinds = [f"type {k}" for k in range(instance.n_types)]
    used = np.unique(instance.task_type)
    instance = replace(instance, types=kinds)
    write_campaign(instance, folder, force=True, collected_labels=["x"] * len(instance.collected))
    back = read_campaign(folder)
    order = [back.types.index(kinds[kind]) for kind in used]
    assert np.array_equal(back.accuracy[order], instance.accuracy[used])
    assert np.array_equal(back.cost[order], instance.cost[used])
    assert [back.types[kind] for kind in back.task_type] == [kinds[kind] for kind in instance.task_type]
    assert same(instance, back, but=("accuracy", "cost", "task_type", "types", "tasks", "workers"))


@settings(max_examples=10, suppress_health_check=SAME_FOLDER)
@given(instances())
def test_an_archive_holds_the_whole_instance(tmp_path, instance):
    """One .npz file, read back bit by bit, written twice to the same bytes."""
    first, second = tmp_path / "one.npz", tmp_path / "two.npz"
    write_campaign(instance, first, force=True)
    write_campaign(instance, second, force=True)
    assert same(instance, read_campaign(first))
    assert first.read_bytes() == second.read_bytes()


NAMES = st.lists(st.text('ab1é猫 ,;"|\n\r=-', min_size=1, max_size=5).filter(str.strip), unique_by=str.strip)


@settings(max_examples=25, suppress_health_check=SAME_FOLDER)
@given(NAMES)
@example(['a,b "c"', "two\nlines", "ünï", "a\rb"])  # Python's csv leaves a lone \r without quotes before 3.13
def test_ids_of_any_text_are_read_back(tmp_path, names):
    """An id is any text, and errors still count lines rightly where one has several."""
    names, folder = [*map(str.strip, names), "the last"], tmp_path / "odd"
    write_campaign(AssignmentInstance([[0.9] * len(names)], [0], 1, 0.2, workers=names), folder, force=True)
    assert read_campaign(folder).workers == tuple(names)
    text = (folder / "workers.csv").read_bytes().decode()
    (folder / "workers.csv").write_bytes(re.sub(r"1\s*$", "x", text).encode())
    lines = len(re.findall("\r\n|\r|\n", text))
    with pytest.raises(InputError, match=f"workers.csv, line {lines}, column capacity"):
        read_campaign(folder)


@pytest.fixture
def campaign(tmp_path) -> Path:
    """The sample campaign, to be broken."""
    write_sample(tmp_path / "sample")
    return tmp_path / "sample"


def edit(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


CLASSES = 'classes = ["yes", "no"]'
EDITS = {  # a file of the sample campaign, what is replaced in it by what, and the sentence, or what is read
    "NaN": ("gold.csv", "ada,bird,19", "ada,bird,nan", "line 2, column correct: 'nan' is not a whole number"),
    "gold that is a share": ("gold.csv", "ada,bird,19", "ada,bird,95%", "write the share, 0.95"),
    "unknown worker": ("gold.csv", "bo,bird", "boo,bird", "unknown worker 'boo' (did you mean 'bo'"),
    "unknown type": ("gold.csv", "bo,bird", "bo,brid", "line 4, column type: unknown type 'brid' (did you mean 'bird'"),
    "cell twice": ("gold.csv", "bo,bird", "ada,bird", "line 4, column worker: this worker and type was there before"),
    "capacity with a point": ("workers.csv", "ada,16", "ada,16.0", 16),
    "capacity with a comma": ("workers.csv", "ada,16", 'ada,"1,000"', "write it without commas, 1000"),
    "capacity with half a task": ("workers.csv", "ada,16", "ada,16.5", "'16.5' is not a whole number"),
    "huge capacity": ("workers.csv", "ada,16", "ada,99999999999999999999", "is not a whole number"),
    "capacity by another name": ("workers.csv", "capacity", "max_tasks", "did you mean 'capacity' by 'max_tasks'"),
    "worker twice": ("workers.csv", "bo,16", "ada,16", "line 3, column worker: 'ada' was there before"),
    "an optional column with a capital": ("tasks.csv", "task,type", "task,Type", "did you mean 'type'"),
    "epsilon as a percentage": ("campaign.toml", "epsilon = 0.1", "epsilon = 5", "0.05 is 5 %"),
    "epsilon text": ("campaign.toml", "epsilon = 0.1", 'epsilon = "a"', "epsilon must be a number between"),
    "epsilon missing": ("campaign.toml", "epsilon = 0.1", "", "no epsilon; add a line"),
    "not TOML": ("campaign.toml", "epsilon = 0.1", "epsilon 0.1", "campaign.toml is not TOML"),
    "unknown rule": ("campaign.toml", '# rule = "bhatt', 'rule = "batt', "unknown rule 'battacharyya'; the rules are"),
    "unknown estimator": ("campaign.toml", "epsilon =", 'skills = "best"\nepsilon =', "skills must be one of averaged"),
    "a rounded prior": ("campaign.toml", CLASSES, "prior = {a=0.333, b=0.333, c=0.333}", 3),
    "a prior that does not add up": ("campaign.toml", CLASSES, "prior = {a=0.5, b=0.3}", "add up to 0.8; they must"),
    "names of classes": ("campaign.toml", CLASSES, 'classes = ["cat", "dog", "fox"]', 3),
    "classes twice": ("campaign.toml", CLASSES, 'classes = ["cat", "cat"]', "or names such as"),
    "too many classes": ("campaign.toml", CLASSES, f"classes = {2**63 - 1}", "a whole number from 2 to 10000"),
}


@pytest.mark.parametrize(("name", "old", "new", "wanted"), EDITS.values(), ids=EDITS.keys())
@pytest.mark.filterwarnings("ignore::crowdopt.errors.TableWarning")
def test_a_broken_cell_is_named_with_its_line(campaign, name, old, new, wanted):
    """File, line, column and remedy; a number that is as plain as it looks is read."""
    edit(campaign / name, old, new)
    if isinstance(wanted, int):
        instance = read_campaign(campaign)
        assert wanted in (instance.classes, instance.capacity[0])
        assert instance.classes != 3 or abs(instance.prior - 1 / 3).max() < 1e-15
        return
    with pytest.raises(InputError, match=re.escape(wanted)):
        read_campaign(campaign)


@pytest.mark.parametrize("name", ["campaign.toml", "tasks.csv", "workers.csv", "gold.csv"])
def test_a_missing_or_empty_table_is_named(campaign, name):
    """Nothing is guessed in place of a table, nor of its rows; where there is no folder the remedy is a verb."""
    head = (campaign / name).read_text(encoding="utf-8").splitlines()[0]
    if name != "campaign.toml":
        for text, said in (("", "is empty"), (f"{head}\n", ".*(no rows|no worker was asked)")):
            (campaign / name).write_text(text, encoding="utf-8")
            with pytest.raises(InputError, match=f"{name} ?{said}"):
                read_campaign(campaign)
    (campaign / name).unlink()
    for folder, said in ((campaign, name), (campaign / "nowhere", "crowdopt init")):
        with pytest.raises(InputError, match=said):
            read_campaign(folder)


@pytest.mark.parametrize("ending", ["numbers", "tsv", "CSV"])
def test_a_table_of_another_format_is_named(campaign, ending):
    """An optional table that is there under another name is not passed over."""
    write_table(campaign / f"forbidden.{ending}", "task,worker")
    with pytest.raises(InputError, match=rf"forbidden.{ending} is "):
        read_campaign(campaign)


def test_parquet_reads_like_csv(campaign):
    """With pyarrow a table may be Parquet; both at once are refused."""
    pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    expected = read_campaign(campaign)
    for path in campaign.glob("*.csv"):
        parquet.write_table(csv.read_csv(path), path.with_suffix(".parquet"))
    with pytest.raises(InputError, match="both tasks.csv and tasks.parquet"):
        read_campaign(campaign)
    for path in campaign.glob("*.csv"):
        path.unlink()
    assert same(expected, read_campaign(campaign))


def test_an_archive_of_the_wrong_kind_is_refused(tmp_path):
    """Every entry has its kind; another one is a sentence."""
    path = tmp_path / "x.npz"
    write_campaign(recipe("R10:20x20"), path)
    with np.load(path) as stored:
        entries = dict(stored)
    for name in ("rule", "classes", "task_type", "tasks", "budget", "format", "observed"):
        for wrong in (np.zeros((2, 2)), np.array("text"), np.array([b"bytes"]), np.array(1 + 2j)):
            np.savez(path, **{**entries, name: wrong})
            try:
                read_campaign(path)
            except InputError as error:
                assert "\n" not in str(error)
            else:
                assert (name, wrong.dtype.kind) == ("rule", "U")


def test_a_pair_without_gold_takes_its_types_mean(campaign):
    """A worker who was never asked about plants is believed to be like those who were."""
    edit(campaign / "gold.csv", "ada,plant,11,20\n", "")
    edit(campaign / "gold.csv", "bo,plant,18,20\n", "")
    instance = read_campaign(campaign)
    plant = instance.accuracy[instance.types.index("plant")]
    assert plant[0] == plant[1] and plant[2:].min() < plant[0] < plant[2:].max()
    assert instance.skills_source == "averaged from gold"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["worker,accuracy", "ada,0.9"], "no row for worker 'bo', type 'plant'"),
        (["worker,accuracy", "ada,1.9"], r"line 2, column accuracy: 1.9 is not in \[0, 1\]"),
    ],
)
def test_skills_must_be_complete(campaign, lines, said):
    """Given accuracies are facts: a missing one is asked for, not invented."""
    (campaign / "gold.csv").unlink()
    with pytest.raises(InputError, match="neither of skills.csv and gold.csv"):
        read_campaign(campaign)
    write_table(campaign / "skills.csv", *lines)
    with pytest.raises(InputError, match=said):
        read_campaign(campaign)


def test_a_scaled_demand_is_no_campaign(tmp_path):
    """The papers' transformed programs are not something to hand to workers."""
    with pytest.raises(InputError, match="whole need"):
        write_campaign(replace(recipe("R1:20x100"), demand=0.5), tmp_path / "x")
