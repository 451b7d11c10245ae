"""What the form ``sets`` proves: the least set of each task within its limits, against all sets there are."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, verify
from crowdopt.crowd import group_limits
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.crowd.stated.groups import Group
from crowdopt.recheck.bounds import limited_sets
from crowdopt.recheck.bounds.limited_sets import prove_sets
from tests.recheck.written_limits import drawn_groups, drawn_lines, drawn_rows, read, summed_by_all_sets, written_plan

NEAR = 1e-7


@st.composite
def limited(draw: st.DrawFn):
    """Up to three tasks and seven workers, with all limits of one task; whether the groups are apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, m, apart = int(rng.integers(1, 4)), int(rng.integers(2, 8)), draw(st.booleans())
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])
    cut = np.sort(rng.integers(0, 4, 3))
    mine = rng.integers(0, 3, m) if apart else None
    groups = drawn_groups(rng, mine, m, 2)
    fewest = np.minimum(m, rng.integers(0, 3, n))
    most = np.maximum(fewest, m - rng.integers(0, 6, n)) + np.bincount(pairs[: cut[2], 0], minlength=n)
    instance = AssignmentInstance(
        rng.choice([0.5, 0.55, 0.7, 0.8, 0.9, 0.97, 0.2], (n, m)),
        capacity=np.full(m, n),
        epsilon=rng.choice([0.05, 0.2, 0.3, 0.45], n),
        rule=draw(st.sampled_from(["hoeffding", "bhattacharyya"])),
        cost=rng.integers(0, 5, (n, m)) * 0.25,
        forbidden=pairs[: cut[0]],
        collected=pairs[cut[0] : cut[1]],
        fixed=pairs[cut[1] : cut[2]],
        min_labels=fewest,
        max_labels=np.where(rng.random(n) < 0.5, UNLIMITED, most),
        min_load=rng.integers(0, 2, m),
        budget=float(rng.integers(1, 9)) if draw(st.booleans()) else None,
        groups=groups,
        own_rows=drawn_rows(rng, n, m),
    )
    scale = draw(st.sampled_from([0.1, 1.0, 1000.0]))
    lines = drawn_lines(rng, instance, scale)
    return instance, scale * rng.normal(size=m), -abs(float(rng.normal())), lines


def by_all_sets(instance, worker, budget, lines):
    """The same sum with every task's sets tried one by one, and all groups heeded; and the size of its terms."""

    def covers(i, chosen):
        return sum(instance.evidence[instance.task_type[i], j] for j in chosen) >= instance.floor[i]

    return summed_by_all_sets(instance, worker, budget, lines, covers)


@given(limited())
def test_the_bound_is_the_least_of_all_sets(drawn):
    """It is that sum up to 1e-7 of its terms, groups apart or not; where overlaps are left out, never more."""
    instance, worker, budget, lines = drawn
    joint = read(instance, lines)
    proven = prove_sets(instance, worker, budget, joint)
    right, size = by_all_sets(instance, worker, budget, lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_limits, "WAYS", 0)
        assert prove_sets(instance, worker, budget, joint) <= proven
    if np.isposinf(right):
        assert proven == np.inf
        return
    assert proven <= right + 1e-12 * size
    assert proven >= right - NEAR * max(1.0, size)


@st.composite
def alike(draw: st.DrawFn):
    """Tasks of one type with different needs that bar different workers, of whom some are equal; groups are apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, m = int(rng.integers(3, 9)), int(rng.integers(3, 8))
    instance = AssignmentInstance(
        rng.choice([0.6, 0.7, 0.8, 0.9], (1, m)),
        task_type=np.zeros(n, np.int64),
        capacity=np.full(m, n),
        epsilon=rng.choice([0.1, 0.2, 0.3, 0.45], n),
        rule="bhattacharyya",
        cost=rng.integers(1, 4, m) * 0.5,
        forbidden=np.argwhere(rng.random((n, m)) < 0.3),
        min_labels=np.full(n, rng.integers(0, 3)),
        max_labels=np.full(n, rng.integers(3, m + 1)),
        groups=drawn_groups(rng, rng.integers(0, 3, m), m, 2),
    )
    return instance, rng.choice([-0.5, 0.0, 0.25, 0.75], m)


@given(alike())
def test_tasks_alike_but_for_needs_and_whom_they_bar_have_their_own_least_sets(drawn):
    """Sets found for one task and used for others prove neither more nor less than each task's own."""
    instance, worker = drawn
    proven = prove_sets(instance, worker, 0.0, read(instance, []))
    right, size = by_all_sets(instance, worker, 0.0, [])
    if np.isposinf(right):
        assert proven == np.inf
        return
    assert right - NEAR * max(1.0, size) <= proven <= right + 1e-12 * size


def test_few_searches_do_for_tasks_that_bar_few_of_many(monkeypatch):
    """300 tasks, each of which bars three of 40 workers, all unequal or of three kinds: a third as many sets do."""
    rng, searched, least = np.random.default_rng(0), [], limited_sets._least
    monkeypatch.setattr(limited_sets, "_least", lambda *given: searched.append(1) or least(*given))
    for accuracy in (rng.uniform(0.6, 0.9, 40), rng.choice([0.6, 0.75, 0.9], 40)):
        pairs = np.array([(i, j) for i in range(300) for j in rng.choice(40, 3, replace=False)])
        limits = {"max_labels": np.full(300, 20), "rule": "bhattacharyya", "forbidden": pairs}
        instance = AssignmentInstance(accuracy[None], np.zeros(300, np.int64), np.full(40, 300), 0.2, **limits)
        prove_sets(instance, np.zeros(40), 0.0, read(instance, []))
        assert len(searched) <= 100
        searched.clear()


def hand_made(tmp_path, claimed):
    """One task, three workers: the two best are of a group that may give one label only, so the third is needed."""
    instance = AssignmentInstance(
        np.array([[0.9, 0.9, 0.9]]),
        capacity=np.ones(3, np.int64),
        epsilon=0.4,
        cost=np.array([1.25, 1.25, 5.25]),
        min_labels=np.array([2]),
        groups=[Group("near", (0, 1), max_per_task=1)],
    )
    return written_plan(tmp_path, instance, [0, 2], claimed)


def test_a_plan_certified_by_sets_holds(tmp_path):
    """No multiplier at all: the limits within the set alone prove 6.5, what the plan costs."""
    campaign, folder = hand_made(tmp_path, 6.5)
    report = verify(campaign, folder)
    assert report.holds, report.problems
    assert json.loads((folder / "plan.json").read_text(encoding="utf-8"))["certified_by"] == "sets"


def test_a_claim_above_what_sets_prove_is_refused(tmp_path):
    """A bound above 6.5 is refused, and 6.5 itself under a form that does not know the group's limit."""
    campaign, folder = hand_made(tmp_path, 6.5)
    path = folder / "plan.json"
    claims = json.loads(path.read_text(encoding="utf-8"))
    for forged in ({"certified_bound": 6.501}, {"certified_by": "blocks"}):
        path.write_text(json.dumps(claims | forged), encoding="utf-8")
        assert any("certified_bound" in problem for problem in verify(campaign, folder).problems)


@pytest.mark.parametrize("seed", range(4))
def test_few_partial_sets_are_enough_for_many_labels(seed, monkeypatch):
    """800 labels of unequal prices: the least set is found with a small part of the room that is there.

    Evidence is in whole units here, so a table over units has the least set exactly.
    """
    rng, labels, need = np.random.default_rng(seed), 800, 2000
    units = rng.integers(200, 700, labels)
    cost = units / 700 + np.abs(rng.normal(0, 0.05, labels))
    best = np.full(need + 1, np.inf)
    best[0] = 0.0
    for unit, price in zip(units.tolist(), cost.tolist(), strict=True):
        took = np.concatenate([np.full(min(unit, need + 1), best[0]), best])[: need + 1]
        best = np.minimum(best, took + price)
    monkeypatch.setattr(limited_sets, "STATES", 1_000)
    anybody, none, no_most = np.zeros(labels, np.int64), np.zeros(2, np.int64), np.full(2, -1)
    value, _, _ = limited_sets._least(cost, units / 700, need / 700, anybody, none, no_most)
    assert value == pytest.approx(best[need], rel=1e-7)
