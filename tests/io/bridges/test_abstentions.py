"""A judge who does not answer abstains: no vote, counted, said, and another judge is asked."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from contextlib import asynccontextmanager
from types import ModuleType, SimpleNamespace

import pytest

import crowdopt
from crowdopt.io.bridges import inspect_panel
from crowdopt.io.bridges.inspect_panel import KEY, winner
from tests.io import lay, write_table

JUDGES = ("north", "south", "west", "east")


@pytest.fixture
def desk(tmp_path):
    """Four items and four judges, of whom each item needs two."""
    crew = {name: (4, 0.8 if name == "east" else 0.9) for name in JUDGES}
    settings = 'epsilon = 0.1\nrule = "exact-error"\nprior = { C = 0.5, I = 0.5 }'
    campaign = lay(tmp_path / "campaign", settings, "abcd", crew)
    write_table(campaign / "fixed.csv", "task,worker", *(f"{task},{name}" for task in "abcd" for name in JUDGES[:2]))
    crowdopt.solve(campaign, output=tmp_path / "plan")
    return tmp_path


def sample(task, **values):
    """A sample of a panel's log; a judge whose value is ``...`` has none."""
    said = {name: {} if value is ... else {"value": value} for name, value in values.items()}
    return {"id": task, "scores": {"panel": {"value": "C", "metadata": {KEY: said}}}}


def pulled(desk, *samples):
    """What comes back from a log of these samples."""
    (desk / "log.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    return crowdopt.pull(desk / "campaign", [desk / "log.json"], tool="inspect", output=desk / "back", force=True)


def answered(desk, **options):
    """What labels that came back tell."""
    given = {"campaign": desk / "campaign", "output": desk / "answers"}
    return crowdopt.aggregate(desk / "back" / "labels.csv", plan=desk / "plan", **given, **options)


@pytest.mark.parametrize("value", [math.nan, None, ..., "", [1, 2], {"grade": "C"}, math.inf])
def test_no_value_is_an_abstention_and_what_is_no_single_value_is_refused(desk, value):
    """Skipped and counted, or kept with its place: either way the others' labels come back."""
    back = pulled(desk, sample("a", north=value, south="C"))
    assert [(row.worker, row.label) for row in back.labels] == [("south", "C")]
    if isinstance(value, list | dict) or value == math.inf:
        ((row, why),) = back.others
        assert row.place.endswith("crowdopt_panel.north") and why.endswith("is no single value")
        assert back.skipped == []
    else:
        assert [(row.task, row.worker) for row in back.skipped] == [("a", "north")]
        assert back.silent == {"north": 1} and back.facts["skipped_by"] == {"north": 1}


def test_a_scorer_of_its_own_may_abstain(desk):
    """Without a panel as well: a score of NaN, null, or none at all."""
    scores = [{"north": {"value": math.nan}}, {"north": {"value": None}}, {"north": {}}, None]
    back = pulled(desk, *({"id": task, "scores": score} for task, score in zip("abcd", scores, strict=True)))
    assert back.labels == [] and back.silent == {"north": 3}


def test_an_item_on_which_all_abstain_is_unsure_and_asked_of_others(desk):
    """The error is that of the labels that came; who did not answer is not asked the same again."""
    says = {"a": (math.nan, None), "b": ("C", math.nan), "c": ("C", "C"), "d": ("C", "I")}
    log = [sample(task, north=north, south=south) for task, (north, south) in says.items()]
    assert pulled(desk, *log).silent == {"south": 2, "north": 1}
    found = answered(desk, skipped=desk / "back" / "skipped.csv")
    assert len(found.skipped) == 3 and len(found.answers.missing) == 0
    assert found.answers.error == pytest.approx([0.5, 0.1, 0.01 / 0.82, 0.5])
    plan = crowdopt.solve(desk / "answers" / "campaign")
    asked = {(plan.instance.task_id(i), plan.instance.worker_id(j)) for i, j in plan.pairs.tolist()}
    assert asked == {("a", "west"), ("d", "west")}


def test_only_the_table_says_that_a_label_will_not_come(desk):
    """Labels that have not come are awaited; of a pair that stands in both tables the label counts."""
    pulled(desk, sample("a", north="C", south=None))
    awaited = answered(desk)
    known = answered(desk, skipped=desk / "back" / "skipped.csv", force=True)
    assert len(awaited.answers.missing) == len(known.answers.missing) + 1
    assert len(awaited.skipped) == 0 and len(known.skipped) == 1
    assert "south" in (desk / "answers" / "campaign" / "forbidden.csv").read_text(encoding="utf-8")
    later = answered(desk, skipped=write_table(desk / "skipped.csv", "task,worker", "a,north"), force=True)
    assert len(later.skipped) == 0 and later.answers.labels[0] == 1


@pytest.mark.parametrize(
    ("votes", "wanted"),
    [
        ([("C", 1.0), (math.nan, 3.0)], "C"),
        ([(None, 3.0), ("I", 1.0)], "I"),
        ([(math.nan, 1.0), (None, 1.0)], None),
        ([], None),
        ([("C", 0.1), ("C", 0.2), ("I", 0.3)], None),
        ([("I", 2.0), ("C", 2.0)], None),
        ([("C", 2.0), ("I", 2.0), ("I", 0.1)], "I"),
    ],
)
def test_the_vote_of_those_who_answer(votes, wanted):
    """NaN and null weigh nothing; sums that are equal up to rounding are a tie, which the order does not break."""
    assert winner(votes) == wanted and winner(votes[::-1]) == wanted


@asynccontextmanager
async def span(name, *, type):
    """A span of Inspect's log, in which nothing is logged."""
    yield


def test_the_panel_keeps_who_did_not_answer(monkeypatch):
    """With as much of Inspect as it uses: null in the log, in words who it was, NaN where no grader answered."""

    class Score(SimpleNamespace):
        value, explanation, metadata = None, None, None

    def decorated(**_):
        return lambda make: make

    scorer = SimpleNamespace(Score=Score, scorer=decorated, score_reducer=decorated)
    for name, module in (("", None), (".scorer", scorer), (".util", SimpleNamespace(span=span))):
        monkeypatch.setitem(sys.modules, f"inspect_ai{name}", module or ModuleType("inspect_ai"))
    monkeypatch.setattr(inspect_panel, "weights", lambda: {"a": {"north": 2.0, "south": 1.0}})

    def grader(value):
        async def score(state, target):
            return None if value is None else Score(value=value)

        return score

    def scored(**values):
        panel = inspect_panel.panel({name: grader(value) for name, value in values.items()})
        return asyncio.run(panel(SimpleNamespace(sample_id="a"), None))

    score = scored(north=math.nan, south="I")
    assert score.value == "I" and score.explanation == "1 of 2 graders answered; no answer: north"
    assert {name: one["value"] for name, one in score.metadata[KEY].items()} == {"north": None, "south": "I"}
    score = scored(north=None, south=math.nan)
    assert math.isnan(score.value) and list(score.metadata[KEY]) == ["north", "south"]
    reduce = inspect_panel.weighted_vote(["north", "south"])
    assert reduce([Score(value=math.nan), Score(value="I")]).value == "I"
    assert math.isnan(reduce([Score(value=math.nan), Score(value=math.nan)]).value)
