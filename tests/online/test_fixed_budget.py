"""A fixed budget: never exceeded, spent where it helps, better for looking at answers."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, solve
from crowdopt.errors import InputError
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policy import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of, realised_error


def pool(seed: int, tasks: int = 90, workers: int = 90, **options) -> AssignmentInstance:
    """10 % experts (.9), 30 % of accuracy .75, 60 % of .6, a third of the tasks each."""
    skill = np.random.default_rng([seed, 5]).choice([0.9, 0.75, 0.6], workers, p=[0.1, 0.3, 0.6])
    return AssignmentInstance(skill[None], np.zeros(tasks, np.int64), np.full(workers, tasks // 3), 0.1, **options)


def error(text: str, seed: int) -> float:
    run = replay(named(text), simulated_stream(pool(seed), (seed,)), seed, solve)
    return realised_error(run, answers_of(run))


@pytest.mark.slow
def test_looking_at_answers_pays():
    """Five labels a task, known skills, in the mean of 25 crowds: adaptive beats static beats anybody's majority."""
    adaptive, static, majority = (
        np.mean([error(text, seed) for seed in range(25)])
        for text in ("budget", "budget:adaptive=no", "kos:labels=450:inference=majority")
    )
    assert adaptive < 0.02 < static < 0.07 < 0.15 < majority
    assert adaptive < 0.5 * static


@pytest.mark.parametrize("options", [":each=2", ":each=4:gold=2", ":money=150", ":money=150:gold=2", ":each=0"])
def test_the_budget_is_kept(options):
    """Labels, or money, gold included; and all but a little of it is used where labels are told to be useful."""
    policy = named(f"budget{options}")
    for seed in range(4):
        cost = np.random.default_rng(seed).integers(1, 4, 90).astype(float)
        run = replay(policy, simulated_stream(pool(seed, cost=cost), (seed,)), seed, solve)
        spent, limit = (run.total_cost, policy.money) if policy.money else (run.total_labels, policy.each * 90)
        assert spent <= limit + 1e-9
        assert policy.gold or spent >= 0.85 * limit


def test_claims_are_the_posterior():
    """With known skills the claimed error is the true one, in the mean."""
    found = []
    for seed in range(30):
        run = replay(named("budget:each=3"), simulated_stream(pool(seed), (seed,)), seed, solve)
        found.append((run.claims.mean(), realised_error(run, answers_of(run))))
    claimed, true = np.array(found).T
    assert abs((claimed - true).mean()) < 3 * (claimed - true).std() / np.sqrt(30)


def test_more_classes():
    """Doubts add up over pairs of classes."""
    instance = AssignmentInstance([[0.8] * 30], np.zeros(60, np.int64), np.full(30, 20), 0.1, classes=4)
    errors = [
        realised_error(run, answers_of(run))
        for each in (1, 5)
        for run in [replay(named(f"budget:each={each}"), simulated_stream(instance, (1,)), 1, solve)]
    ]
    assert errors[1] < 0.05 < errors[0] < 0.4


def test_senseless_options_are_refused():
    for text in ("budget:each=-1", "budget:money=-3", "budget:ties=rotating"):
        with pytest.raises(InputError):
            named(text)
