"""The panel that follows an adaptive plan: it asks whom the plan asks, and a grader who is silent has no vote."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdopt
from crowdopt import Adaptive
from crowdopt.io.bridges.inspect_panel import class_of, follow, next_move
from tests.io import write_table

ITEMS = 90
JUDGES = ("large", "medium", "small", "tiny")


def pushed(place: Path, rounds: int | None = None, expert: float | None = None) -> tuple[Any, dict[str, Any]]:
    """A campaign of four judges, two of them alike, its adaptive plan, and what is handed to Inspect."""
    skill = [[0.94, 0.88, 0.7, 0.7], [0.97, 0.9, 0.8, 0.8]]
    instance = crowdopt.AssignmentInstance(
        skill, np.arange(ITEMS) % 2, [ITEMS // 3, ITEMS, ITEMS, ITEMS], 0.06, cost=[3.0, 1.0, 0.3, 0.3],
        workers=list(JUDGES), class_names=["bad", "good"], rule="exact-error",
    )  # fmt: skip
    crowdopt.write_campaign(instance, place / "judges")
    plan = crowdopt.solve(place / "judges", method=Adaptive(rounds=rounds, expert=expert), output=place / "plan")
    crowdopt.push(place / "judges", place / "plan", tool="inspect", output=place / "panel")
    return plan, json.loads((place / "panel" / "policy.json").read_text(encoding="utf-8"))


def went(policy: dict[str, Any], sample: str, says: dict[str, Any]):
    """The sample followed, and the graders of each round."""
    rounds: list[list[str]] = []

    async def ask(names: list[str]) -> list[Any]:
        rounds.append(names)
        return [says[name] for name in names]

    return asyncio.run(follow(policy, sample, ask)), rounds


@pytest.mark.parametrize(("rounds", "expert"), [(None, None), (2, None), (None, 8.0)])
def test_each_sample_goes_a_way_of_the_plan(tmp_path, rounds, expert):
    """Every round is one that the plan gives a share to after these votes, and so is the end."""
    plan, policy = pushed(tmp_path, rounds, expert)
    chance, kinds = np.random.default_rng(0), plan.askers.kind
    classes = {name: k for k, name in enumerate(("bad", "good"))}
    asker = {judge: g for g, some in enumerate(plan.askers.workers) for judge in np.array(JUDGES)[some]}
    for i, sample in enumerate(plan.instance.task_ids):
        says = {name: ("bad", "good")[int(chance.random() < 0.6)] for name in JUDGES}
        done, asked = went(policy, sample, says)
        votes: dict[tuple[int, int], int] = {}
        for over, what in enumerate([*asked, None]):
            state = tuple((g, k, n) for (g, k), n in sorted(votes.items()))
            level = over if rounds else 0
            rows = [row for row in plan.rows if (row.kind, row.round, row.votes) == (kinds[i], level, state)]
            if what is None:
                ends = {(row.action, row.what) for row in rows}
                assert (done.end, () if done.answer is None else (classes[done.answer],)) in ends
                break
            counted = tuple(sum(asker[name] == g for name in what) for g in range(len(plan.askers.names)))
            assert ("ask", counted) in {(row.action, row.what) for row in rows}
            for name in what:
                key = asker[name], classes[says[name]]
                votes[key] = votes.get(key, 0) + 1
        prices = dict(zip(JUDGES, (3.0, 1.0, 0.3, 0.3), strict=True))
        assert done.spent == pytest.approx(sum(prices[name] for names in asked for name in names))


def test_lots_keep_the_shares_of_a_mixed_move(tmp_path):
    """Of the samples of a kind, as many take each first move as its share says, but for two."""
    plan, policy = pushed(tmp_path)
    for kind, name in enumerate(plan.askers.kinds):
        mine = [sample for sample, of in policy["kinds"].items() if of == name]
        moves = [next_move(policy, sample, {}, 0) for sample in mine]
        for row in (row for row in plan.rows if row.kind == kind and not row.votes):
            what = {plan.askers.names[g]: n for g, n in enumerate(row.what) if n}
            assert abs(sum(move["ask"] == what for move in moves) - row.share * len(mine)) <= 2


@pytest.mark.parametrize("said", [None, float("nan"), "I am a language model", 3])
def test_a_judge_who_says_no_class_abstains(tmp_path, said):
    """It has no vote, is paid, and one like it is asked; without one the sample is left to the next plan."""
    _, policy = pushed(tmp_path)
    for sample in list(policy["kinds"])[:20]:
        done, asked = went(policy, sample, dict.fromkeys(JUDGES, said))
        names = [name for one in asked for name in one]
        assert not done.votes and done.answer is None and done.end == "next plan"
        assert len(set(names)) == len(names) == done.facts["calls"] and set(done.said.values()) == {None}
    assert class_of(1.0, ["0", "1"]) == "1" and class_of(True, ["false", "true"]) == "true"


def test_votes_that_are_in_are_where_a_sample_stands(tmp_path):
    """A second round of labels goes on from the first one's, and asks no grader twice."""
    plan, _ = pushed(tmp_path, rounds=3)
    assert plan.pairs is not None
    given = [(plan.instance.task_id(i), JUDGES[j], "good") for i, j in plan.pairs.tolist()]
    write_table(tmp_path / "labels.csv", "task,worker,label", *map(",".join, given))
    first = {"plan": tmp_path / "plan", "campaign": tmp_path / "judges"}
    crowdopt.aggregate(tmp_path / "labels.csv", **first, output=tmp_path / "in")
    onward = tmp_path / "in" / "campaign"
    second = crowdopt.solve(onward, method=Adaptive(rounds=2), output=tmp_path / "second")
    assert second.pairs is not None and len(second.pairs)
    crowdopt.push(onward, tmp_path / "second", tool="inspect", output=tmp_path / "next")
    after = json.loads((tmp_path / "next" / "policy.json").read_text(encoding="utf-8"))
    assert {(task, judge, "good") for task, one in after["votes"].items() for judge in one} == set(given)
    for sample in after["kinds"]:
        done, asked = went(after, sample, dict.fromkeys(JUDGES, "bad"))
        assert not {name for names in asked for name in names} & set(after["votes"].get(sample, {}))
        assert done.rounds <= 2 and done.end != "ask"
