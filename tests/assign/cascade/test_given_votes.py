"""Limits given the votes: the cheapest plan each of whose answers keeps its target, whatever votes came."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, assign, verify
from tests.assign.cascade.small_panels import EXPERT, drawn, joint, least_by_histories, limited
from tests.sampled import first_of


def largest_error(plan) -> float:
    """Of all answers of the plan, given their votes, over the target."""
    one, found = plan.instance, 0.0
    for row in plan.rows:
        if row.action == "answer":
            votes = [-1] * one.n_workers
            for asker, label, _ in row.votes:
                votes[int(plan.askers.workers[asker][0])] = label
            kind = int(one.task_type[plan.askers.kind == row.kind][0])
            law = joint(one, kind, tuple(votes))
            found = max(found, float(1 - law[row.what[0]] / law.sum()) / float(one.epsilon[0]))
    return found


def of_least_cost(one: AssignmentInstance, expert: float | None, least: partial[float]) -> None:
    """The plan costs the least; where none keeps the targets its errors are the least multiple of them."""
    plan = assign(one, adaptive=True, expert=expert, given_votes=True)
    if plan.objective is None:
        assert not np.isfinite(least(times=1 / one.epsilon[0]))
        return
    report = verify(one, plan)
    assert report.holds and report.given_votes, report.problems
    assert largest_error(plan) <= plan.times * (1 + 1e-8)
    if np.isfinite(least()):
        assert plan.proven and report.proven and plan.objective == pytest.approx(least(), rel=1e-7, abs=1e-7)
        return
    assert not plan.found and not np.isfinite(least(times=1 + 0.999 * (plan.times - 1)))
    assert least(times=plan.times * (1 + 1e-6)) <= plan.objective * (1 + 1e-6)
    assert assign(one, adaptive=True, expert=expert, given_votes=True, strict=True).bound == np.inf


@pytest.mark.parametrize("seed", first_of(range(50), 12))
def test_it_is_the_least_of_all_policies(seed):
    """By a program over histories."""
    one, expert = drawn(seed), EXPERT if seed % 3 == 0 else None
    of_least_cost(one, expert, partial(least_by_histories, one, expert, given_votes=True))


@pytest.mark.parametrize("seed", first_of(range(40), 6))
def test_labels_that_must_be_had_beside(seed):
    """Fixed pairs, fewest labels, own rows: a task that may not stop yet goes where it can."""
    one, expert = limited(seed), EXPERT if seed % 3 == 0 else None
    of_least_cost(one, expert, partial(least_by_histories, one, expert, given_votes=True))


@pytest.mark.parametrize("seed", range(3))
def test_it_costs_no_less_than_the_promise_before_votes_and_rounds_are_ordered(seed):
    """What keeps each answer keeps the mean; one round is fixed sets."""
    one = replace(drawn(seed, judges=3), budget=None)
    free = assign(one, adaptive=True, expert=EXPERT)
    costs = []
    for rounds in (1, 2, 3, None):
        plan = assign(one, adaptive=True, rounds=rounds, expert=EXPERT, given_votes=True)
        report = verify(one, plan)
        assert plan.proven and report.proven and largest_error(plan) <= 1 + 1e-8, report.problems
        costs.append(plan.objective)
    assert costs == pytest.approx(sorted(costs, reverse=True)) and costs[2] == pytest.approx(costs[3])
    assert free.objective <= costs[-1] * (1 + 1e-9)


def test_votes_of_workers_alike_stop_where_their_lead_is_wide_enough():
    """Equal skills: a lead of k votes errs with 1 / (1 + (p / q)^k), so tasks end at the first lead that is enough.

    With odds 3 of a right label and a target of .05 that is 3 votes (1/28), where 2 leave 1/10. Labels are Wald's walk.
    """
    one = AssignmentInstance(np.full((1, 15), 0.75), [0] * 10, [10] * 15, 0.05)
    plan = assign(one, adaptive=True, given_votes=True, expert=50.0)
    assert plan.proven and verify(one, plan).proven
    for row in plan.rows:
        counts = {label: number for _, label, number in row.votes}
        lead = abs(counts.get(0, 0) - counts.get(1, 0))
        assert (row.action == "answer") == (lead == 3)
    assert plan.errors[0] < 1 / 28 + 1e-9
    endless = 3 * (1 - 2 / 28) / (2 * 0.75 - 1)  # Wald: expected lead over drift
    assert plan.calls / 10 == pytest.approx(endless, rel=0.02)


def test_where_it_says_nothing_it_is_refused():
    """Fixed sets promise no error given votes, and neither do orders of many workers who differ."""
    with pytest.raises(InputError, match="belong to an adaptive plan"):
        assign(drawn(0), given_votes=True)
    many = AssignmentInstance(np.random.default_rng(0).uniform(0.6, 0.9, (1, 30)), [0] * 9, [9] * 30, 0.1)
    with pytest.raises(InputError, match="plan with fewer judges"):
        assign(many, adaptive=True, given_votes=True)
