"""Labels as strangers bring them: skills without known answers, truth that does not fit, cells that are no classes."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.crowd.labels import Labels
from crowdopt.errors import GoldWarning, TableWarning
from tests.chance import fewest, most, seeds
from tests.io import write_table
from tests.typed import run

HEAD = "task,worker,label"


def columns(rows):
    """Rows of task, worker and label as columns by name."""
    return dict(zip(("task", "worker", "label"), map(list, zip(*rows, strict=True)), strict=True))


def drawn(seed, accuracy, each, tasks=600, workers=6, classes=2):
    """Columns task, worker, label of one to ``each`` labels a task, and the truth; each worker is right by chance."""
    rng = np.random.default_rng(seed)
    true, rows = rng.integers(classes, size=tasks), []
    for i in range(tasks):
        for j in rng.choice(workers, rng.integers(1, each + 1), replace=False).tolist():
            right = rng.random() < accuracy
            label = true[i] if right else (true[i] + rng.integers(1, classes)) % classes
            rows.append((f"t{i}", f"w{j}", f"c{label}"))
    return columns(rows), {"task": [f"t{i}" for i in range(tasks)], "label": [f"c{k}" for k in true]}


def notes(call, *given, **options):
    """What is told on the way."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(*given, **options)
    return [str(one.message) for one in told]


@pytest.mark.chance
@pytest.mark.parametrize(("accuracy", "each", "classes"), [(0.8, 2, 2), (0.75, 2, 3), (0.7, 3, 2)])
def test_skills_without_truth_are_no_higher_than_they_are(accuracy, each, classes):
    """Half or a third of the tasks have one label, which agrees with itself: held against it workers err not at all.

    Tallies are worth as many independent answers, no more: right ones among them are as rare as coins of that chance.
    """
    gold = [crowdopt.import_labels(drawn(seed, accuracy, each, classes=classes)[0]).gold for seed in seeds(4)]
    correct, asked = (int(sum(one.sum() for one in some)) for some in zip(*gold, strict=True))
    assert fewest(asked, accuracy) <= correct <= most(asked, accuracy)


def test_agreement_tells_less_than_known_answers_of_two_labels_and_as_much_of_nine():
    """What agrees with one other label tells of both at once; nine that are right with .9 leave no doubt."""
    labels, _ = drawn(0, 0.8, 2)
    several = len(labels["task"]) - len(set(labels["task"]))  # a task has one or two
    assert 0 < crowdopt.import_labels(labels).gold[1].sum() < several
    rows = [(f"t{i}", f"w{j}", "ab"[(i + (i % 9 == j)) % 2]) for i in range(90) for j in range(9)]
    correct, asked = crowdopt.import_labels(columns(rows)).gold
    assert (abs(correct / asked - 80 / 90) < 0.03).all() and (asked > 85).all()


def test_labels_that_meet_no_other_tell_nothing(tmp_path):
    """All workers count as guessing, so that no plan claims that a label of theirs is enough."""
    labels = columns([(f"t{i}", f"w{i % 3}", "ab"[i % 2]) for i in range(60)])
    with pytest.warns(GoldWarning, match="0 of 60 tasks have several labels"):
        made = crowdopt.import_labels(labels, output=tmp_path / "c")
    assert (made.instance.accuracy == 0.5).all()


def test_labels_that_are_there_are_counted_and_no_pair_is_asked_again(tmp_path):
    """Plans of ``--collected`` buy for tasks whose labels leave more error than the target, and for no other."""
    labels, _ = drawn(3, 0.8, 3, tasks=60, workers=8)
    made = crowdopt.import_labels(labels, epsilon=0.1, collected=True, output=tmp_path / "c")
    had = set(zip(labels["task"], labels["worker"], strict=True))
    asked = {(row["task"], row["worker"]) for row in crowdopt.solve(tmp_path / "c", output=tmp_path / "p")}
    assert len(made.instance.collected) == len(had) and not asked & had
    assert crowdopt.verify(tmp_path / "c", tmp_path / "p").holds
    left = 1 - made.instance.prior.max(axis=1)  # what the labels that are in leave
    sure = {made.instance.task_id(i) for i in range(60) if left[i] <= 0.1}
    assert 0 < len(sure) < 60 and {task for task, _ in asked} == {f"t{i}" for i in range(60)} - sure
    with pytest.raises(InputError, match="name its folder"):
        crowdopt.import_labels(labels, collected=True)


def test_what_labels_cost_is_a_price_only_when_that_is_said():
    """A note otherwise: the cheapest plan would be another one; a worker without a cost is refused."""
    labels, truth = drawn(0, 0.9, 5, tasks=40)
    labels["cost"] = [str(1 + int(name[1:])) for name in labels["worker"]]
    with pytest.warns(TableWarning, match="cost is not used"):
        assert (crowdopt.import_labels(labels, truth).instance.cost == 1).all()
    made = crowdopt.import_labels(labels, truth, cost_as_price=True).instance
    assert made.cost[0].tolist() == [1 + int(name[1:]) for name in made.workers]
    with pytest.warns(TableWarning, match="cost is not used"):  # a column like any other
        crowdopt.import_labels({**labels, "cost": ["a dollar"] * len(labels["cost"])}, truth)
    labels["cost"] = ["" if name == "w0" else cost for name, cost in zip(labels["worker"], labels["cost"], strict=True)]
    with pytest.raises(InputError, match="no label of w0 has a cost"):
        crowdopt.import_labels(labels, truth, cost_as_price=True)


def test_labels_that_contradict_one_another_are_refused_for_that():
    """Two workers who never agree: there is no truth to blame."""
    rows = [(f"t{i}", f"w{j}", "ab"[(i // 2 + j) % 2]) for i in range(60) for j in range(2)]
    with pytest.raises(InputError, match="no known answers: .* labels of a task contradict each other") as said:
        crowdopt.import_labels(columns(rows))
    assert "truth do not fit" not in str(said.value)


def test_truth_that_is_the_vote_of_the_same_labels_gets_a_note():
    """Known answers that follow each majority are not known otherwise: in both verbs."""
    labels, _ = drawn(0, 0.75, 3, tasks=60)
    each: dict[str, list[str]] = {}
    for task, label in zip(labels["task"], labels["label"], strict=True):
        each.setdefault(task, []).append(label)
    vote = {"task": [*each], "label": [max(sorted(some), key=some.count) for some in each.values()]}
    for call in (crowdopt.import_labels, crowdopt.aggregate):
        assert any("look made from these labels" in note for note in notes(call, labels, truth=vote))


@pytest.mark.chance
def test_truth_that_is_known_otherwise_gets_no_such_note():
    """The note's chance is 1 in 20 at most where errors are independent."""
    crowds = [drawn(seed, (0.7, 0.97)[seed % 2], 3, tasks=100) for seed in seeds(20)]
    told = [notes(crowdopt.aggregate, labels, "majority", truth=truth) for labels, truth in crowds]
    assert sum(any("look made" in note for note in some) for some in told) <= most(20, 0.05)


@pytest.mark.parametrize("method", ["majority", "one-coin", "belief-propagation", "dawid-skene", "auto"])
def test_a_true_class_that_no_worker_gave_is_their_error(method):
    """29 of 30 answers can be right at most."""
    rows = [(f"t{i}", f"w{j}", "cat" if i % 2 else "dog") for i in range(30) for j in range(4)]
    truth = {"task": [f"t{i}" for i in range(30)], "label": ["fox", *("cat" if i % 2 else "dog" for i in range(1, 30))]}
    assert crowdopt.aggregate(columns(rows), method, truth=truth).right == pytest.approx(29 / 30)


def test_a_known_class_beyond_the_labels_classes_is_named():
    """In Python, where classes are places: no IndexError from inside."""
    rows = [("t1", "u", "a"), ("t1", "v", "b"), ("t2", "u", "b"), ("t2", "v", "b")]
    labels = Labels.from_columns(*zip(*rows, strict=True))
    with pytest.raises(InputError, match=r"places in labels\.classes"):
        crowdopt.aggregate(labels, "one-coin", known=[2, 1])


def test_truth_coded_otherwise_is_refused_alike_by_both_verbs(tmp_path):
    """Labels say good and bad, the truth 1 and 0: nothing is written, and the sentence is one."""
    rows = [f"t{i},w{j},{('good', 'bad')[i % 2]}" for i in range(40) for j in range(3)]
    labels = write_table(tmp_path / "l.csv", HEAD, *rows)
    truth = write_table(tmp_path / "t.csv", "task,label", *(f"t{i},{i % 2}" for i in range(40)))
    said = [run(verb, labels, "--truth", truth, "-o", tmp_path / verb) for verb in ("aggregate", "import")]
    assert [one.exit_code for one in said] == [2, 2] and said[0].stderr == said[1].stderr
    assert "labels and truth do not fit each other" in said[0].stderr
    assert not (tmp_path / "aggregate").exists() and not (tmp_path / "import").exists()
    assert run("aggregate", labels, "--truth", truth, "--trust-gold").exit_code == 0


CELLS = [
    (['"[""a"",""b""]"', '"[""a""]"'], "looks like several in one cell, and 2 such"),
    (["a|b", "c"], "looks like several in one cell, and 1 such"),
    (["a;b", "a", "b"], "looks like several in one cell, and 1 such"),
    (["yes", "Unsure"], "'Unsure' counts as a class"),
    (["yes", "I don\u2019t know"], "counts as a class"),
    (["yes", "N/a"], "'N/a' counts as a class"),
    (["caf\u00e9", "cafe\u0301"], r"labels 'cafe\u0301' and 'caf\xe9' differ in Unicode's form"),
    (["cat", "cat\u200b"], r"labels 'cat' and 'cat\u200b' differ in Unicode's form"),
    (["spam", "ham", "-1"], "the label -1 (33.3 % of the labels) counts as a class"),
    ([f"a text of its own {k}" for k in range(36)], "36 different labels among 36 count as a class each"),
    (['"sea, lake"', "land"], None),
    (["-1", "1"], None),
]


@pytest.mark.parametrize(("cells", "note"), CELLS, ids=str)
def test_cells_that_may_be_no_class_get_a_note(cells, note, tmp_path):
    """They are read as they stand, and it is said."""
    rows = [f"t{i},w{j},{cells[(3 * i + j) % len(cells)]}" for i in range(12) for j in range(3)]
    told = notes(crowdopt.aggregate, write_table(tmp_path / "l.csv", HEAD, *rows))
    assert not told if note is None else any(note in one for one in told)


@pytest.mark.parametrize("name", ["task", "worker"])
def test_tasks_and_workers_alike_but_for_unicode_get_the_note_too(name):
    """As file systems write them: one file is two tasks."""
    labels = {"task": ["1", "1", "2"], "worker": ["a", "b", "a"], "label": ["x", "y", "x"]}
    labels[name][:2] = ["Zo\u00eb", "Zoe\u0308"]
    with pytest.warns(TableWarning, match=f"the {name}s .*Unicode's form .* count as two {name}s"):
        crowdopt.aggregate(labels)


def test_minus_one_that_no_known_answer_has_is_asked_back(tmp_path):
    """Of a matrix too. Where it is known to be true, or a word, it is a class."""
    rows = [f"t{i},w{j},{-1 if (i + j) % 3 == 0 else i % 2}" for i in range(30) for j in range(4)]
    labels = write_table(tmp_path / "l.csv", HEAD, *rows)
    truth = write_table(tmp_path / "t.csv", "task,label", *(f"t{i},{i % 2}" for i in range(30)))
    for verb in ("aggregate", "import"):
        said = run(verb, labels, "--truth", truth, "-o", tmp_path / "o")
        assert said.exit_code == 2 and "the label -1 (33.3 % of the labels, of no known answer)" in said.stderr
    known = write_table(tmp_path / "k.csv", "task,label", *(f"t{i},{-1 if i == 3 else i % 2}" for i in range(30)))
    assert run("aggregate", labels, "--truth", known).exit_code == 0
    wide = [",".join(str(-1 if (i + j) % 3 else i % 2) for j in range(4)) for i in range(30)]
    matrix = write_table(tmp_path / "m.csv", "a,b,c,d", *wide)
    said = run("import", matrix, "--from", "cleanlab", "-o", tmp_path / "o")
    assert said.exit_code == 2 and "may be a class or none; leave these rows out" in said.stderr


def test_scores_are_no_classes_but_ratings_are(tmp_path):
    """Two decimals of three judges are amounts; one to five, or halves, are steps of a scale."""

    def read(verb, what, *words):
        rows = [f"t{i},w{j},{what(i, j)}" for i in range(20) for j in range(3)]
        return run(verb, write_table(tmp_path / "l.csv", HEAD, *rows), *words)

    said = read("import", lambda i, j: (37 * i + 11 * j) % 100 / 100, "-o", tmp_path / "c")
    assert said.exit_code == 2 and "are numbers such as" in said.stderr and not (tmp_path / "c").exists()
    assert read("aggregate", lambda i, j: 137 * i + 11 * j).exit_code == 2
    assert read("aggregate", lambda i, j: f"{(37 * i + 11 * j) % 100} %").exit_code == 2
    for step in (1, 0.5):
        assert read("aggregate", lambda i, j, step=step: (i % 5 + (i + j) % 2) * step).exit_code == 0


@pytest.mark.parametrize("column", ["text", "uuid"])
def test_a_column_of_texts_is_no_worker(column, tmp_path):
    """In a wide table; what it says, no other column does."""
    rows = [f"{i},text {i},{'ab'[i % 2]},{'ab'[i // 2 % 2]},b" for i in range(8)]
    table = write_table(tmp_path / "m.csv", f"task,{column},ada,bo,cy", *rows)
    with pytest.raises(InputError, match=f"column '{column}' is no worker's"):
        crowdopt.import_labels(table, tool="cleanlab")


HEADERS = {  # of platforms, and what is asked
    "HITId,AssignmentId,WorkerId,Input.image,Answer.label": "'HITId', 'worker' by 'WorkerId', 'label' by 'Answer.",
    "INPUT:image,GOLDEN:result,OUTPUT:result,ASSIGNMENT:worker_id": "'ASSIGNMENT:worker_id', 'label' by 'OUTPUT:r",
    "id,traceId,source,userId,stringValue": "'task' by 'traceId', 'worker' by 'userId'? which column is 'label'?",
    "assignment_id,sentence,annotator,label": "'task' by 'sentence', 'worker' by 'annotator'?",
}


@pytest.mark.parametrize(("header", "sentence"), HEADERS.items())
def test_all_columns_that_are_missing_are_guessed_at_once(header, sentence, tmp_path):
    """An id before what is shown: units that show the same text are not one task."""
    table = write_table(tmp_path / "l.csv", header, ",".join("x" for _ in header.split(",")))
    with pytest.raises(InputError, match=re.escape(sentence)):
        crowdopt.aggregate(table)


def test_rejected_rows_and_known_answers_of_a_platform_are_named(tmp_path):
    """They count, or do not, as before; but it is said."""
    rows = ["t1,a,cat,Approved,cat", "t1,b,dog,Rejected,cat", "t2,a,dog,Approved,", "t2,b,dog,REJECTED,"]
    table = write_table(tmp_path / "l.csv", "task,worker,label,AssignmentStatus,GOLDEN:result", *rows)
    told = notes(crowdopt.aggregate, table)
    assert any("2 row(s) have 'rejected' in column AssignmentStatus and count like" in note for note in told)
    assert any("column GOLDEN:result is not read; known answers go into" in note for note in told)
