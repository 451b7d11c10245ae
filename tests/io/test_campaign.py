"""Campaign folders: read back what was written, refuse what cannot be used, in one sentence."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, read_campaign, recipe, write_campaign
from crowdopt.io.campaign.sample import write_sample
from tests.small import instances


def same(one: AssignmentInstance, other: AssignmentInstance, but: tuple[str, ...] = ()) -> bool:
    """Whether two instances agree in every field, ids that default to 0, 1, 2, ... spelled out or not."""
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if field.name in (*but, "origin"):
            continue
        equal = np.array_equal(first, second) if isinstance(first, np.ndarray) else first == second
        if not equal:
            return False
    return True


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(instances())
def test_what_is_written_is_read_back(tmp_path, instance):
    """A campaign folder holds the whole instance, to the last bit of every accuracy."""
    folder = tmp_path / "campaign"
    kinds = [f"type {k}" for k in range(instance.n_types)]
    from dataclasses import replace

    used = np.unique(instance.task_type)
    instance = replace(instance, types=kinds)
    write_campaign(instance, folder, force=True, collected_labels=["x"] * len(instance.collected))
    back = read_campaign(folder)
    order = [back.types.index(kinds[kind]) for kind in used]
    assert np.array_equal(back.accuracy[order], instance.accuracy[used])
    assert np.array_equal(back.cost[order], instance.cost[used])
    named = [back.types[kind] for kind in back.task_type]
    assert named == [kinds[kind] for kind in instance.task_type]
    assert same(instance, back, but=("accuracy", "cost", "task_type", "types", "tasks", "workers"))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(instances())
def test_an_archive_holds_the_whole_instance(tmp_path, instance):
    """One .npz file, read back bit by bit, written twice to the same bytes."""
    first, second = tmp_path / "one.npz", tmp_path / "two.npz"
    write_campaign(instance, first, force=True)
    write_campaign(instance, second, force=True)
    assert same(instance, read_campaign(first))
    assert first.read_bytes() == second.read_bytes()


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


EDITS = {
    "NaN": (
        "gold.csv",
        "ada,bird,19",
        "ada,bird,nan",
        r"gold.csv, line 2, column correct: 'nan' is not a whole number",
    ),
    "more right than asked": ("gold.csv", "19,20", "21,20", "line 2, column correct: 21 correct of 20 asked"),
    "unknown worker": (
        "gold.csv",
        "bo,bird",
        "boo,bird",
        r"line 4, column worker: unknown worker 'boo' \(did you mean 'bo'",
    ),
    "unknown type": (
        "gold.csv",
        "bo,bird",
        "bo,brid",
        r"line 4, column type: unknown type 'brid' \(did you mean 'bird'",
    ),
    "cell twice": ("gold.csv", "bo,bird", "ada,bird", "line 4, column worker: this worker and type was there before"),
    "negative capacity": (
        "workers.csv",
        "ada,16",
        "ada,-16",
        "workers.csv, line 2, column capacity: '-16' is not a whole",
    ),
    "fractional capacity": ("workers.csv", "ada,16", "ada,1.5", "column capacity: '1.5' is not a whole number"),
    "missing capacity": ("workers.csv", "ada,16", "ada,", "line 2, column capacity: is empty"),
    "huge capacity": ("workers.csv", "ada,16", "ada,99999999999999999999", "is not a whole number"),
    "worker twice": ("workers.csv", "bo,16", "ada,16", "line 3, column worker: 'ada' was there before"),
    "task twice": ("tasks.csv", "photo-02", "photo-01", "line 3, column task: 'photo-01' was there before"),
    "no id": ("tasks.csv", "photo-02", "", "line 3, column task: is empty"),
    "no type": ("tasks.csv", "photo-02,bird", "photo-02,", "column type: is empty"),
    "missing column": (
        "workers.csv",
        "capacity",
        "capacty",
        "there is no column 'capacity'; did you mean 'capacity' by 'capacty'\\? the header must be worker,cap",
    ),
    "wrong column": ("tasks.csv", "task,type", "task,typ", "unknown column 'typ'; did you mean 'type'"),
    "column twice": ("tasks.csv", "task,type", "task,task", "a column appears twice"),
    "ragged": ("tasks.csv", "photo-02,bird", "photo-02,bird,x", "tasks.csv, line 3: 3 cells where the header has 2"),
    "open quote": ("tasks.csv", "photo-02", '"photo-02', "is not CSV"),
    "epsilon half": ("campaign.toml", "epsilon = 0.1", "epsilon = 0.5", "epsilon must lie strictly between 0 and 1/2"),
    "epsilon text": ("campaign.toml", "epsilon = 0.1", 'epsilon = "a"', "epsilon must be a number between"),
    "epsilon missing": ("campaign.toml", "epsilon = 0.1", "", "no epsilon; add a line"),
    "unknown key": ("campaign.toml", "epsilon = 0.1", "epsilom = 0.1", "unknown key 'epsilom'; did you mean epsilon"),
    "not TOML": ("campaign.toml", "epsilon = 0.1", "epsilon 0.1", "campaign.toml is not TOML"),
    "unknown rule": ("campaign.toml", '# rule = "bhatt', 'rule = "batt', "unknown rule 'battacharyya'; the rules are"),
    "unknown estimator": (
        "campaign.toml",
        "epsilon =",
        'skills = "best"\nepsilon =',
        "skills must be one of empirical-bayes",
    ),
}


@pytest.mark.parametrize(("name", "old", "new", "sentence"), EDITS.values(), ids=EDITS.keys())
def test_a_broken_cell_is_named_with_its_line(campaign, name, old, new, sentence):
    """File, line, column and remedy, for a reader who has the file open in an editor."""
    edit(campaign / name, old, new)
    with pytest.raises(InputError, match=sentence):
        read_campaign(campaign)


@pytest.mark.parametrize("name", ["campaign.toml", "tasks.csv", "workers.csv", "gold.csv"])
def test_a_missing_or_empty_file_is_named(campaign, name):
    """Nothing is guessed in place of a table; campaign.toml may be empty of everything but epsilon."""
    (campaign / name).write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="no epsilon" if name == "campaign.toml" else f"{name} is empty"):
        read_campaign(campaign)
    (campaign / name).unlink()
    with pytest.raises(InputError, match=name):
        read_campaign(campaign)


@pytest.mark.parametrize("name", ["tasks.csv", "workers.csv", "gold.csv"])
def test_a_header_alone_is_no_table(campaign, name):
    """No tasks, no workers, no gold: nothing to plan with."""
    path = campaign / name
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}.*(no rows|no worker was asked)"):
        read_campaign(campaign)


def test_a_folder_that_is_not_there(tmp_path):
    """The remedy is a verb."""
    with pytest.raises(InputError, match="crowdopt init"):
        read_campaign(tmp_path / "nowhere")


@pytest.mark.parametrize("disguise", ["bom", "crlf", "blank lines", "quotes", "spaces"])
def test_spreadsheets_may_write_csv_their_way(campaign, disguise):
    """A BOM, CRLF, blank lines, quotes and blanks around cells change nothing."""
    expected = read_campaign(campaign)
    for path in campaign.glob("*.csv"):
        text = path.read_text(encoding="utf-8")
        data = {
            "bom": "\ufeff" + text,
            "crlf": text.replace("\n", "\r\n"),
            "blank lines": text.replace("\n", "\n\n"),
            "quotes": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines()),
            "spaces": text.replace(",", " , "),
        }[disguise]
        path.write_bytes(data.encode())
    assert same(expected, read_campaign(campaign))


def test_commas_quotes_and_line_breaks_in_ids_survive(tmp_path):
    """An id is any text: what was written is read back, and errors still count lines rightly."""
    names = ['a,b "c"', "two\nlines", "ünï", "4"]
    instance = AssignmentInstance([[0.9] * 4], [0], [1] * 4, 0.2, workers=names)
    write_campaign(instance, tmp_path / "odd")
    assert read_campaign(tmp_path / "odd").workers == tuple(names)
    edit(tmp_path / "odd" / "workers.csv", "4,1", "4,x")
    with pytest.raises(InputError, match="workers.csv, line 6, column capacity"):
        read_campaign(tmp_path / "odd")


def test_parquet_reads_like_csv(campaign):
    """With pyarrow a table may be Parquet; both at once are refused."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    expected = read_campaign(campaign)
    for path in campaign.glob("*.csv"):
        parquet.write_table(csv.read_csv(path), path.with_suffix(".parquet"))
    with pytest.raises(InputError, match="both tasks.csv and tasks.parquet"):
        read_campaign(campaign)
    for path in campaign.glob("*.csv"):
        path.unlink()
    assert pyarrow and same(expected, read_campaign(campaign))


@settings(max_examples=75, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_ends_in_anything_but_a_sentence(tmp_path, data):
    """Fuzz: whatever bytes are cut, doubled or replaced in whichever file, reading succeeds or says InputError."""
    folder = tmp_path / "fuzzed"
    shutil.rmtree(folder, ignore_errors=True)
    write_sample(folder)
    path = folder / data.draw(st.sampled_from(sorted(p.name for p in folder.iterdir())))
    content = path.read_bytes()
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(len(content), start + 30)))
    junk = data.draw(
        st.one_of(st.binary(max_size=8), st.sampled_from([b"", b",", b"nan", b"-1", b"1e999", b'"', b"\x00"]))
    )
    path.write_bytes(content[:start] + junk + content[stop:])
    try:
        instance = read_campaign(folder)
    except InputError as error:
        assert "\n" not in str(error).strip() and len(str(error)) < 1000
    else:
        assert isinstance(instance, AssignmentInstance)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 4000), st.binary(max_size=6))
def test_a_damaged_archive_is_refused(tmp_path, place, junk):
    """The same for .npz, without ever unpickling."""
    path = tmp_path / "x.npz"
    write_campaign(recipe("R10:20x20"), path, force=True)
    content = path.read_bytes()
    path.write_bytes(content[:place] + junk + content[place + 3 :])
    try:
        read_campaign(path)
    except InputError as error:
        assert str(error)


@pytest.mark.parametrize("rows", [2 * 10**4, pytest.param(10**6, marks=pytest.mark.slow)])
def test_a_long_table(tmp_path, rows):
    """A large campaign is read in seconds, and its last line is still named when it is wrong."""
    write_sample(tmp_path / "large")
    path = tmp_path / "large" / "tasks.csv"
    path.write_text("task,type\n" + "".join(f"{k},bird\n" for k in range(rows)) + "x,plant\n", encoding="utf-8")
    assert read_campaign(tmp_path / "large").n_tasks == rows + 1
    path.write_text(path.read_text(encoding="utf-8") + "7,bird\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"line {rows + 3}, column task: '7' was there before"):
        read_campaign(tmp_path / "large")


def test_gold_without_types_counts_for_every_type(campaign):
    """A tally per worker only: one accuracy for all their tasks."""
    gold = campaign / "gold.csv"
    rows = [line.split(",") for line in gold.read_text(encoding="utf-8").splitlines()]
    gold.write_text("\n".join(",".join((w, c, a)) for w, k, c, a in rows if k != "plant"), encoding="utf-8")
    accuracy = read_campaign(campaign).accuracy
    assert np.array_equal(accuracy[0], accuracy[1])


def test_a_pair_without_gold_takes_its_types_mean(campaign):
    """A worker who was never asked about plants is believed to be like those who were."""
    edit(campaign / "gold.csv", "ada,plant,11,20\n", "")
    instance = read_campaign(campaign)
    correct = np.array([18, 19, 19, 18, 18, 13, 10, 14, 19])
    assert instance.accuracy[instance.types.index("plant"), 0] == pytest.approx(correct.sum() / (20 * 9))
    assert instance.skills_source == "empirical-bayes from gold"


def test_skills_must_be_complete(campaign):
    """Given accuracies are facts: a missing one is asked for, not invented."""
    (campaign / "gold.csv").rename(campaign / "skills.csv")
    with pytest.raises(InputError, match="no column 'accuracy'"):
        read_campaign(campaign)
    (campaign / "skills.csv").write_text("worker,accuracy\nada,0.9\n", encoding="utf-8")
    with pytest.raises(InputError, match="no row for worker 'bo', type 'plant'"):
        read_campaign(campaign)
    (campaign / "skills.csv").write_text("worker,accuracy\nada,1.9\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2, column accuracy: 1.9 is not in \[0, 1\]"):
        read_campaign(campaign)
    (campaign / "skills.csv").unlink()
    with pytest.raises(InputError, match="neither of skills.csv and gold.csv"):
        read_campaign(campaign)


def test_a_scaled_demand_is_no_campaign(tmp_path):
    """The papers' transformed programs are not something to hand to workers."""
    from dataclasses import replace

    with pytest.raises(InputError, match="whole need"):
        write_campaign(replace(recipe("R1:20x100"), demand=0.5), tmp_path / "x")


@pytest.mark.parametrize("name", ["rule", "classes", "task_type", "tasks", "budget", "format", "observed"])
def test_an_archive_of_the_wrong_kind_is_refused(tmp_path, name):
    """Every entry has its kind; another one is a sentence that names it."""
    path = tmp_path / "x.npz"
    write_campaign(recipe("R10:20x20"), path)
    with np.load(path) as stored:
        entries = dict(stored)
    for wrong in (np.zeros((2, 2)), np.array("text"), np.array([b"bytes"]), np.array(1 + 2j)):
        np.savez(path, **{**entries, name: wrong})
        try:
            read_campaign(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert (name, wrong.dtype.kind) in {("rule", "U")}


def test_an_id_with_a_lone_carriage_return_is_read_back(tmp_path):
    """Python's csv does not quote it before 3.13, and every reader takes it for the end of the line."""
    instance = AssignmentInstance([[0.9, 0.8]], [0, 0], [2, 2], 0.4, tasks=["a\rb", "c"], workers=["x\ry", 'q"'])
    write_campaign(instance, tmp_path / "c")
    back = read_campaign(tmp_path / "c")
    assert back.tasks == ("a\rb", "c") and back.workers == ("x\ry", 'q"')


def test_an_instance_needs_no_task_types(tmp_path):
    """Accuracies per task: one row each; what is needed all the same is asked for."""
    instance = AssignmentInstance([[0.9, 0.8], [0.7, 0.6]], capacity=[1, 1], epsilon=0.4)
    assert instance.task_type.tolist() == [0, 1]
    with pytest.raises(InputError, match="needs a capacity for each worker and an epsilon"):
        AssignmentInstance([[0.9]])


def test_more_classes_than_anybody_has_are_refused(campaign):
    """2^63 - 1 classes would be a table that no memory holds."""
    edit(campaign / "campaign.toml", 'classes = ["yes", "no"]', "classes = 9223372036854775807")
    with pytest.raises(InputError, match="classes must be a whole number from 2 to 10000"):
        read_campaign(campaign)
