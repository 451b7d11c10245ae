"""Tables by their schema: each column of each table a campaign has, missing, misspelt, empty, out of range, or text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crowdopt import InputError, read_campaign
from crowdopt.io.schema import CAMPAIGN_TABLES, COLUMNS, Column
from tests.guides import ROOT

TABLES = {  # a campaign with every column that there is, row by row
    "tasks": ["task,type,epsilon,min_labels,max_labels", "t1,a,.1,0,3", "t2,b,.2,1,"],
    "workers": ["worker,capacity,min_tasks,family", "w1,2,0,f", "w2,2,1,f", "w3,2,0,g"],
    "prices": ["worker,type,price", *(f"{w},{k},1.5" for w in ("w1", "w2", "w3") for k in "ab")],
    "skills": ["worker,type,accuracy", *(f"{w},{k},.8" for w in ("w1", "w2", "w3") for k in "ab")],
    "forbidden": ["task,worker", "t1,w1"],
    "fixed": ["task,worker", "t2,w2"],
    "collected": ["task,worker,label", "t1,w3,yes"],
    "groups": ["worker,group", "w1,h"],
    "rows": ["row,task,worker,coefficient,lower,upper", "r,t1,w2,1,0,2"],
}
GOLD = {  # the forms of gold, in place of skills
    "gold": ["worker,type,correct,asked", *(f"{w},{k},8,9" for w in ("w1", "w2", "w3") for k in "ab")],
    "gold answers": ["worker,task,label,truth,type", "w1,g1,yes,yes,a", "w2,g1,yes,yes,a", "w3,g2,no,no,b"],
    "gold by class": ["worker,type,true,answered,count", "w1,a,yes,yes,4", "w2,a,yes,no,1", "w3,b,no,no,4"],
}
FORMS = {**TABLES, **GOLD}
OPEN = {"min_labels", "max_labels", "min_tasks", "family", "epsilon", "lower", "upper"}  # cells that may be empty
OPEN_THERE = {("rows", "task"), ("rows", "worker"), ("gold answers", "label")}  # all of them; no answer


def written(folder: Path, name: str, lines: list[str]) -> Path:
    """The campaign, one of its tables replaced."""
    folder.mkdir()
    (folder / "campaign.toml").write_text('epsilon = 0.3\nclasses = ["yes", "no"]\n[groups.h]\nmax_share = 0.9\n')
    tables = {**TABLES, name: lines}
    if name in GOLD:
        tables = {one: text for one, text in tables.items() if one not in ("skills", "collected")}
    for one, text in tables.items():
        (folder / f"{one.partition(' ')[0]}.csv").write_text("\n".join(text) + "\n")
    return folder


def damaged(name: str, column: str, how: str) -> list[str]:
    """The table with this column damaged: its header, or its first cell."""
    header, first, *rest = FORMS[name]
    names, cells = header.split(","), first.split(",")
    place = names.index(column)
    if how == "missing":
        return [",".join(row[:place] + row[place + 1 :]) for row in (line.split(",") for line in FORMS[name])]
    if how == "misspelt":
        names[place] = column[:-1] + "x" + column[-1]
    cells[place] = {"empty": "", "too small": "-1", "too large": "7", "text": "some"}.get(how, cells[place])
    return [",".join(names), ",".join(cells), *rest]


def cases():
    for name, lines in FORMS.items():
        for column in lines[0].split(","):
            yield from ((name, column, how) for how in ("missing", "misspelt", "empty"))
            known = COLUMNS.get(column, Column())
            if known.of is not str:
                yield name, column, "text"
                yield from [(name, column, "too small")] * (known.low >= 0)
                yield from [(name, column, "too large")] * (known.high <= 1)


@pytest.mark.parametrize("name", FORMS)
def test_the_campaign_without_damage_is_read(tmp_path, name):
    """So that what is refused below is refused for its damage, and no column is forgotten."""
    kind = CAMPAIGN_TABLES[name]
    columns = FORMS[name][0].split(",")
    assert {*columns} | {"price"} == {*kind.required, *kind.optional} | {"price"}  # prices are a table here
    assert read_campaign(written(tmp_path / "c", name, FORMS[name])).n_tasks == 2


@pytest.mark.filterwarnings("ignore::crowdopt.errors.TableWarning", "ignore::crowdopt.errors.GoldWarning")
@pytest.mark.parametrize(("name", "column", "how"), list(cases()))
def test_a_damaged_column_is_named(tmp_path, name, column, how):
    """Table and column are in the sentence; what may be left out, or empty, is read."""
    folder, kind = written(tmp_path / "c", name, damaged(name, column, how)), CAMPAIGN_TABLES[name]
    fine = how == "missing" and column in kind.optional
    fine |= how == "empty" and (column in OPEN or (name, column) in OPEN_THERE)
    types_differ = fine and column == "type"  # then another table may know types that this one does not
    try:
        read_campaign(folder)
    except InputError as error:
        said = str(error)
        assert "\n" not in said.strip() and (not fine or types_differ), said
        if not fine:
            assert said.startswith(f"{name.partition(' ')[0]}.csv"), said
            assert re.search(rf"column '?{column}|{column!r}|header must be|no column", said), said
    else:
        assert fine, (name, column, how)


def test_all_headers_are_asked_back_at_once(tmp_path):
    """Whoever brings tables of their own renames the columns of all of them, not one table a run."""
    folder = written(tmp_path / "c", "workers", ["annotator;max;pay", "w1;2;1"])
    (folder / "tasks.csv").write_text("item,topic\nt1,a\n")
    with pytest.raises(InputError) as error:
        read_campaign(folder)
    said = str(error.value)
    assert "'task' by 'item'" in said and "'worker' by 'annotator', 'capacity' by 'max', 'price' by 'pay'" in said


@pytest.mark.parametrize("name", ["price_per_label", "label cost", "hourly_wage"])
def test_a_price_by_another_name_is_asked_back(tmp_path, name):
    """Left out without a word, it would make every label cost 1."""
    folder = written(tmp_path / "c", "workers", [f"worker,capacity,{name}", "w1,2,1", "w2,2,1", "w3,2,1"])
    with pytest.raises(InputError, match="did you mean 'price'"):
        read_campaign(folder)


def test_the_guide_has_every_table():
    """Its headers are those of the schema; gold has forms of its own below."""
    page = (ROOT / "crowdopt" / "README.md").read_text(encoding="utf-8")
    for name in ("tasks", "workers", "skills", "groups", "collected", "rows", "prices"):
        assert f"`{CAMPAIGN_TABLES[name].header}`" in page, name
