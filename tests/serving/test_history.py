"""What a history proves and gives: decisions made anew, another policy held against it, a campaign for the verbs."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt.cli import main
from crowdopt.verbs.live import check_history, export_history, held_against
from tests.serving.people import People, gold_table, in_turn, looked, small


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A campaign in which all was asked and an expert looked, and its store."""
    folder = tmp_path_factory.mktemp("history")
    instance, stream = small()
    store = folder / "campaign.db"
    live = crowdopt.live(instance, policy="adaptive:gold=3", store=store, gold=gold_table(2))
    in_turn(live, People(stream))
    looked(live, stream.truth)
    return instance, store, live


def test_every_decision_is_made_anew(worked):
    """The counts are those of the campaign itself."""
    instance, store, live = worked
    found = check_history(instance, store, gold_table(2))
    assert found.labels == len(live.labels()) and found.paid == live.progress()["paid"]
    assert found.decisions == sum(event.kind == "decided" for event in live.events()) > 20


def test_the_same_policy_held_against_its_own_history_finds_every_label(worked):
    """What it asks for is there, and the answers are its own; another one misses some."""
    instance, store, live = worked
    same = held_against(instance, store, "adaptive:gold=3", gold_table(2))
    assert same.missing == 0 and same.labels <= len(live.labels()) and same.answers > 0
    other = held_against(instance, store, "least-covered", gold_table(2))
    assert other.missing > 0 and other.same_answers <= other.answers


def test_the_export_is_a_campaign_with_its_labels_in(worked, tmp_path):
    """Gold is no part of it; capacities are what workers have left; solve plans what is missing."""
    instance, store, live = worked
    export_history(instance, store, tmp_path / "out", gold=gold_table(2))
    left = crowdopt.read_campaign(tmp_path / "out" / "campaign")
    work = [row for row in live.labels() if not row.gold]
    assert len(left.collected) == len(work) and (left.capacity <= instance.capacity).all()
    assert left.capacity.sum() == instance.capacity.sum() - len(work)
    rows = (tmp_path / "out" / "labels.csv").read_text("utf-8").splitlines()
    assert rows == ["task,worker,label", *(f"{row.task},{row.worker},{row.label}" for row in work)]
    rows = (tmp_path / "out" / "looks.csv").read_text("utf-8").splitlines()
    assert rows == ["task,label", *(f"{row.task},{row.label}" for row in live.looks())] and len(rows) > 1


def test_what_is_no_history_is_a_sentence(worked, tmp_path):
    """No store, another campaign's, or one that is empty."""
    instance, store, _ = worked
    with pytest.raises(crowdopt.InputError, match="there is no store"):
        check_history(instance, tmp_path / "no.db")
    with pytest.raises(crowdopt.InputError, match="another campaign"):
        check_history(small(1)[0], store)


def test_the_verb_replays_and_exports(tmp_path, monkeypatch):
    """On a campaign's folder, as the guide has it; a missing store is exit status 2."""
    monkeypatch.chdir(tmp_path)
    crowdopt.init("birds")
    live = crowdopt.live("birds", policy="greedy", store="campaign.db")
    for worker in ("ada", "bo"):
        for _ in range(3):
            live.tell(live.ask(worker), live.class_names[0])
    runner = CliRunner()
    done = runner.invoke(main, ["live", "replay", "birds", "--policy", "least-covered", "--json"])
    assert done.exit_code == 0 and json.loads(done.output)["history"]["labels"] == 6, done.output
    done = runner.invoke(main, ["live", "export", "birds", "-o", "out"])
    assert done.exit_code == 0 and "6 labels" in done.output
    assert crowdopt.solve(crowdopt.read_campaign("out/campaign")).found
