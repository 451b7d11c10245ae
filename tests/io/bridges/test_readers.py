"""Every tool's export into one table of labels: nothing lost, and what cannot be read is said with file and place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdopt import InputError, import_labels, pull
from crowdopt.io.bridges import bridge_named, bridges
from crowdopt.io.bridges.annotations import Annotation, latest
from crowdopt.io.bridges.pushed import Wishes
from tests.exports import EXPORTS, GIVEN, TASKS, TRUTH, WORKERS, label_studio, lay_exports, potato_state, seconds_of
from tests.io import lay, write_table
from tests.typed import rows, run

PASSING = {"promptfoo", "deepeval"}  # tools whose votes are whether something passes
TIMED = {"label-studio", "potato", "crowd-kit"}
MARKED = {"label-studio", "potato", "truth-inference", "mlflow"}
LABELS = {pair: label for pair, label in GIVEN.items() if label}


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    """All of them, and a campaign of the same tasks and workers."""
    lay_exports(tmp_path)
    settings = 'title = "five"\nepsilon = 0.3\nprior = { no = 0.5, yes = 0.5 }'
    lay(tmp_path / "campaign", settings, TASKS, dict.fromkeys(WORKERS, (5, 0.8)))
    return tmp_path


def test_every_bridge_with_a_reader_is_tried_here():
    """A new one fails until it has an export above."""
    assert {name for name, bridge in bridges().items() if bridge.read} == set(EXPORTS)


@pytest.mark.parametrize("tool", EXPORTS)
def test_a_pull_loses_nothing(exports, tool):
    """The same labels from every tool; what was skipped, times and gold where the tool knows of them."""
    back = exports / "back"
    pulled = pull(exports / "campaign", [exports / EXPORTS[tool]], tool=tool, output=back)
    table = rows(back / "labels.csv")
    words = {"yes": "pass", "no": "fail"} if tool in PASSING else {"yes": "yes", "no": "no"}
    assert {(row["task"], row["worker"]): row["label"] for row in table} == {k: words[v] for k, v in LABELS.items()}
    if tool in TIMED:
        assert all(float(row["seconds"]) == seconds_of(row["task"], row["worker"]) for row in table)
    if tool in TIMED | PASSING | {"mlflow"}:
        assert [(row["task"], row["worker"]) for row in rows(back / "skipped.csv")] == [("t4", "chen")]
    truth = {row["task"]: row["label"] for row in rows(back / "truth.csv")}
    assert truth == (TRUTH if tool in MARKED else {})
    marks = 2 if tool in ("label-studio", "mlflow") else 0
    assert [why for _, why in pulled.others] == ["no worker of the campaign"] * marks
    assert pulled.facts["read"] == len(pulled.labels) + len(pulled.skipped) + marks
    before = {path.name: path.read_bytes() for path in back.iterdir()}
    assert pull(exports / "campaign", [exports / EXPORTS[tool]], tool=tool, output=back).new == 0
    assert before == {path.name: path.read_bytes() for path in back.iterdir()}


@pytest.mark.parametrize("tool", EXPORTS)
def test_an_import_takes_the_gold_that_the_tool_marks(exports, tool):
    """Every worker is tallied against it; the one who marked it is not; without gold EM stands in."""
    made = import_labels(exports / EXPORTS[tool], tool=tool, epsilon=0.3)
    names = made.instance.workers
    assert [name.partition("@")[0] for name in names] == list(WORKERS)
    if tool in MARKED:
        right = [sum(LABELS[task, worker] == label for task, label in TRUTH.items()) for worker in WORKERS]
        assert made.gold_source == "truth"
        assert made.gold[0].tolist() == [right] and made.gold[1].tolist() == [[2, 2, 2]]


def test_time_can_be_the_price(exports):
    """A worker's price is the mean of their seconds."""
    made = import_labels(exports / "studio.json", tool="label-studio", epsilon=0.3, time_as_price=True)
    mine = [seconds_of(task, "ada") for task in TASKS]
    assert made.instance.cost[0, 0] == pytest.approx(sum(mine) / len(mine))
    with pytest.raises(InputError, match="leave out --time-as-price"):
        import_labels(exports / "peerannot.json", tool="peerannot", time_as_price=True)


def test_a_models_labels_are_a_workers(exports):
    """llm_labels.jsonl, one label on a line."""
    found = bridge_named("potato").reader()(exports / "llm_labels.jsonl", Wishes())
    assert {(row.task, row.worker): row.label for row in found.rows} == LABELS
    assert found.rows[0].seconds == seconds_of(found.rows[0].task, found.rows[0].worker)


def test_accounts_are_workers_by_the_table_or_by_what_stands_before_the_at(exports):
    """An expert's label is kept, and counts for nothing; said of another account, it is that worker's."""
    who = write_table(exports / "who.csv", "worker,account", "bo,boss@example.org")
    given = {"tool": "label-studio", "people": who, "output": exports / "b"}
    pulled = pull(exports / "campaign", [exports / "studio.json"], **given)
    assert {why for _, why in pulled.others} == {"replaced by a later one"} and len(pulled.others) == 2


def test_a_label_that_changed_in_the_tool_is_not_taken_unseen(exports):
    """More labels are added; a label that is another one now stops the pull until it is forced."""
    state = exports / "potato" / "annotation_output" / "round-1" / "ada" / "user_state.json"
    full = potato_state("ada")
    short = {**full, "instance_id_to_label_to_value": dict([*full["instance_id_to_label_to_value"].items()][:2])}
    state.write_text(json.dumps(short), encoding="utf-8")
    given = {"tool": "potato", "output": exports / "back"}
    pull(exports / "campaign", [exports / "potato"], **given)
    state.write_text(json.dumps(full), encoding="utf-8")
    assert pull(exports / "campaign", [exports / "potato"], **given, dry_run=True).new == 3
    assert pull(exports / "campaign", [exports / "potato"], **given).new == 3
    state.write_text(json.dumps(short), encoding="utf-8")
    with pytest.raises(InputError, match="that of ada for task t2, 'yes', is gone; .* --force"):
        pull(exports / "campaign", [exports / "potato"], **given)
    assert len(pull(exports / "campaign", [exports / "potato"], **given, force=True).labels) == len(LABELS) - 3


def test_the_later_of_two_labels_counts():
    """And a label more than a skip, whenever that was."""
    first, second = Annotation("t", "w", "a", when="1"), Annotation("t", "w", "b", when="2")
    skip = Annotation("t", "w", "", when="3", cancelled=True)
    assert latest([second, first, skip, first]) == ([second], [first, skip, first])
    assert latest([first, first]) == ([first], [])


def test_texts_that_a_spreadsheet_computes_are_kept_and_said(exports):
    """An id with a quote before it would be another id; a reader with a spreadsheet is told."""
    odd = write_table(exports / "odd.csv", "task,worker,label", "a,ada,=1+1", "a,bo,-1", "@b,ada,yes")
    done = run("pull", exports / "campaign", odd, "--from", "crowd-kit", "-o", exports / "b")
    assert done.exit_code == 0 and "2 row(s) have a text that begins with = + - or @" in done.stdout
    every = [*rows(exports / "b" / "labels.csv"), *rows(exports / "b" / "others.csv")]
    assert {(row["task"], row["label"]) for row in every} == {("a", "=1+1"), ("a", "-1"), ("@b", "yes")}


MORE = {"from_name": "sure", "to_name": "text", "type": "choices", "value": {"choices": ["yes"]}}
PLACE = r"studio.json[,:] \[0\].annotations\["
WRONG = {  # what is put into the first task's annotations, where, and the sentence
    "two questions": ((0, "result", 1), MORE, r"0\].result: answers label, sure; choose one of them with --field"),
    "two classes": ((2, "result", 0, "value", "choices"), ["no", "yes"], "2.*: must be one class, not a list of 2"),
    "a box": ((0, "result", 0), {"type": "rectanglelabels", "value": {}}, "0.*: holds rectanglelabels and no choice"),
    "a type that is a table": ((0, "result", 0, "type"), {}, r"0\].result\[0\].type must be text in quotes"),
    "nobody": ((1, "completed_by"), None, r"1\].completed_by: must say who did it, not None; export"),
    "two golds": ((1, "ground_truth"), True, r"3\]: task t0 is marked as 'yes' and as 'no'; keep one mark"),
}


def spoiled(folder: Path, place: tuple, value: object) -> Path:
    """An export of Label Studio with something else at a place of the first task's annotations."""
    tasks = label_studio()
    *path, last = place
    part = tasks[0]["annotations"]
    for key in path:
        part = part[key]
    if last == len(part):
        part.append(value)
    else:
        part[last] = value
    (folder / "studio.json").write_text(json.dumps(tasks), encoding="utf-8")
    return folder / "studio.json"


@pytest.mark.parametrize(("place", "value", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_file_and_place(tmp_path, place, value, said):
    """And with the remedy."""
    with pytest.raises(InputError, match=PLACE + said):
        bridge_named("label-studio").reader()(spoiled(tmp_path, place, value), Wishes())


def test_one_of_several_questions_is_taken(tmp_path):
    """By its name."""
    path = spoiled(tmp_path, (0, "result", 1), MORE)
    found = bridge_named("label-studio").reader()(path, Wishes(field="sure"))
    assert [row.label for row in found.rows if row.label] == ["yes"]
