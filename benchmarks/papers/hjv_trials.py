"""One trial of Ho, Jabbari & Vaughan 2013, Section 6: every policy on the same crowd, for every epsilon.

1000 tasks, 300 workers who take 200 tasks each, a preliminary crowd of 90 of the same kind, the paper's epsilon' =
epsilon. KOS gets as many labels as the Main Algorithm took, gold included, and besides that a grid of fixed totals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt import recipe, solve_program
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.online.arrivals import Stream
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of, realised_error

TASKS, WORKERS, CAPACITY, GAMMA = 1000, 300, 200, 0.3
EPSILONS = (0.45, 0.35, 0.25, 0.15, 0.1, 0.03, 0.01)
TOTALS = (10_000, 20_000, 30_000, 40_000, 50_000, 60_000)
ITERATIONS = 20
MAIN, KOS, MAJORITY = "main algorithm (printed)", "KOS, equal labels", "majority, equal labels"
OURS = {  # further curves; {s} is the number of gold tasks
    "main algorithm that stops": "main-algorithm:gold={s}:stop:ties=least-covered",
    "re-solve, gold": "re-solve:gold={s}:every=10:overshoot=0:cap=1e9",
    "multiplicative weights, gold": "multiplicative-weights:gold={s}",
    "entropy, gold": "entropy:gold={s}",
}
METHODS = (MAIN, KOS, MAJORITY, *OURS)


def crowd(kind: str, workers: int, seed: int) -> AssignmentInstance:
    """Workers of one of the paper's kinds; capacity 200 whatever their number."""
    drawn = recipe(f"{kind}:{TASKS}x{workers}", seed)
    return replace(drawn, capacity=np.full(workers, CAPACITY))


def stream(kind: str, epsilon: float, seed: int) -> Stream:
    """The trial's crowd under one error target; order, labels and preliminary crowd do not depend on it."""
    instance = crowd(kind, WORKERS, seed).with_epsilon(epsilon)

    def draw(rng: np.random.Generator, count: int) -> AssignmentInstance:
        return crowd(kind, count, int(rng.integers(2**31))).with_epsilon(epsilon)

    return simulated_stream(instance, (seed,), round(GAMMA * WORKERS), draw)


def trial(kind: str, gold: int, seed: int) -> dict[str, Any]:
    """Labels and realised error of every method at every epsilon, and of KOS at every fixed total."""
    found: dict[str, Any] = {name: {"labels": [], "error": []} for name in METHODS}
    for epsilon in EPSILONS:
        of = stream(kind, epsilon, seed)
        total = _played(of, f"main-algorithm:gold={gold}:gamma={GAMMA}", seed, found[MAIN])
        for name, inference in ((KOS, "kos"), (MAJORITY, "majority")):
            text = f"kos:labels={total}:iterations={ITERATIONS}:inference={inference}"
            _played(of, text, seed, found[name])
        for name, text in OURS.items():
            _played(of, text.format(s=gold), seed, found[name])
    fixed: dict[str, Any] = {"labels": [], "error": []}
    for total in TOTALS:
        _played(stream(kind, 0.1, seed), f"kos:labels={total}:iterations={ITERATIONS}", seed, fixed)
    return {**found, "fixed": fixed}


def message_passing(kind: str, total: int, iterations: list[int], seed: int) -> dict[str, Any]:
    """Errors of KOS on one random regular assignment, by its number of iterations, and of the majority there."""
    found: dict[str, Any] = {"labels": [], "error": []}
    of = stream(kind, 0.1, seed)
    for rounds in iterations:
        _played(of, f"kos:labels={total}:iterations={rounds}", seed, found)
    _played(of, f"kos:labels={total}:inference=majority", seed, found)
    return found


def _played(of: Stream, text: str, seed: int, into: dict[str, list[float]]) -> int:
    run = replay(named(text), of, seed, solve_program)
    into["labels"].append(run.total_labels)
    into["error"].append(realised_error(run, answers_of(run)))
    return run.total_labels
