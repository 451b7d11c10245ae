"""A run held against the truth and against the offline optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.answers import FROM_LABELS
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import NONE, clipped
from crowdopt.crowd.rules import log_odds
from crowdopt.crowd.vote_errors import CERTAIN, most_errors, vote_errors
from crowdopt.online.arrivals import KINDS, Run
from crowdopt.online.crowds import ANSWERS, Breached

CELLS = 8_192  # of the lattice of votes with more than two dozen different labels; what it may add is reported


@dataclass(frozen=True)
class Optimum:
    """The offline optimum of the same instance: the best bound that multipliers prove, the LP, the best plan found.

    All of the linear rule that policies go by; absent where there is no plan. Where the rule stated is a checked one,
    its own optimum stands beside: no bound of the linear rule holds for it.
    """

    bound: float | None
    lp: float | None
    found: float | None
    proof: str = "none"
    rule: str = ""  # that these are of
    promise: str = ""  # the rule stated, where it is another one
    promise_bound: float | None = None  # proven by multipliers
    promise_found: float | None = None
    implied: bool = True  # whether the rule that policies go by implies the promise


def score(run: Run, optimum: Optimum, possible: float | None = None) -> dict[str, Any]:
    """One row of a comparison: labels and cost by kind, ratios, shortfall, errors; plain numbers, None where absent.

    possible: the least expected cost of any policy at the mean error target (crowdopt.online.limits).
    """
    instance, stated = run.stream.instance, run.stream.promised or run.stream.instance
    lack = np.maximum(0.0, instance.need - run.covered)
    short = lack > COVERAGE
    wanted = instance.need > COVERAGE
    share = np.divide(lack, instance.need, out=np.zeros_like(lack), where=wanted)
    answers = answers_of(run)
    exact, width = exact_error(run)
    claimed = claimed_error(run)
    return {
        "policy": run.policy,
        **{f"labels_{kind}": run.labels[kind] for kind in KINDS},
        "labels": run.total_labels,
        **{f"cost_{kind}": run.cost[kind] for kind in KINDS},
        "cost": run.total_cost,
        "ratio_bound": _ratio(run.total_cost, optimum.bound),
        **_by_promise(run, optimum, wanted),
        "ratio_lp": _ratio(run.total_cost, optimum.lp),
        "ratio_work_lp": _ratio(run.cost["work"] + run.cost["repair"], optimum.lp),
        "ratio_possible": _ratio(run.total_cost, possible),
        "short_share": float(short[wanted].mean()) if wanted.any() else 0.0,
        "short_mean": float(share[wanted].mean()) if wanted.any() else 0.0,
        "error_bound": _mean(stated.error_bound(run.covered), wanted),
        "error_exact": _mean(exact, wanted),
        "error_exact_width": _mean(width, wanted),
        "error_claimed": _mean(claimed, wanted),
        "unfinished": _mean(None if claimed is None else claimed > run.stream.epsilon + COVERAGE, wanted),
        "error_realised": realised_error(run, answers),
        "refused": run.refused,
        "over_capacity": run.over_capacity,
        "notes": run.notes,
    }


def _by_promise(run: Run, optimum: Optimum, wanted: NDArray[np.bool_]) -> dict[str, float | None]:
    # Missed is a task whose best vote over the labels that came errs above its target by the true skills, exactly.
    promised = run.stream.promised
    if promised is None:
        return {}
    error = most_errors(promised, np.unique(np.column_stack([run.task, run.worker]), axis=0))
    missed = error > promised.epsilon + CERTAIN
    return {
        "ratio_promise": _ratio(run.total_cost, optimum.promise_bound),
        "missed_share": _mean(missed, wanted),
    }


def _ratio(cost: float, base: float | None) -> float | None:
    return None if base is None or not 0 < base < np.inf else cost / base


def _mean(values: NDArray[Any] | None, wanted: NDArray[np.bool_]) -> float | None:
    return None if values is None or not wanted.any() else float(values[wanted].mean())


def weighted_vote(task: Ints, label: Ints, weight: Floats, tasks: int, classes: int = 2) -> Ints:
    """``argmax_k sum of the weights of the labels that say k``, one answer per task.

    With two classes this is ``sign(sum w l)``. Ties go to the smallest class.

    task, label (k,): task and class of each label; weight (k,): its weight; a negative one speaks against its class;
    tasks, classes: how many of each; -> (tasks,): class of each task; -1 without labels.
    """
    votes = np.bincount(task * classes + label, weights=weight, minlength=tasks * classes)
    answers = votes.reshape(tasks, classes).argmax(axis=1)
    return np.where(np.bincount(task, minlength=tasks) > 0, answers, -1)


def answers_of(run: Run) -> Ints:
    """The answers, (tasks,), that a run's labels lead to by the policy's own combining; -1 without labels."""
    instance = run.stream.instance
    if run.how == "own":
        assert run.decided is not None
        return run.decided
    if run.how == "weighted":
        weights = instance.the_rule.weight(run.skills, instance.classes)
        each = weights[instance.task_type[run.task], run.worker]
        return weighted_vote(run.task, run.label, each, instance.n_tasks, instance.classes)
    labels = Labels(
        run.task,
        run.worker,
        run.label,
        tuple(map(str, range(instance.n_tasks))),
        tuple(map(str, range(instance.n_workers))),
        tuple(map(str, range(instance.classes))),
    )
    options: dict[str, Any] = {}
    if run.how == "kos":
        rng = np.random.default_rng([run.seed, ANSWERS])
        options = {"iterations": run.iterations or 20, "start": rng.normal(1.0, 1.0, run.task.size)}
    return FROM_LABELS[run.how](labels, **options).answer


def realised_error(run: Run, answers: Ints) -> float | None:
    """Share of wrong answers, (tasks,), where the truth is known; -1 is a fair guess; None where no truth is known."""
    instance, truth = run.stream.instance, run.stream.truth
    judged = (truth >= 0) & (instance.need > COVERAGE)
    if not judged.any():
        return None
    wrong = np.where(answers < 0, 1 - 1 / instance.classes, answers != truth)
    return float(wrong[judged].mean())


def claimed_error(run: Run) -> Floats | None:
    """Each task's chance of a wrong answer as the policy believes, given the labels that came, (tasks,)."""
    # Its own claims where it makes any; else the posterior by the skills it believes in, for a weighted vote between
    # equally likely classes, wrong answers uniform, tasks as often hard as is stated. None where neither is there.
    instance, promised = run.stream.instance, run.stream.promised
    if run.claims is not None or run.how != "weighted":
        return run.claims
    shape, answer = (instance.n_tasks, instance.classes), answers_of(run)
    if promised is not None and promised.difficulty.share:
        believed = replace(promised, accuracy=clipped(run.skills), prior=np.full(2, 0.5))
        chance = believed.posterior(np.column_stack([run.task, run.worker]), run.label)
        mine: Floats = np.take_along_axis(chance, np.maximum(answer, 0)[:, None], axis=1)[:, 0]
        return np.where(answer >= 0, 1 - mine, 0.5)
    weight = log_odds(run.skills[instance.task_type[run.task], run.worker], instance.classes)
    each = np.bincount(run.task * shape[1] + run.label, weight, shape[0] * shape[1])
    votes = each.astype(np.float64).reshape(shape)  # of no labels at all, bincount makes integers
    others = votes - np.take_along_axis(votes, np.maximum(answer, 0)[:, None], axis=1)
    np.put_along_axis(others, np.maximum(answer, 0)[:, None], -np.inf, axis=1)
    error: Floats = 1 / (1 + np.exp(-np.clip(np.logaddexp.reduce(others, axis=1), -700, 700)))
    return np.where(answer >= 0, error, 1 - 1 / instance.classes)


def exact_error(run: Run) -> tuple[Floats | None, Floats | None]:
    """Each task's probability of a wrong answer given who labelled it, by true skills and the policy's own weights.

    Over easy and hard tasks together, where the campaign has hard ones.

    None for more than two classes, where a vote by weights that are believed and not true has no short law; where
    answers are no weighted vote with weights of their own; and for a crowd that breaks the model.

    -> error, width (tasks,) float, or None: the error lies in ``[error - width, error]``
    (crowdopt.crowd.vote_errors.vote_errors).
    """
    instance = run.stream.instance
    if instance.classes != 2 or run.how not in ("weighted", "majority"):
        return None, None
    if isinstance(run.stream.crowd, Breached):
        return None, None
    order = np.argsort(run.task, kind="stable")
    task, worker = run.task[order], run.worker[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(task, minlength=instance.n_tasks))])
    kind = instance.task_type[task]
    accuracy = clipped(instance.accuracy[kind, worker])
    weight = np.ones(task.size)
    if run.how == "weighted":
        weight = instance.the_rule.weight(run.skills, 2)[kind, worker]
    fair, even = np.full(instance.n_tasks, 0.5), np.zeros(instance.n_tasks)
    easy = vote_errors(starts, accuracy, weight, fair, even, CELLS)
    difficulty = NONE if run.stream.promised is None else run.stream.promised.difficulty
    if not difficulty.share:
        return easy
    hard = vote_errors(starts, difficulty.on_hard(accuracy), weight, fair, even, CELLS)
    return difficulty.mixed(easy[0], hard[0]), difficulty.mixed(easy[1], hard[1])
