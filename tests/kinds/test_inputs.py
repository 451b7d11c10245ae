"""Input once silently taken for something else: read in the one way it can be meant, named, or asked back."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.errors import TableWarning
from tests.typed import run

FILES = {
    "campaign.toml": "epsilon = 0.25\n",
    "tasks.csv": "task\nt1\nt2\n",
    "workers.csv": "worker,capacity\neve,2\nleo,2\n",
    "skills.csv": "worker,accuracy\neve,.8\nleo,.8\n",
}
TWO, THREE = ("red", "blue"), ("red", "blue", "green")


def campaign(place: Path, **files: str) -> Path:
    """A small campaign with some files in place of its own, or of those that are there; gold stands in for skills."""
    own = {name.replace("__", "."): text for name, text in files.items()}
    if not place.exists():
        place.mkdir()
        bare = any(name.startswith("gold") for name in own)
        own = {name: text for name, text in FILES.items() if name != "skills.csv" or not bare} | own
    for name, text in own.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def answers(*pairs: tuple[str, str]) -> str:
    """Gold as answers beside the truth: both workers give each pair of label and truth three times."""
    rows = [f"{worker},g{k},{label},{true}\n" for worker in ("eve", "leo") for k, (label, true) in enumerate(pairs * 3)]
    return "worker,task,label,truth\n" + "".join(rows)


def right(*classes: str) -> str:
    """Gold in which every answer is right."""
    return answers(*((name, name) for name in classes))


def told(place: Path) -> str:
    """All that is said while the campaign is read."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        crowdopt.read_campaign(place)
    return "\n".join(str(note.message) for note in notes)


def test_classes_are_those_that_gold_names(tmp_path):
    """A vote among three classes errs otherwise than one among two, so the number must not be a default."""
    place = campaign(tmp_path / "c", gold__csv=right(*THREE))
    instance = crowdopt.read_campaign(place)
    assert instance.classes == 3 and instance.class_names == ("blue", "green", "red")
    assert "gold.csv: the classes are taken to be blue, green, red; campaign.toml names none" in told(place)
    stated = campaign(
        place, gold__csv=right(*THREE), campaign__toml='epsilon = 0.25\nclasses = ["green", "red", "blue"]\n'
    )
    assert crowdopt.read_campaign(stated).class_names == ("green", "red", "blue")
    assert "taken to be" not in told(stated)


@pytest.mark.parametrize(
    "gold",
    [
        ("gold.csv", "worker,true,answered,count\n" + "".join(f"eve,{c},{c},5\nleo,{c},{c},4\n" for c in THREE)),
        (
            "gold.csv",
            "item,worker,label,truth\n" + "".join(f"i{k},eve,{c},{c}\n" for k, c in enumerate(THREE * 5)),
        ),
    ],
    ids=["by class", "by item"],
)
def test_every_form_of_gold_that_names_classes_tells_them(tmp_path, gold):
    """The sentence and the classes do not hang on the form in which gold is written."""
    place = campaign(tmp_path / "c", campaign__toml='epsilon = 0.25\nrule = "bhattacharyya"\n', **dict([gold]))
    assert crowdopt.read_campaign(place).class_names == ("blue", "green", "red")
    assert "the classes are taken to be blue, green, red" in told(place)


def test_labels_in_tell_a_third_class_where_gold_is_tallies(tmp_path):
    """Tallies name no class; labels of three classes were planned as two."""
    labels = "task,worker,label\nt1,eve,red\nt2,eve,blue\nt1,leo,green\n"
    place = campaign(tmp_path / "c", collected__csv=labels)
    with pytest.warns(TableWarning, match=r"collected.csv: the classes are taken to be blue, green, red"):
        assert crowdopt.read_campaign(place).classes == 3


STATED = 'epsilon = 0.25\nclasses = ["red", "blue"]\n'
UNLIKE = {  # files of a campaign whose tables disagree, and the words of the sentence
    "gold names more than campaign.toml": (
        {"campaign__toml": STATED, "gold__csv": right(*THREE)},
        ("campaign.toml has the classes blue, red", "gold.csv says green"),
    ),
    "gold and labels are of other questions": (
        {"campaign__toml": STATED, "gold__csv": right("yes"), "collected__csv": "task,worker,label\nt1,eve,fox\n"},
        ("campaign.toml", "gold.csv says yes", "collected.csv says fox"),
    ),
    "a label that gold does not know": (
        {"gold__csv": right(*TWO), "collected__csv": "task,worker,label\nt1,eve,bleu\n"},
        ("gold.csv has the classes blue, red", "collected.csv says bleu (did you mean 'blue'?)"),
    ),
    "a capital in the labels": (
        {"gold__csv": right(*TWO), "collected__csv": "task,worker,label\nt1,eve,Red\n"},
        ("gold.csv says 'red'", "collected.csv says 'Red'", "write them alike"),
    ),
    "a capital in gold": ({"gold__csv": answers(("Red", "red"), ("blue", "blue"))}, ("'Red'", "'red'", "gold.csv")),
    "labels and truth in other codes": (
        {"gold__csv": answers(("yes", "1"), ("no", "0"))},
        ("truth in gold.csv says 0, 1", "label in gold.csv says no, yes", "share no class"),
    ),
    "a number below what gold names": (
        {"campaign__toml": "epsilon = 0.25\nclasses = 2\n", "gold__csv": right(*THREE)},
        ("gold.csv names 3 classes, the campaign has 2", 'classes = ["blue", "green", "red"]'),
    ),
}


@pytest.mark.parametrize(("files", "words"), UNLIKE.values(), ids=UNLIKE)
def test_tables_that_disagree_in_their_classes_are_refused(tmp_path, files, words):
    """Either reading would be a guess: one sentence names the tables and the words, and nothing is written."""
    place = campaign(tmp_path / "c", **files)
    done = run("solve", place, "-o", tmp_path / "plan")
    said = done.output.strip().splitlines()[-1]
    assert done.exit_code == 2 and all(word in said for word in words) and "campaign.toml" in said
    assert not (tmp_path / "plan").exists()
    with pytest.raises(InputError):
        crowdopt.solve(place)


def test_a_class_that_gold_never_had_is_asked_back(tmp_path):
    """It may be a slip of the pen, or rare: then campaign.toml says that gold is to be trusted, and it is told."""
    stated = 'epsilon = 0.25\nclasses = ["red", "blue", "green"]\n'
    place = campaign(tmp_path / "c", campaign__toml=stated, gold__csv=right(*TWO))
    with pytest.raises(InputError, match="trust_gold = true where it is rare"):
        crowdopt.read_campaign(place)
    place = campaign(tmp_path / "d", campaign__toml=stated + "trust_gold = true\n", gold__csv=right(*TWO))
    assert crowdopt.read_campaign(place).classes == 3
    assert "no label and no truth is green, which campaign.toml names" in told(place)


def test_import_writes_the_names_that_it_has_read(tmp_path):
    """Otherwise the campaign asks for classes 0 and 1 where people said good and bad."""
    rows = [f"t{k},{worker},{'good' if k % 2 else 'bad'}\n" for k in range(8) for worker in ("eve", "leo", "mia")]
    (tmp_path / "labels.csv").write_text("task,worker,label\n" + "".join(rows), encoding="utf-8")
    crowdopt.import_labels(tmp_path / "labels.csv", output=tmp_path / "c")
    assert crowdopt.read_campaign(tmp_path / "c").class_names == ("bad", "good")


ASKED = {  # a table of workers whose numbers can be meant in two ways, and both of them
    "thousands without a comma anywhere": ("eve;3;1.500\nleo;3;2.250\n", "'1.500' can mean 1500 or 1.5"),
    "a comma beside a decimal point": ("eve;3;2,000\nleo;3;2.5\n", "'2,000' can mean 2000 or 2"),
    "a capacity": ("eve;10.000;1\nleo;3;1\n", "line 2, column capacity: '10.000' can mean 10000 or 10"),
}


@pytest.mark.parametrize(("rows", "sentence"), ASKED.values(), ids=ASKED)
def test_a_number_that_can_be_meant_in_two_ways_is_asked_back(tmp_path, rows, sentence):
    """A price is 1500 or 1.5: a thousand times another plan."""
    place = campaign(tmp_path / "c", workers__csv=f"worker;capacity;price\n{rows}")
    with pytest.raises(InputError, match="workers.csv, line ") as error:
        crowdopt.read_campaign(place)
    assert sentence in str(error.value)


CLEAR = {  # prices that can be meant in one way
    "decimal commas": ("1,5", "2,25", [1.5, 2.25]),
    "below one": ("0.500", "1.250", [0.5, 1.25]),
    "a decimal comma with three places beside another": ("1,500", "2,5", [1.5, 2.5]),
    "four places": ("1.5000", "2.250", [1.5, 2.25]),
}


@pytest.mark.parametrize(("one", "other", "prices"), CLEAR.values(), ids=CLEAR)
def test_a_number_that_can_be_meant_in_one_way_is_read(tmp_path, one, other, prices):
    """Another cell of the column shows what its mark means."""
    place = campaign(tmp_path / "c", workers__csv=f"worker;capacity;price\neve;3;{one}\nleo;3;{other}\n")
    assert crowdopt.read_campaign(place).cost[0].tolist() == prices


def test_points_of_tables_with_commas_are_decimal(tmp_path):
    """A separator that is a comma leaves no other reading for a price; a capacity of 1.000 is asked back even so."""
    place = campaign(tmp_path / "c", workers__csv="worker,capacity,price\neve,3.0,1.500\nleo,3.0,2.250\n")
    assert crowdopt.read_campaign(place).cost[0].tolist() == [1.5, 2.25]
    campaign(place, workers__csv="worker,capacity\neve,1.000\nleo,3\n")
    with pytest.raises(InputError, match="'1.000' can mean 1000 or 1; write which one"):
        crowdopt.read_campaign(place)


def test_tables_that_no_campaign_reads_are_named(tmp_path):
    """A misspelt forbidden.csv let its pairs into the plan without a word."""
    place = campaign(
        tmp_path / "c",
        forbiden__csv="task,worker\nt1,eve\n",
        price__tsv="worker\tprice\neve\t2\n",
        tasks_2025__csv="task\nt9\n",
        **{"notes.txt": "call leo\n", "export.json": "[]\n", "readme.md": "-\n"},
    )
    (place / "plan").mkdir()
    (line,) = told(place).splitlines()
    assert "forbiden.csv (did you mean forbidden.csv?), price.tsv (did you mean prices.csv?), tasks_2025.csv" in line
    assert not any(name in line for name in ("notes", "export", "readme", "plan,"))


def test_own_folders_have_no_table_too_many(tmp_path):
    """What init, import and aggregate write is read to the last table."""
    crowdopt.init(tmp_path / "c")
    place = tmp_path / "c"
    plan = crowdopt.solve(place)
    crowdopt.write_plan(plan, tmp_path / "p")
    crowdopt.rehearse(place, tmp_path / "p", output=tmp_path / "labels.csv", seed=0)
    crowdopt.aggregate(tmp_path / "labels.csv", plan=tmp_path / "p", campaign=place, output=tmp_path / "a")
    assert not told(place) and not told(tmp_path / "a" / "campaign")


@pytest.mark.parametrize("name", ["FORBIDDEN.CSV", "For Bidden.csv"])
def test_a_table_that_case_or_blanks_keep_from_being_read_is_refused(tmp_path, name):
    """There is no other table that it can be meant for."""
    place = campaign(tmp_path / "c", **{name: "task,worker\nt1,eve\n"})
    with pytest.raises(InputError, match=r"is looked for as forbidden\.csv; rename it"):
        crowdopt.read_campaign(place)


def test_groups_without_limits_are_told(tmp_path):
    """A group that campaign.toml never names changes nothing; one that no worker is in is refused."""
    groups = "worker,group\neve,north\nleo,nroth\n"
    limits = "epsilon = 0.25\n[groups.north]\nmax_per_task = 1\n"
    place = campaign(tmp_path / "c", groups__csv=groups, campaign__toml=limits)
    with pytest.warns(TableWarning, match=r"groups.csv: nothing depends on the group.s. 'nroth'"):
        crowdopt.read_campaign(place)
    campaign(place, groups__csv="worker,group\neve,nroth\n")
    with pytest.raises(InputError, match=r"no worker is in the group 'north'; did you mean 'nroth'\?"):
        crowdopt.read_campaign(place)


def test_a_short_row_lacks_cells(tmp_path):
    """Quotes mend rows that are too long only."""
    place = campaign(tmp_path / "c", tasks__csv="task,type\nt1,all\nt2\n")
    with pytest.raises(InputError, match="tasks.csv, line 3: 1 cells where .*cells are missing: add type after 't2'"):
        crowdopt.read_campaign(place)
    campaign(place, tasks__csv="task,type\nt1,all\nt2;all\n")
    with pytest.raises(InputError, match="separate them by commas, as the header is"):
        crowdopt.read_campaign(place)


def test_a_worker_who_has_left_stays_with_capacity_0(tmp_path):
    """Their labels were paid for; to drop the row, as the sentence said, asks for them again."""
    labels = "task,worker,label\nt1,ned,red\nt2,ned,blue\n"
    skills = "worker,accuracy\neve,.8\nleo,.8\nned,.8\n"
    place = campaign(tmp_path / "c", collected__csv=labels, skills__csv=skills)
    sentence = r"unknown worker 'ned'; a worker who has left stays in workers.csv with capacity 0"
    with pytest.raises(InputError, match=sentence):
        crowdopt.read_campaign(place)
    campaign(place, workers__csv=FILES["workers.csv"] + "ned,0\n")
    assert crowdopt.read_campaign(place).capacity.tolist() == [2, 2, 0]


@pytest.mark.parametrize(
    ("name", "hint"), [("Eve", "eve"), ("e v e", "eve"), ("joanna", "johanna"), ("leon", "leo"), ("mia", None)]
)
def test_only_a_name_that_is_near_is_suggested(tmp_path, name, hint):
    """A guess at a name that is merely short sends labels to somebody else; so does one at another number."""
    place = campaign(tmp_path / "c", skills__csv=f"worker,accuracy\n{name},.8\n")
    campaign(place, workers__csv="worker,capacity\neve,2\nleo,2\njohanna,2\nami,1\n")
    with pytest.raises(InputError, match="unknown worker") as error:
        crowdopt.read_campaign(place)
    assert ("did you mean" in str(error.value)) == (hint is not None) and (hint or "") in str(error.value)


def test_no_other_number_is_suggested(tmp_path):
    """judge-12 is not judge-1."""
    place = campaign(tmp_path / "c", workers__csv="worker,capacity\njudge-1,2\n")
    campaign(place, skills__csv="worker,accuracy\njudge-12,.8\n")
    with pytest.raises(InputError, match="unknown worker 'judge-12';"):
        crowdopt.read_campaign(place)


def test_the_note_on_types_without_gold_names_the_way(tmp_path):
    """Whose language a worker does not speak, they must not label: the mean of those who do is no skill of theirs."""
    gold = "worker,type,correct,asked\neve,de,9,10\nleo,fr,8,10\n"
    place = campaign(tmp_path / "c", tasks__csv="task,type\nt1,de\nt2,fr\n", gold__csv=gold)
    assert "2 pair(s) of a worker and a type without gold" in told(place) and "forbidden.csv" in told(place)


def test_an_own_target_under_another_name_is_asked_back(tmp_path):
    """A column eps was kept as one that nothing uses, and every task had the campaign's target."""
    place = campaign(tmp_path / "c", tasks__csv="task,eps\nt1,0.01\nt2,0.2\n")
    with pytest.raises(InputError, match="unknown column 'eps'; did you mean 'epsilon'?"):
        crowdopt.read_campaign(place)
