"""What people bring: tables as spreadsheets, data frames and strangers write them, each read or answered."""

from __future__ import annotations

import gzip
import json
import re
import warnings

import pytest

import crowdopt
from crowdopt import InputError, read_campaign
from crowdopt.errors import TableWarning
from crowdopt.io.bridges.exchange.pushed_round import read_round
from crowdopt.io.campaign.campaign_reading import read_with_labels
from crowdopt.io.campaign.sample import write_sample
from crowdopt.io.tables.label_table import read_label_table
from tests.io.workbook import write_workbook

PLAIN = "task,worker,label\nt1,ada,cat\nt2,bo,dog\n"
ROWS = [("t1", "ada", "cat"), ("t2", "bo", "dog")]
ONE = ROWS[:1]

READ = {  # a table of labels as it is brought, the rows it deserves, and what is told
    "plain": (PLAIN, ROWS, ""),
    "a byte order mark": ("\ufeff" + PLAIN, ROWS, ""),
    "Windows line ends": (PLAIN.replace("\n", "\r\n"), ROWS, ""),
    "old Macintosh line ends": (PLAIN.replace("\n", "\r"), ROWS, ""),
    "no line end at the end": (PLAIN.rstrip("\n"), ROWS, ""),
    "blank lines": (PLAIN.replace("\n", "\n\n"), ROWS, ""),
    "blanks around cells": (PLAIN.replace(",", " , "), ROWS, ""),
    "no-break spaces around cells": (PLAIN.replace(",", "\u00a0,\u00a0"), ROWS, ""),
    "everything in quotes": ('"task","worker","label"\n"t1","ada","cat"\n"t2","bo","dog"\n', ROWS, ""),
    "semicolons": (PLAIN.replace(",", ";"), ROWS, ""),
    "tabs": (PLAIN.replace(",", "\t"), ROWS, ""),
    "bars": (PLAIN.replace(",", "|"), ROWS, ""),
    "Excel's sep=": ("sep=;\n" + PLAIN.replace(",", ";"), ROWS, ""),
    "Excel's Unicode text": (PLAIN.replace(",", "\t").encode("utf-16"), ROWS, ""),
    "letters of any script": ("task,worker,label\nt1,Zoë,猫\n", [("t1", "Zoë", "猫")], ""),
    "pandas' index": (",task,worker,label\n0,t1,ada,cat\n1,t2,bo,dog\n", ROWS, "taken for pandas' index"),
    "pandas' index read again": ("Unnamed: 0,task,worker,label\n0,t1,ada,cat\n3,t2,bo,dog\n", ROWS, "pandas' index"),
    "Excel's empty columns": ("task,worker,label,,\nt1,ada,cat,,\nt2,bo,dog,,\n", ROWS, "2 empty column.s. left out"),
    "Excel's empty rows": (PLAIN + ",,\n,,\n", ROWS, "2 empty row.s. left out"),
    "columns in another order": ("label,task,worker\ncat,t1,ada\ndog,t2,bo\n", ROWS, ""),
    "columns that nothing uses": ("task,worker,label,url\nt1,ada,cat,http://x\nt2,bo,dog,\n", ROWS, ""),
    "ids with a point": ("task,worker,label\n1.0,ada,cat\n", [("1", "ada", "cat")], "read as whole numbers, 1"),
    "labels with a point": (
        "task,worker,label\nt1,ada,1.0\nt2,bo,0.0\n",
        [("t1", "ada", "1"), ("t2", "bo", "0")],
        "1.0",
    ),
    "numbers that are no ids": (
        "task,worker,label\nt1,ada,1.0\nt2,bo,1.5\n",
        [(*ONE[0][:2], "1.0"), ("t2", "bo", "1.5")],
        "",
    ),
    "a missing label": ("task,worker,label\nt1,ada,cat\nt2,bo,\n", ONE, "1 row.s. without a label left out"),
    "a missing label of a data frame": ("task,worker,label\nt1,ada,cat\nt2,bo,NaN\n", ONE, "without a label"),
    "labels that differ in case": (
        "task,worker,label\nt1,ada,cat\nt2,bo,Cat\n",
        [("t1", "ada", "cat"), ("t2", "bo", "Cat")],
        "'Cat' and 'cat' differ in case or blanks only",
    ),
    "labels that differ in blanks": (
        "task,worker,label\nt1,ada,sea gull\nt2,bo,seagull\n",
        [("t1", "ada", "sea gull"), ("t2", "bo", "seagull")],
        "differ in case or blanks only",
    ),
    "a label that may be none": ("task,worker,label\nt1,ada,NA\n", [("t1", "ada", "NA")], "'NA' counts as a class"),
    "a comma in quotes": ('task,worker,label\nt1,"Lovelace, Ada",cat\n', [("t1", "Lovelace, Ada", "cat")], ""),
}

REFUSED = {  # a table of labels as it is brought, and the sentence it deserves
    "Windows-1252": (PLAIN.replace("bo", "Zoë").encode("cp1252"), "line 3: byte 0xEB, 'ë' in Windows-1252.*as UTF-8"),
    "other names": (
        PLAIN.replace("task,worker,label", "item,annotator,answer"),
        "no column 'task'; did you mean 'task' by 'item', 'worker' by 'annotator', 'label' by 'answer'",
    ),
    "capitals": (PLAIN.replace("worker", "Worker", 1), "no column 'worker'; did you mean 'worker' by 'Worker'"),
    "a misspelling": (PLAIN.replace("label", "lable", 1), "did you mean 'label' by 'lable'"),
    "two words": (PLAIN.replace("worker", "Worker ID", 1), "did you mean 'worker' by 'Worker ID'"),
    "no header": (PLAIN.partition("\n")[2], "the first line is 't1,ada,cat'; if that is a row already, put the header"),
    "blanks as separators": (PLAIN.replace(",", " "), "separated by blanks; separate them by commas"),
    "a workbook called CSV": (b"PK\x03\x04" + bytes(100), "is a workbook; give it its ending, such as .xlsx"),
    "an old workbook called CSV": (b"\xd0\xcf\x11\xe0" + bytes(100), "is an old workbook; give it the ending .xls"),
    "JSON called CSV": (json.dumps([{"task": "t1"}]), "is JSON; give it the ending .json"),
    "JSON lines called CSV": ('{"task": "t1"}\n{"task": "t2"}\n', "is JSON; give it the ending .json"),
    "a web page called CSV": ("<!DOCTYPE html><html>please log in</html>", "is a web page or XML; download the table"),
    "a compressed file called CSV": (gzip.compress(PLAIN.encode()), "is compressed; unpack it first"),
    "Parquet called CSV": (b"PAR1" + bytes(100), "is Parquet; give it the ending .parquet"),
    "nothing": ("", "is empty; it needs a header line"),
    "a comma that is in no quotes": (
        "task,worker,label\nt1,Lovelace, Ada,cat\n",
        "4 cells where the header has 3; quote",
    ),
    "a semicolon that is in no quotes": ("task;worker;label\nt1;a;b;cat\n", "quote cells that hold semicolons"),
    "an open quote": ('task,worker,label\nt1,"ada,cat\n', "is not CSV"),
    "a column without a name": (
        ",task,worker,label\nx,t1,ada,cat\n",
        "column 1 has no name; give it one",
    ),
    "a column twice": ("task,worker,label,label\nt1,ada,cat,dog\n", "a column appears twice"),
    "a worker left out": ("task,worker,label\nt1,,cat\n", "line 2, column worker: is empty"),
}

CAMPAIGN = {  # a file of the sample campaign, what is replaced in it by what, and the sentence, or what is read
    "capacity with a point": ("workers.csv", "ada,16", "ada,16.0", 16),
    "capacity with a comma": ("workers.csv", "ada,16", 'ada,"1,000"', "write it without commas, 1000"),
    "capacity with half a task": ("workers.csv", "ada,16", "ada,16.5", "'16.5' is not a whole number"),
    "capacity by another name": ("workers.csv", "capacity", "max_tasks", "did you mean 'capacity' by 'max_tasks'"),
    "an optional column with a capital": ("tasks.csv", "task,type", "task,Type", "did you mean 'type'"),
    "an optional column misspelt": ("tasks.csv", "task,type", "task,typ", "unknown column 'typ'; did you mean 'type'"),
    "gold that is a share": ("gold.csv", "ada,bird,19", "ada,bird,95%", "write the share, 0.95"),
    "a rounded prior": ("campaign.toml", 'classes = ["yes", "no"]', "prior = {a=0.333, b=0.333, c=0.333}", 3),
    "a prior that does not add up": (
        "campaign.toml",
        'classes = ["yes", "no"]',
        "prior = {a=0.5, b=0.3}",
        "the prior's probabilities add up to 0.8; they must add up to 1",
    ),
    "names of classes": ("campaign.toml", 'classes = ["yes", "no"]', 'classes = ["cat", "dog", "fox"]', 3),
    "classes twice": ("campaign.toml", 'classes = ["yes", "no"]', 'classes = ["cat", "cat"]', "or names such as"),
    "epsilon as a percentage": ("campaign.toml", "epsilon = 0.1", "epsilon = 5", "0.05 is 5 %"),
}


def laid(tmp_path, content):
    """The content as labels.csv."""
    path = tmp_path / "labels.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


@pytest.mark.parametrize("name", READ)
def test_a_table_is_read_as_it_was_meant(name, tmp_path):
    """Its rows, whatever wrote it; what was left out or read otherwise than it stands is told, and nothing else is."""
    content, rows, told = READ[name]
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = read_label_table(laid(tmp_path, content))
    assert list(zip(table["task"], table["worker"], table["label"], strict=True)) == rows
    assert [bool(re.search(told, str(note.message))) for note in notes] == [True] * len(notes)
    assert bool(notes) == bool(told)
    assert all(note.category is TableWarning for note in notes)


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_cannot_be_read_is_answered_in_a_sentence(name, tmp_path):
    """What it is, where, and what to do; never a traceback, and never a reading that was not meant."""
    content, sentence = REFUSED[name]
    with pytest.raises(InputError, match=sentence):
        read_label_table(laid(tmp_path, content))


JSON = {  # tables of labels as programs write them
    "rows": json.dumps(
        [{"task": "t1", "worker": "ada", "label": "cat"}, {"task": "t2", "worker": "bo", "label": "dog"}]
    ),
    "a row a line": '{"task":"t1","worker":"ada","label":"cat"}\n\n{"label":"dog","task":"t2","worker":"bo"}\n',
    "columns": json.dumps({"task": ["t1", "t2"], "worker": ["ada", "bo"], "label": ["cat", "dog"]}),
    "pandas' columns": json.dumps(
        {"task": {"0": "t1", "1": "t2"}, "worker": {"0": "ada", "1": "bo"}, "label": {"0": "cat", "1": "dog"}}
    ),
}
NO_TABLE = {  # JSON that holds none, and the sentence it deserves
    "a list of numbers": ("[1, 2]", "labels.json holds no table; a table is a list of rows"),
    "nothing in it": ("[]", "holds no table"),
    "half of it": ('[{"task": "t1"', "labels.json is not JSON"),
    "a list in a cell": ('[{"task": "t1", "worker": "ada", "label": ["cat"]}]', "row 1, column label: holds a list"),
    "columns of unequal lengths": ('{"task": ["t1"], "worker": [], "label": []}', "columns of unequal lengths"),
    "other names": ('[{"item": "t1", "worker": "a", "label": "b"}]', "json: there is no column 'task'; did you mean"),
    "no worker": (
        '[{"task": "t1", "label": "cat"}, {"worker": "bo", "label": "dog"}]',
        "row 2, column task: is empty",
    ),
}


@pytest.mark.parametrize("name", JSON)
def test_json_is_read_as_the_table_it_is(name, tmp_path):
    """By rows, by lines or by columns."""
    path = tmp_path / "labels.json"
    path.write_text(JSON[name], encoding="utf-8")
    table = read_label_table(path)
    assert list(zip(table["task"], table["worker"], table["label"], strict=True)) == ROWS


@pytest.mark.parametrize("name", NO_TABLE)
def test_json_that_is_no_table_is_answered_in_a_sentence(name, tmp_path):
    """With the row, where one row is to blame."""
    content, sentence = NO_TABLE[name]
    (tmp_path / "labels.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        read_label_table(tmp_path / "labels.json")


def test_values_of_json_are_as_csv_has_them(tmp_path):
    """1.0 is 1, true is true, and null is no label."""
    rows = [{"task": 1.0, "worker": 7, "label": True}, {"task": 2.0, "worker": 8, "label": None}]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.warns(TableWarning, match="without a label"):
        table = read_label_table(tmp_path / "labels.jsonl")
    assert (table["task"], table["worker"], table["label"]) == (["1"], ["7"], ["true"])


def test_the_first_sheet_of_a_workbook_is_the_table(tmp_path):
    """Numbers as they look there; an empty row at the end and further sheets are told."""
    pytest.importorskip("python_calamine", reason="the extra frames is not installed")
    rows = [["task", "worker", "label", None], [1, "ada", 0], [2, "bo", 1], [None, None, None, " "]]
    path = write_workbook(tmp_path / "labels.xlsx", {"votes": rows, "notes": [["none"]]})
    with pytest.warns(TableWarning) as notes:
        table = read_label_table(path)
    assert (table["task"], table["worker"], table["label"]) == (["1", "2"], ["ada", "bo"], ["0", "1"])
    told = " ".join(str(note.message) for note in notes)
    assert "the first sheet, 'votes', is read; the other 1 are not" in told
    assert "1 empty column(s) left out" in told and "1 empty row(s) left out" in told


def test_a_campaign_of_workbooks_is_the_campaign(tmp_path):
    """The tables as sheets give the instance that the tables as text give; a complaint names the sheet's row."""
    pytest.importorskip("python_calamine", reason="the extra frames is not installed")
    sample = tmp_path / "sample"
    write_sample(sample)
    plain = read_campaign(sample)
    for name in ("tasks", "workers", "gold"):
        lines = (sample / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        rows = [[int(cell) if cell.isdecimal() else cell for cell in line.split(",")] for line in lines]
        write_workbook(sample / f"{name}.xlsx", {name: rows})
        (sample / f"{name}.csv").unlink()
    sheets = read_campaign(sample)
    assert sheets.tasks == plain.tasks and sheets.capacity.tolist() == plain.capacity.tolist()
    assert (sheets.accuracy == plain.accuracy).all()
    write_workbook(sample / "gold.xlsx", {"one": [["worker", "type", "correct", "asked"], ["ada", "bird", 19, 20.5]]})
    with pytest.raises(InputError, match="gold.xlsx, row 2, column asked: '20.5' is not a whole number"):
        read_campaign(sample)
    write_workbook(sample / "workers.xlsx", {"one": []})
    with pytest.raises(InputError, match="has nothing in its first sheet"):
        read_campaign(sample)
    (sample / "workers.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(InputError, match="workers.xlsx cannot be read as a workbook"):
        read_campaign(sample)


def test_results_are_frames_and_frames_are_read(tmp_path):
    """Each library's frame is the table, lazy or not; what one call gives, the next one takes."""
    polars = pytest.importorskip("polars", reason="not installed")
    pandas = pytest.importorskip("pandas", reason="the extra frames is not installed")
    frame = polars.DataFrame({"task": ["t1", "t2"], "worker": ["ada", "bo"], "label": ["cat", "dog"]})
    for kind in (frame, frame.lazy(), frame.to_arrow(), frame.to_arrow().to_batches()[0], frame.to_pandas()):
        table = read_label_table(kind)
        assert list(zip(table["task"], table["worker"], table["label"], strict=True)) == ROWS
    with pytest.raises(InputError, match="not RecordBatchReader"):
        read_label_table(frame.to_arrow().to_reader())
    write_sample(tmp_path / "sample")
    plan = crowdopt.assign(tmp_path / "sample", time_limit=10)
    chosen = polars.DataFrame(plan)
    assert chosen.columns == ["task", "worker", "price"] and chosen.height == len(plan.pairs)
    assert isinstance(plan.table().to_pandas(), pandas.DataFrame)
    votes = chosen.sort("task").with_columns(label=(polars.col("task") > "photo-10").cast(polars.Int8))
    answers = crowdopt.aggregate(votes, "majority")
    assert polars.DataFrame(answers)["task"].to_list() == sorted(set(votes["task"].to_list()))
    skills = crowdopt.skills(tmp_path / "sample" / "gold.csv")
    assert polars.DataFrame(skills).columns == ["worker", "type", "accuracy"]
    assert crowdopt.skills(polars.DataFrame(skills).with_columns(correct=9, asked=10)).accuracy.shape == (2, 10)
    with pytest.raises(InputError, match="AssignmentInstance has no table of rows"):
        plan.instance.table()


@pytest.mark.parametrize("ending", ["numbers", "tsv", "CSV"])
def test_a_campaigns_table_of_another_format_is_named(ending, tmp_path):
    """An optional table that is there under another name is not passed over."""
    write_sample(tmp_path / "sample")
    (tmp_path / "sample" / f"forbidden.{ending}").write_text("task,worker\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"forbidden.{ending} is "):
        read_campaign(tmp_path / "sample")


@pytest.mark.parametrize("name", CAMPAIGN)
@pytest.mark.filterwarnings("ignore::crowdopt.errors.TableWarning")
def test_a_campaign_says_what_it_needs(name, tmp_path):
    """A number that is as plain as it looks is read; for one that is not, the sentence has it as it should be."""
    file, old, new, wanted = CAMPAIGN[name]
    write_sample(tmp_path / "sample")
    path = tmp_path / "sample" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    if isinstance(wanted, int):
        instance = read_campaign(tmp_path / "sample")
        assert wanted in (instance.classes, instance.capacity[0])
        assert instance.classes != 3 or abs(instance.prior - 1 / 3).max() < 1e-15
        return
    with pytest.raises(InputError, match=re.escape(wanted)):
        read_campaign(tmp_path / "sample")


def test_decimal_commas_are_points_where_semicolons_separate(tmp_path):
    """Half of Europe's spreadsheets write so."""
    write_sample(tmp_path / "sample")
    (tmp_path / "sample" / "workers.csv").write_text("worker;capacity;price\nada;16;0,5\nbo;16;1\n", encoding="utf-8")
    (tmp_path / "sample" / "gold.csv").unlink()
    (tmp_path / "sample" / "skills.csv").write_text("worker;accuracy\nada;0,85\nbo;0,9\n", encoding="utf-8")
    instance = read_campaign(tmp_path / "sample")
    assert (instance.accuracy[0].tolist(), instance.cost[0].tolist()) == ([0.85, 0.9], [0.5, 1.0])


def test_a_price_by_another_name_is_asked_back(tmp_path):
    """A column that is passed over would be a plan at other prices."""
    write_sample(tmp_path / "sample")
    (tmp_path / "sample" / "workers.csv").write_text("worker,capacity,cost\nada,16,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="unknown column 'cost'; did you mean 'price'"):
        read_campaign(tmp_path / "sample")


def test_columns_that_no_plan_uses_go_to_the_tools_and_to_the_next_round(tmp_path):
    """What a task is shown by stands in tasks.csv; a column that no tool can show stays there, and that is told."""
    write_sample(tmp_path / "sample", classes=("cat", "dog"))
    tasks = (tmp_path / "sample" / "tasks.csv").read_text(encoding="utf-8").splitlines()
    more = ["task,type,url,my notes", *(f"{line},http://x/{k},note {k}" for k, line in enumerate(tasks[1:]))]
    (tmp_path / "sample" / "tasks.csv").write_text("\n".join([*more, ""]), encoding="utf-8")
    crowdopt.write_plan(crowdopt.assign(tmp_path / "sample", time_limit=10), tmp_path / "plan")
    with pytest.warns(TableWarning, match="'my notes' cannot be a column that is shown"):
        pushed = read_round(tmp_path / "sample", tmp_path / "plan")
    assert pushed.content["photo-02"] == {"url": "http://x/1"} and pushed.described
    labels = tmp_path / "labels.csv"
    crowdopt.rehearse(tmp_path / "sample", tmp_path / "plan", output=labels, seed=1)
    options = {"plan": tmp_path / "plan", "campaign": tmp_path / "sample", "output": tmp_path / "answers"}
    crowdopt.aggregate(labels, **options)
    following = (tmp_path / "answers" / "campaign" / "tasks.csv").read_text(encoding="utf-8").splitlines()
    assert {"url", "my notes"} <= set(following[0].split(","))
    assert "http://x/1" in following[2] and "note 1" in following[2]


def test_a_label_that_is_almost_a_class_is_asked_back(tmp_path):
    """Classes are told apart letter by letter, so a capital would be another class."""
    write_sample(tmp_path / "sample", classes=("cat", "dog"))
    (tmp_path / "sample" / "collected.csv").write_text("task,worker,label\nphoto-01,ada,Cat\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"collected.csv says Cat \(did you mean 'cat'\?\)"):
        read_with_labels(tmp_path / "sample").indices()


def test_an_index_of_a_frame_is_no_column():
    """A frame whose ids are its index is asked to make a column of it."""
    pandas = pytest.importorskip("pandas", reason="the extra frames is not installed")
    frame = pandas.DataFrame({"task": ["t1"], "worker": ["ada"], "label": ["cat"]}).set_index("task")
    with pytest.raises(InputError, match=r"'task' is the frame's index: give frame.reset_index\(\)"):
        read_label_table(frame)
    rows = read_label_table(frame.reset_index())
    assert (rows["task"], rows["label"]) == (["t1"], ["cat"])
