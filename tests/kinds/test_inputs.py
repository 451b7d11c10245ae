"""Input once silently taken for something else: read in the one way it can be meant, named, or asked back."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import crowdopt
from tests.io import lay, write_table
from tests.typed import run

COLOURS = ("red", "blue", "green")
STATED, ALL_STATED = 'classes = ["red", "blue"]', 'classes = ["green", "red", "blue"]'
LABELS = "task,worker,label\n"


def campaign(place: Path, settings: str = "", **tables: str) -> Path:
    """Two tasks and two workers, with tables in place of theirs, or beside them; gold stands in for skills."""
    lay(place, f"epsilon = 0.25\n{settings}", ["t1", "t2"], {"eve": (2, 0.8), "leo": (2, 0.8)})
    if "gold" in tables:
        (place / "skills.csv").unlink()
    for name, text in tables.items():
        write_table(place / (name if "." in name else f"{name}.csv"), text)
    return place


def answers(*pairs: tuple[str, str]) -> str:
    """Gold as answers beside the truth: both workers give each pair of label and truth three times."""
    rows = [f"{worker},g{k},{label},{true}" for worker in ("eve", "leo") for k, (label, true) in enumerate(pairs * 3)]
    return "\n".join(["worker,task,label,truth", *rows])


def right(*classes: str) -> str:
    """Gold in which every answer is right."""
    return answers(*((name, name) for name in classes))


def read(place: Path) -> tuple[crowdopt.AssignmentInstance, str]:
    """The campaign, and all that is said while it is read."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        instance = crowdopt.read_campaign(place)
    return instance, "\n".join(str(note.message) for note in notes)


TWO, THREE = right("red", "blue"), right("red", "blue", "green")
BY_CLASS = "worker,true,answered,count\n" + "\n".join(f"eve,{c},{c},5\nleo,{c},{c},4" for c in COLOURS)
BY_ITEM = "item,worker,label,truth\n" + "\n".join(f"i{k},eve,{c},{c}" for k, c in enumerate(COLOURS * 5))
TALLIES = {"tasks": "task,type\nt1,de\nt2,fr", "gold": "worker,type,correct,asked\neve,de,9,10\nleo,fr,8,10"}
RULE, LIMITS = 'rule = "bhattacharyya"', "[groups.north]\nmax_per_task = 1"
TRUSTED = f"trust_gold = true\n{ALL_STATED}"
GROUPS = {"groups": "worker,group\neve,north\nleo,nroth"}
THIRD = "the classes are taken to be blue, green, red"
TOLD = {  # settings, tables; the classes of the campaign, and what is told
    "gold as answers names classes": ("", {"gold": THREE}, 3, f"gold.csv: {THIRD}; campaign.toml names none"),
    "gold by class": (RULE, {"gold": BY_CLASS}, 3, THIRD),
    "gold by item": (RULE, {"gold": BY_ITEM}, 3, THIRD),
    "labels in": ("", {"collected": f"{LABELS}t1,eve,red\nt2,eve,blue\nt1,leo,green"}, 3, f"collected.csv: {THIRD}"),
    "a class that gold never had": (TRUSTED, {"gold": TWO}, 3, "no label and no truth is green, which campaign.toml"),
    "a group without limits": (LIMITS, GROUPS, 2, "groups.csv: nothing depends on the group(s) 'nroth'"),
    "types that a worker has no gold of": ("", TALLIES, 2, "2 pair(s) of a worker and a type without gold"),
}


@pytest.mark.parametrize(("settings", "tables", "classes", "note"), TOLD.values(), ids=TOLD)
def test_what_tables_mean_beside_what_is_stated_is_told(tmp_path, settings, tables, classes, note):
    """A vote among three classes errs otherwise than one among two, so the number must not be a default."""
    found, told = read(campaign(tmp_path / "c", settings, **tables))
    assert note in told and found.classes == classes and (classes == 2 or sorted(found.class_names) == sorted(COLOURS))


def test_classes_that_are_stated_keep_their_order(tmp_path):
    """And nothing is told; import states the names that it has read."""
    stated, told = read(campaign(tmp_path / "c", ALL_STATED, gold=THREE))
    assert stated.class_names == ("green", "red", "blue") and "taken to be" not in told
    rows = [f"t{k},{worker},{'good' if k % 2 else 'bad'}" for k in range(8) for worker in ("eve", "leo", "mia")]
    crowdopt.import_labels(write_table(tmp_path / "labels.csv", LABELS + "\n".join(rows)), output=tmp_path / "d")
    assert crowdopt.read_campaign(tmp_path / "d").class_names == ("bad", "good")


def priced(*rows: str) -> dict[str, str]:
    """Workers with a price, separated by semicolons."""
    return {"workers": "\n".join(["worker;capacity;price", *rows])}


def among(label: str) -> dict[str, str]:
    """A label in, beside gold of two classes."""
    return {"gold": TWO, "collected": f"{LABELS}t1,eve,{label}"}


def named(name: str) -> dict[str, str]:
    """A skill of somebody beside a few workers."""
    crew = "worker,capacity\neve,2\nleo,2\njohanna,2\nami,1\njudge-1,2"
    return {"workers": crew, "skills": f"worker,accuracy\n{name},.8"}


NED = {"collected": f"{LABELS}t1,ned,red\nt2,ned,blue", "skills": "worker,accuracy\neve,.8\nleo,.8\nned,.8"}
OTHERS = {"gold": right("yes"), "collected": f"{LABELS}t1,eve,fox"}
CODES = {"gold": answers(("yes", "1"), ("no", "0"))}
NAMED = 'classes = ["blue", "green", "red"]'
LOOKED_FOR = "is looked for as forbidden.csv; rename it"
REFUSED = {  # settings and tables of a campaign, and words of the sentence
    "gold names more than campaign.toml": (STATED, {"gold": THREE}, ["toml has the classes blue, red", "says green"]),
    "gold and labels are of other questions": (STATED, OTHERS, ["toml", "gold.csv says yes", "collected.csv says fox"]),
    "a label that gold does not know": (
        "",
        among("bleu"),
        ["gold.csv has", "says bleu (did you mean 'blue'?)", "toml"],
    ),
    "a capital in the labels": (
        "",
        among("Red"),
        ["says 'red'", "collected.csv says 'Red'", "write them alike", "toml"],
    ),
    "a capital in gold": ("", {"gold": answers(("Red", "red"), ("blue", "blue"))}, ["'Red'", "'red'", "gold.csv"]),
    "labels and truth in other codes": ("", CODES, ["truth in gold.csv says 0, 1", "label in gold", "share no class"]),
    "a number below what gold names": ("classes = 2", {"gold": THREE}, ["names 3 classes, the campaign has 2", NAMED]),
    "a class that gold never had": (ALL_STATED, {"gold": TWO}, ["trust_gold = true where it is rare"]),
    "thousands without a comma anywhere": ("", priced("eve;3;1.500", "leo;3;2.250"), ["can mean 1500 or 1.5"]),
    "a comma beside a decimal point": ("", priced("eve;3;2,000", "leo;3;2.5"), ["'2,000' can mean 2000 or 2"]),
    "a capacity": ("", priced("eve;10.000;1", "leo;3;1"), ["line 2, column capacity: '10.000' can mean 10000 or 10"]),
    "a capacity among commas": ("", {"workers": "worker,capacity\neve,1.000\nleo,3"}, ["can mean 1000 or 1; write"]),
    "capitals in a table's name": ("", {"FORBIDDEN.CSV": "task,worker\nt1,eve"}, [LOOKED_FOR]),
    "blanks in a table's name": ("", {"For Bidden.csv": "task,worker\nt1,eve"}, [LOOKED_FOR]),
    "a group that no worker is in": (LIMITS, {"groups": "worker,group\neve,nroth"}, ["'north'; did you mean 'nroth'?"]),
    "a short row": ("", {"tasks": "task,type\nt1,all\nt2"}, ["tasks.csv, line 3: 1 cells", "add type after 't2'"]),
    "a row separated otherwise": (
        "",
        {"tasks": "task,type\nt1,all\nt2;all"},
        ["separate them by commas, as the header"],
    ),
    "a worker who has left": ("", NED, ["unknown worker 'ned'; a worker who has left stays in workers.csv with cap"]),
    "a target under another name": ("", {"tasks": "task,eps\nt1,.1"}, ["unknown column 'eps'; did you mean 'epsilon'"]),
    "a capital in a name": ("", named("Eve"), ["did you mean 'eve'"]),
    "blanks in a name": ("", named("e v e"), ["did you mean 'eve'"]),
    "a letter left out": ("", named("joanna"), ["did you mean 'johanna'"]),
    "a letter too many": ("", named("leon"), ["did you mean 'leo'"]),
    "a short name that is not near": ("", named("mia"), ["unknown worker 'mia';"]),
    "a name at another number": ("", named("judge-12"), ["unknown worker 'judge-12';"]),
}


@pytest.mark.parametrize(("settings", "tables", "words"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_reading_or_two_is_asked_back(tmp_path, settings, tables, words):
    """Either reading would be a guess, a price of 1500 or 1.5: one sentence says which, and nothing is written."""
    place = campaign(tmp_path / "c", settings, **tables)
    done = run("solve", place, "-o", tmp_path / "plan")
    said = done.output.strip().splitlines()[-1]
    assert done.exit_code == 2 and not [word for word in words if word not in said], said
    assert not (tmp_path / "plan").exists()


CLEAR = {  # prices that can be meant in one way
    "decimal commas": (priced("eve;3;1,5", "leo;3;2,25"), [1.5, 2.25]),
    "below one": (priced("eve;3;0.500", "leo;3;1.250"), [0.5, 1.25]),
    "a decimal comma with three places beside another": (priced("eve;3;1,500", "leo;3;2,5"), [1.5, 2.5]),
    "four places": (priced("eve;3;1.5000", "leo;3;2.250"), [1.5, 2.25]),
    "points among commas": ({"workers": "worker,capacity,price\neve,3.0,1.500\nleo,3.0,2.250"}, [1.5, 2.25]),
}


@pytest.mark.parametrize(("tables", "prices"), CLEAR.values(), ids=CLEAR)
def test_a_number_that_can_be_meant_in_one_way_is_read(tmp_path, tables, prices):
    """Another cell of the column, or the separator, shows what its mark means."""
    assert crowdopt.read_campaign(campaign(tmp_path / "c", **tables)).cost[0].tolist() == prices


def test_a_worker_who_has_left_stays_with_capacity_0(tmp_path):
    """Their labels were paid for; to drop the row asks for them again."""
    place = campaign(tmp_path / "c", **NED, workers="worker,capacity\neve,2\nleo,2\nned,0")
    assert crowdopt.read_campaign(place).capacity.tolist() == [2, 2, 0]


def test_tables_that_no_campaign_reads_are_named(tmp_path):
    """A misspelt forbidden.csv let its pairs into the plan without a word; own folders have no table too many."""
    files = {"price.tsv": "worker\tprice\neve\t2", "tasks_2025.csv": "task\nt9", "notes.txt": "call leo"}
    files |= {"forbiden.csv": "task,worker\nt1,eve", "export.json": "[]", "readme.md": "-"}
    place = campaign(tmp_path / "c", **files)
    (place / "plan").mkdir()
    (line,) = read(place)[1].splitlines()
    assert "forbiden.csv (did you mean forbidden.csv?), price.tsv (did you mean prices.csv?), tasks_2025.csv" in line
    assert not any(name in line for name in ("notes", "export", "readme", "plan,"))
    own = tmp_path / "own"
    crowdopt.init(own)
    crowdopt.solve(own, output=tmp_path / "p")
    crowdopt.rehearse(own, tmp_path / "p", output=tmp_path / "labels.csv", seed=0)
    crowdopt.aggregate(tmp_path / "labels.csv", plan=tmp_path / "p", campaign=own, output=tmp_path / "a")
    assert not read(own)[1] and not read(tmp_path / "a" / "campaign")[1]
