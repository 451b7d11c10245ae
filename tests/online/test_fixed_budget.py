"""A fixed budget: never exceeded, spent where it helps, better for looking at answers."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, solve_program
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of, realised_error
from tests.chance import fewest, mean_is_at_most, seeds


def pool(seed: int, tasks: int = 90, workers: int = 90, **options) -> AssignmentInstance:
    """10 % experts (.9), 30 % of accuracy .75, 60 % of .6, a third of the tasks each."""
    skill = np.random.default_rng([seed, 5]).choice([0.9, 0.75, 0.6], workers, p=[0.1, 0.3, 0.6])
    return AssignmentInstance(skill[None], np.zeros(tasks, np.int64), np.full(workers, tasks // 3), 0.1, **options)


def error(text: str, seed: int) -> float:
    run = replay(named(text), simulated_stream(pool(seed), (seed,)), seed, solve_program)
    return realised_error(run, answers_of(run))


@pytest.mark.chance
@pytest.mark.slow
def test_looking_at_answers_pays():
    """Five labels a task, known skills: adaptive errs with .02 at most on average, static with .05.

    Crowds are independent: in six of ten or more adaptive makes fewer errors than static, in nine of ten static half of
    anybody's majority (of 40 in 75 and 97 of 100; on average .012, .034 and .204 are wrong).
    """
    adaptive, static, majority = (
        np.array([error(text, seed) for seed in seeds(60)])
        for text in ("budget", "budget:adaptive=no", "kos:labels=450:inference=majority")
    )
    assert mean_is_at_most(adaptive, 0.02) and mean_is_at_most(static, 0.05)
    assert (adaptive < static).sum() >= fewest(60, 0.6)
    assert (static < 0.5 * majority).sum() >= fewest(60, 0.9)


@pytest.mark.chance
@pytest.mark.parametrize("options", [":each=2", ":money=150:gold=2", ":each=0"])
def test_the_budget_is_kept(options):
    """Labels, or money, gold included; and 85 of 100 are used where labels are told to be useful.

    Crowds are independent: so much is used in nine of ten or more.
    """
    policy, used = named(f"budget{options}"), 0
    for seed in seeds(7):
        cost = np.random.default_rng(seed).integers(1, 4, 90).astype(float)
        run = replay(policy, simulated_stream(pool(seed, cost=cost), (seed,)), seed, solve_program)
        spent, limit = (run.total_cost, policy.money) if policy.money else (run.total_labels, policy.each * 90)
        assert spent <= limit + 1e-9
        used += policy.gold > 0 or spent >= 0.85 * limit
    assert used >= fewest(7, 0.9)
