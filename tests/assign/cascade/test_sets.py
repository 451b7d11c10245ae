"""Sets asked at once, each of which keeps its task's target: whole tasks, against a program over sets written apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import Adaptive, AssignmentInstance, InputError, solve, verify
from crowdopt.assign.cascade.cheapest_policy import cheapest_policy
from crowdopt.core.solution import Options
from crowdopt.verbs.binding import SOLVERS
from tests.assign.cascade.panels import drawn, least_of_sets, set_error
from tests.recheck.forged import Forged, made
from tests.sampled import first_of

TERMS = Adaptive(rounds=1, each_task=True)


def of_each(one: AssignmentInstance) -> AssignmentInstance:
    """With a target for each task."""
    return replace(one, rule="exact-error") if one.confusion is None else one


def sets_of(plan) -> list[tuple[int, ...]]:
    """The workers that the first round asks about each task."""
    return [tuple(plan.pairs[plan.pairs[:, 0] == i, 1].tolist()) for i in range(plan.instance.n_tasks)]


@pytest.mark.parametrize("seed", first_of(range(30), 10))
def test_it_is_the_least_of_all_sets_and_each_task_keeps_its_target(seed):
    """By any law, with priors and money; out of reach: the least multiple of the targets."""
    one = of_each(drawn(seed))
    plan, least = solve(one, TERMS), least_of_sets(one)
    if plan.objective is None:
        assert not np.isfinite(least_of_sets(one, 0.5 / one.epsilon[0]))
        return
    report = verify(one, plan)
    assert report.holds and report.each_task and report.proven == plan.proven, report.problems
    for i, judges in enumerate(sets_of(plan)):
        assert set_error(one, int(one.task_type[i]), judges) <= plan.times * one.epsilon[0] * (1 + 1e-8)
    assert np.isfinite(least) == plan.found
    assert plan.objective == pytest.approx(least_of_sets(one, plan.times * (1 + 1e-9)), rel=1e-7, abs=1e-7)
    assert plan.bound <= plan.objective * (1 + 1e-9) + 1e-9
    if not plan.found:
        assert not np.isfinite(least_of_sets(one, 1 + 0.999 * (plan.times - 1)))


@pytest.mark.parametrize("seed", range(4))
def test_tasks_that_have_labels_get_sets_that_keep_the_target_given_these(seed):
    """Sets by where a task stands, whatever the labels say; the least multiple of the target where none does."""
    rng, one = np.random.default_rng(seed), drawn(seed, judges=4)
    one = of_each(replace(one, epsilon=np.asarray(0.2), budget=None, max_labels=None, capacity=[one.n_tasks] * 4))
    had = [{int(j): int(rng.integers(one.classes)) for j in rng.permutation(4)[: i % 3]} for i in range(one.n_tasks)]
    pairs, said = zip(*(((i, j), label) for i, some in enumerate(had) for j, label in some.items()), strict=True)
    here = replace(one, collected=pairs)
    plan = cheapest_policy(here, np.array(said), SOLVERS, Options(time_limit=60), rounds=1, each_task=True)
    for i, judges in enumerate(sets_of(plan)):
        error = set_error(one, int(one.task_type[i]), judges, had[i])
        assert not set(judges) & set(had[i]) and error <= plan.times * 0.2 * (1 + 1e-8)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_plan_of_another_promise_does_not_keep_this_one(rounds, tmp_path):
    """Of the mean, or of two rounds; what is no truth value is refused."""
    one = AssignmentInstance([[0.9, 0.85, 0.8, 0.7]], [0] * 20, [12, 20, 20, 20], 0.1, cost=[3.0, 1.0, 0.4, 0.2])
    forged = Forged(made(tmp_path, one, solve(one, method=Adaptive(rounds=rounds))), tmp_path / "forged")
    problem = "not whole" if rounds == 1 else "one round"
    assert any(problem in said for said in forged.says(each_task=True).problems())
    with pytest.raises(InputError, match="each_task"):
        forged.says(each_task=1).report()
