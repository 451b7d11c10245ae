"""One random instance for each of Ho, Jabbari & Vaughan's Theorems 1 to 4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import crowdopt
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import HOEFFDING
from crowdopt.crowd.vote_errors import vote_errors
from crowdopt.online import theorems
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.programs import approximated

TIES = 50  # random ways to break ties
TIE = 1e-7


def trial(seed: int) -> dict[str, Any]:
    """What each theorem promises and what happens; None where the instance is infeasible."""
    rng = np.random.default_rng(seed)
    return {"theorem_1": theorem_1(rng), "theorem_2": theorem_2(rng, seed), "theorem_3": theorem_3(rng)}


def theorem_1(rng: np.random.Generator) -> dict[str, Any] | None:
    """The Primal Approximation Algorithm with exact weights, every tie broken at random."""
    n, m = int(rng.integers(2, 9)), int(rng.integers(5, 14))
    evidence, binds = rng.uniform(0.05, 1, (n, m)), bool(rng.random() < 0.5)
    need, capacity = float(rng.uniform(0.5, 2)), max(1, n // 2) if binds else n
    instance = AssignmentInstance(
        accuracy=(1 + np.sqrt(evidence)) / 2,
        task_type=np.arange(n),
        capacity=np.full(m, capacity),
        epsilon=0.4,
        demand=need / HOEFFDING.need(np.array(0.4), 2),
        rule="hoeffding",
    )
    linear, whole = crowdopt.solve(instance, program="lp"), crowdopt.solve(instance, gap=0.0)
    if not linear.found or not whole.found:
        return None
    value = evidence * linear.duals.task[:, None] - 1
    short, labels = True, []
    for _ in range(TIES):
        plan = _taken(value, capacity, rng)
        labels.append(int(plan.sum()))
        short &= bool(((evidence * plan).sum(axis=1) < need - 1e-6).any())
    return {"binds": binds, "short": short, "excess": max(labels) - whole.objective, "m": m, "n": n}


def _taken(value: np.ndarray, capacity: int, rng: np.random.Generator) -> np.ndarray:
    """Each worker's tasks of value at least 0, highest first, ties at random, at most ``capacity``."""
    rank = np.argsort(np.argsort(-np.round(value / TIE) * TIE + TIE / 10 * rng.random(value.shape), axis=0), axis=0)
    return (value >= -TIE) & (rank < capacity)


def theorem_2(rng: np.random.Generator, seed: int) -> dict[str, Any]:
    """Prices from as many preliminary workers as come later; C = 400."""
    n, m, epsilon = 4, 1000, float(np.exp(-200.0))

    def crowd(generator: np.random.Generator, count: int) -> AssignmentInstance:
        skill = generator.uniform(0.8, 0.97, (n, count))
        return AssignmentInstance(skill, np.arange(n), np.full(count, n), epsilon, rule="hoeffding")

    stream = simulated_stream(crowd(rng, m), (seed,), m, crowd)
    run = replay(named("sampled-lp:gamma=1"), stream, seed, crowdopt.solve_program)
    one = run.stream.instance
    bought = np.bincount(run.task, weights=one.evidence[run.task, run.worker], minlength=n)
    return {
        "labels": run.total_labels,
        "lp": crowdopt.solve(one, program="lp").objective,
        "short": float((bought < one.need - 1e-6).mean()),
        "promised": theorems.theorem_2(n, m, epsilon, 0.1, 1.0, 0.36).labels_ratio,
    }


def theorem_3(rng: np.random.Generator) -> dict[str, Any] | None:
    """Skills known within t: the approximated LP's optimum, and Theorem 4's bound on the worst task's exact error."""
    accuracy = rng.uniform(0.6, 0.95, (2, 30))
    one = AssignmentInstance(accuracy, np.arange(20) % 2, 15, 0.2, rule="hoeffding")
    true = crowdopt.solve(one, program="lp")
    if not true.found:
        return None
    least = float((true.evidence / true.task_labels).min())
    t = float(rng.uniform(0, 0.2)) * least / 4
    guess = replace(one, accuracy=np.clip(accuracy + rng.uniform(-t, t, accuracy.shape), 0, 1))
    loose = approximated.transform(guess, t, least)
    plan, relaxed = crowdopt.solve(loose, time_limit=10, gap=0.0), crowdopt.solve(loose, program="lp")
    logs = []
    for task in range(one.n_tasks if plan.found else 0):
        workers = plan.pairs[plan.pairs[:, 0] == task, 1]
        kind = one.task_type[task]
        quality = float(one.evidence[kind, workers].mean())
        bound = theorems.error_after(0.2, t, least, quality)
        labels, weight = np.array([0, workers.size]), 2 * guess.accuracy[kind, workers] - 1
        error = vote_errors(labels, accuracy[kind, workers], weight, np.array([0.5]), np.zeros(1))[0][0]
        logs.append(float(np.log10(max(error, 1e-300) / bound)))
    return {
        "no dearer": bool(relaxed.objective <= true.objective + 1e-6),
        "saving": 1 - relaxed.objective / true.objective,
        "errors": max(logs) if logs else None,
        "kept": all(value <= 1e-9 for value in logs),
    }
