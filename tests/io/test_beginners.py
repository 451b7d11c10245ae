"""What people bring: tables of labels as spreadsheets, data frames and strangers write them, each read or answered."""

from __future__ import annotations

import gzip
import json
import re
import warnings
from contextlib import suppress

import pytest

import crowdopt
from crowdopt import InputError, read_campaign
from crowdopt.errors import TableWarning
from crowdopt.io.samples import write_sample
from crowdopt.io.tables import read_label_table
from tests.io import write_table
from tests.io.workbook import write_workbook

PLAIN = "task,worker,label\nt1,ada,cat\nt2,bo,dog\n"
HEAD = "task,worker,label\n"
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
    "letters of any script": (HEAD + "t1,Zoë,猫\n", [("t1", "Zoë", "猫")], ""),
    "pandas' index": (",task,worker,label\n0,t1,ada,cat\n1,t2,bo,dog\n", ROWS, "taken for pandas' index"),
    "pandas' index read again": ("Unnamed: 0,task,worker,label\n0,t1,ada,cat\n3,t2,bo,dog\n", ROWS, "pandas' index"),
    "Excel's empty columns": ("task,worker,label,,\nt1,ada,cat,,\nt2,bo,dog,,\n", ROWS, "2 empty column.s. left out"),
    "Excel's empty rows": (PLAIN + ",,\n,,\n", ROWS, "2 empty row.s. left out"),
    "columns in another order": ("label,task,worker\ncat,t1,ada\ndog,t2,bo\n", ROWS, ""),
    "columns that nothing uses": ("task,worker,label,url\nt1,ada,cat,http://x\nt2,bo,dog,\n", ROWS, ""),
    "ids with a point": (HEAD + "1.0,ada,cat\n", [("1", "ada", "cat")], "read as whole numbers, 1"),
    "labels with a point": (HEAD + "t1,ada,1.0\nt2,bo,0.0\n", [("t1", "ada", "1"), ("t2", "bo", "0")], "1.0"),
    "numbers that are no ids": (HEAD + "t1,a,1.0\nt2,b,1.5\n", [("t1", "a", "1.0"), ("t2", "b", "1.5")], ""),
    "a missing label": (HEAD + "t1,ada,cat\nt2,bo,\n", ONE, "1 row.s. without a label left out"),
    "a missing label of a data frame": (HEAD + "t1,ada,cat\nt2,bo,NaN\n", ONE, "without a label"),
    "a label that may be none": (HEAD + "t1,ada,NA\n", [("t1", "ada", "NA")], "'NA' counts as a class"),
    "labels that differ in case": (
        HEAD + "t1,ada,cat\nt2,bo,Cat\n",
        [*ONE, ("t2", "bo", "Cat")],
        "differ in case or bl",
    ),
    "labels that differ in blanks": (
        HEAD + "t1,ada,cat\nt2,bo,c at\n",
        [*ONE, ("t2", "bo", "c at")],
        "differ in case or",
    ),
    "a comma in quotes": (HEAD + 't1,"Lovelace, Ada",cat\n', [("t1", "Lovelace, Ada", "cat")], ""),
}
STRANGE = PLAIN.replace(HEAD, "item,annotator,answer\n")

REFUSED = {  # a table of labels as it is brought, and the sentence it deserves
    "Windows-1252": (PLAIN.replace("bo", "Zoë").encode("cp1252"), "line 3: byte 0xEB, 'ë' in Windows-1252.*as UTF-8"),
    "other names": (STRANGE, "did you mean 'task' by 'item', 'worker' by 'annotator', 'label' by 'answer'"),
    "capitals": (PLAIN.replace("worker", "Worker", 1), "no column 'worker'; did you mean 'worker' by 'Worker'"),
    "a misspelling": (PLAIN.replace("label", "lable", 1), "did you mean 'label' by 'lable'"),
    "two words": (PLAIN.replace("worker", "Worker ID", 1), "did you mean 'worker' by 'Worker ID'"),
    "no header": (PLAIN.partition("\n")[2], "the first line is 't1,ada,cat'; if that is a row already, put the header"),
    "blanks as separators": (PLAIN.replace(",", " "), "separated by blanks; separate them by commas"),
    "a workbook called CSV": (b"PK\x03\x04" + bytes(100), "is a workbook; give it its ending, such as .xlsx"),
    "an old workbook called CSV": (b"\xd0\xcf\x11\xe0" + bytes(100), "is an old workbook; give it the ending .xls"),
    "JSON called CSV": (json.dumps([{"task": "t1"}]), "is JSON; give it the ending .json"),
    "a web page called CSV": ("<!DOCTYPE html><html>please log in</html>", "is a web page or XML; download the table"),
    "a compressed file called CSV": (gzip.compress(PLAIN.encode()), "is compressed; unpack it first"),
    "Parquet called CSV": (b"PAR1" + bytes(100), "is Parquet; give it the ending .parquet"),
    "nothing": ("", "is empty; it needs a header line"),
    "a comma that is in no quotes": (HEAD + "t1,Lovelace, Ada,cat\n", "4 cells where the header has 3; quote"),
    "a semicolon that is in no quotes": ("task;worker;label\nt1;a;b;cat\n", "quote cells that hold semicolons"),
    "an open quote": (HEAD + 't1,"ada,cat\n', "is not CSV"),
    "a column without a name": (",task,worker,label\nx,t1,ada,cat\n", "column 1 has no name; give it one"),
    "a column twice": ("task,worker,label,label\nt1,ada,cat,dog\n", "a column appears twice"),
    "a worker left out": (HEAD + "t1,,cat\n", "line 2, column worker: is empty"),
}

AS_ROWS = [{"task": "t1", "worker": "ada", "label": "cat"}, {"label": "dog", "task": "t2", "worker": "bo"}]
AS_COLUMNS = {"task": ["t1", "t2"], "worker": ["ada", "bo"], "label": ["cat", "dog"]}
JSON = {  # tables of labels as programs write them, the rows they deserve, and what is told
    "rows": (json.dumps(AS_ROWS), ROWS, ""),
    "a row a line": ("\n\n".join(map(json.dumps, AS_ROWS)), ROWS, ""),
    "columns": (json.dumps(AS_COLUMNS), ROWS, ""),
    "pandas' columns": (json.dumps({name: {"0": a, "1": b} for name, (a, b) in AS_COLUMNS.items()}), ROWS, ""),
    "numbers": ('[{"task": 1.0, "worker": 7, "label": true}]', [("1", "7", "true")], ""),
    "null": (json.dumps([*AS_ROWS[:1], AS_ROWS[1] | {"label": None}]), ONE, "without a label"),
}
NO_TABLE = {  # JSON that holds none, and the sentence it deserves
    "a list of numbers": ("[1, 2]", "labels.json holds no table; a table is a list of rows"),
    "nothing in it": ("[]", "holds no table"),
    "half of it": ('[{"task": "t1"', "labels.json is not JSON"),
    "a list in a cell": ('[{"task": "t1", "worker": "ada", "label": ["cat"]}]', "row 1, column label: holds a list"),
    "columns of unequal lengths": ('{"task": ["t1"], "worker": [], "label": []}', "columns of unequal lengths"),
    "other names": ('[{"item": "t1", "worker": "a", "label": "b"}]', "json: there is no column 'task'; did you mean"),
    "no worker": (json.dumps([AS_ROWS[0], {"task": "t2", "label": "dog"}]), "row 2, column worker: is empty"),
}


def rows_of(given) -> list[tuple[str, str, str]]:
    """Task, worker and label as they are read."""
    table = read_label_table(given)
    return list(zip(table["task"], table["worker"], table["label"], strict=True))


def cases(tables: dict, documents: dict) -> list:
    """Of CSV and of JSON, each with the name of its file."""
    csv = [pytest.param("labels.csv", *row, id=name) for name, row in tables.items()]
    return csv + [pytest.param("labels.json", *row, id=f"JSON, {name}") for name, row in documents.items()]


def laid(path, content):
    """The content as a file."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


@pytest.mark.parametrize(("name", "content", "rows", "told"), cases(READ, JSON))
def test_a_table_is_read_as_it_was_meant(name, content, rows, told, tmp_path):
    """Its rows, whatever wrote it; what was left out or read otherwise than it stands is told, and nothing else is."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        assert rows_of(laid(tmp_path / name, content)) == rows
    assert [bool(re.search(told, str(note.message))) for note in notes] == [True] * len(notes)
    assert bool(notes) == bool(told)
    assert all(note.category is TableWarning for note in notes)


@pytest.mark.parametrize(("name", "content", "sentence"), cases(REFUSED, NO_TABLE))
def test_a_table_that_cannot_be_read_is_answered_in_a_sentence(name, content, sentence, tmp_path):
    """What it is, where, and what to do; never a traceback, and never a reading that was not meant."""
    with pytest.raises(InputError, match=sentence):
        read_label_table(laid(tmp_path / name, content))


def test_the_first_sheet_of_a_workbook_is_the_table(tmp_path):
    """Numbers as they look there; an empty row at the end and further sheets are told."""
    pytest.importorskip("python_calamine", reason="the extra frames is not installed")
    rows = [["task", "worker", "label", None], [1, "ada", 0], [2, "bo", 1], [None, None, None, " "]]
    path = write_workbook(tmp_path / "labels.xlsx", {"votes": rows, "notes": [["none"]]})
    with pytest.warns(TableWarning) as notes:
        assert rows_of(path) == [("1", "ada", "0"), ("2", "bo", "1")]
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
    (sample / "workers.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(InputError, match="workers.xlsx cannot be read as a workbook"):
        read_campaign(sample)


def test_results_are_frames_and_frames_are_read(tmp_path):
    """Each library's frame is the table, lazy or not; what one call gives the next one takes; no column is an index."""
    pandas = pytest.importorskip("pandas", reason="the extra frames is not installed")
    pyarrow = pytest.importorskip("pyarrow", reason="the extra frames is not installed")
    frame, arrow = pandas.DataFrame(AS_COLUMNS), pyarrow.table(AS_COLUMNS)
    kinds = [frame, arrow, arrow.to_batches()[0]]
    with suppress(ImportError):
        from polars import DataFrame

        kinds += [DataFrame(AS_COLUMNS), DataFrame(AS_COLUMNS).lazy()]
    assert [rows_of(kind) for kind in kinds] == [ROWS] * len(kinds)
    indexed = frame.set_index("task")
    for wrong, said in (
        (arrow.to_reader(), "not RecordBatchReader"),
        (indexed, r"'task' is the frame's index: give fr"),
    ):
        with pytest.raises(InputError, match=said):
            read_label_table(wrong)
    write_sample(tmp_path / "sample")
    plan = crowdopt.solve(tmp_path / "sample", time_limit=10)
    chosen = pandas.DataFrame(plan)
    assert [*chosen] == ["task", "worker", "price"] and len(chosen) == len(plan.pairs)
    assert plan.table().to_pandas().equals(chosen) and not hasattr(plan.instance, "__iter__")
    answers = crowdopt.aggregate(chosen.assign(label=(chosen["task"] > "photo-10").astype(int)), "majority")
    assert pandas.DataFrame(answers)["task"].tolist() == sorted(set(chosen["task"]))


def test_columns_that_no_plan_uses_go_to_the_tools_and_to_the_next_round(tmp_path):
    """What a task is shown by stands in tasks.csv; a column that no tool can show stays there, and that is told."""
    write_sample(tmp_path / "sample", classes=("cat", "dog"))
    head, *tasks = (tmp_path / "sample" / "tasks.csv").read_text(encoding="utf-8").splitlines()
    more = (f"{line},http://x/{k},note {k}" for k, line in enumerate(tasks))
    write_table(tmp_path / "sample" / "tasks.csv", f"{head},url,my notes", *more)
    crowdopt.solve(tmp_path / "sample", time_limit=10, output=tmp_path / "plan")
    with pytest.warns(TableWarning, match="'my notes' cannot be a column that is shown"):
        crowdopt.push(tmp_path / "sample", tmp_path / "plan", tool="prodigy", output=tmp_path / "pushed")
    shown = map(json.loads, (tmp_path / "pushed" / "tasks.jsonl").read_text(encoding="utf-8").splitlines())
    assert "http://x/1" in next(row for row in shown if row["task_id"] == "photo-02").values()
    plan, labels = tmp_path / "plan", tmp_path / "labels.csv"
    crowdopt.rehearse(tmp_path / "sample", plan, output=labels, seed=1)
    crowdopt.aggregate(labels, plan=plan, campaign=tmp_path / "sample", output=tmp_path / "answers")
    head, _, second, *_ = (tmp_path / "answers" / "campaign" / "tasks.csv").read_text(encoding="utf-8").splitlines()
    assert {"url", "my notes"} <= set(head.split(",")) and "http://x/1" in second and "note 1" in second
