"""A run held against the truth and against the best set: regret, reward, cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.label_kinds import REPEAT, TESTER, WORK
from crowdopt.labelers.asking import GUESS, AskingRecord
from crowdopt.labelers.judging import BySkill, ByTable, judge
from crowdopt.labelers.task_arrivals import KINDS

POINTS = 100  # of the curves that a row keeps


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """Utilities of a run, tasks 1 to T."""

    run: AskingRecord
    utility: Floats  # (T,): U(S_t); 1/L where the answer was a guess
    # U(S*) and C(S*) of simple majorities, and U of the best weighted vote
    best: Floats  # (T,)
    best_cost: Floats  # (T,)
    best_weighted: Floats  # (T,)
    final: Floats  # (T,): utility of the sets that the policy would ask in the end


def judged(run: AskingRecord) -> JudgedRun:
    """Work out every utility; each set is looked at once."""
    stream, by = run.stream, judge(run.stream)
    utility = np.full(stream.horizon + 1, 1 / stream.labelers.classes)
    order = np.argsort(run.place, kind="stable")
    cuts = np.searchsorted(run.place[order], np.arange(len(run.sets) + 1))
    for k, ask in enumerate(run.sets):
        tasks = order[cuts[k] : cuts[k + 1]]
        if tasks.size:
            utility[tasks] = by.utility(tasks, ask)
    best, cost = by.best(weighted=False)
    heavy, _ = by.best(weighted=True)
    return JudgedRun(run, utility[1:], best[1:], cost[1:], heavy[1:], _final(run, by)[1:])


def _final(run: AskingRecord, by: BySkill | ByTable) -> Floats:
    """What the policy would ask about the tasks of this stream, now that it has learnt."""
    stream, policy = run.stream, run.policy
    utility = np.empty(stream.horizon + 1)
    last = run.sets[run.place[run.place != GUESS][-1]] if (run.place != GUESS).any() else None
    same = stream.labelers.kinds != 0
    values, place = np.unique(stream.context, return_inverse=True) if same else (stream.context, None)
    for k in range(len(values)):
        tasks = np.flatnonzero(place == k) if place is not None else np.array([k])
        arrival = stream.arrival(int(tasks[0]), policy.shows_skill)
        ask = policy.chosen(arrival) or last
        utility[tasks] = by.utility(tasks, ask) if ask else 1 / stream.labelers.classes
    return utility


def score(played: JudgedRun) -> dict[str, Any]:
    """One row: every figure by its definition; plain numbers, None where absent.

    ``reward`` is the mean of U(S_t) over all tasks, exploration in; ``reward_exploiting`` over those that were neither
    testers nor lost to a repeat; ``right`` the share of answers that are; regret is against the best simple majority,
    ``regret_weighted`` against the best weighted vote, ``cost_regret`` against what the best majority costs.
    """
    run, stream = played.run, played.run.stream
    kind, known = run.kind[1:], stream.truth[1:] >= 0
    exploiting = kind == KINDS.index(WORK)
    size = [ask.workers.size for ask in run.sets]
    last = int(run.place[run.place != GUESS][-1]) if (run.place != GUESS).any() else None
    return {
        "policy": run.policy.name,
        "reward": _mean(played.utility),
        "reward_exploiting": _mean(played.utility[exploiting]),
        "right": _mean((run.answer[1:] == stream.truth[1:])[known].astype(np.float64)),
        "right_exploiting": _mean((run.answer[1:] == stream.truth[1:])[known & exploiting].astype(np.float64)),
        "final_accuracy": _mean(played.final),
        "best_majority": _mean(played.best),
        "best_weighted": _mean(played.best_weighted),
        "regret": float(np.nansum(played.best - played.utility)),
        "regret_weighted": float(np.nansum(played.best_weighted - played.utility)),
        "cost": float(run.cost[1:].sum()),
        "cost_regret": float((run.cost[1:] - played.best_cost).sum()),
        "labels": int(run.labels[1:].sum()),
        "testers": int((kind == KINDS.index(TESTER)).sum()),
        "repeats": int((kind == KINDS.index(REPEAT)).sum()),
        "last_set": None if last is None else size[last],
        "notes": run.notes,
    }


def _mean(values: Floats) -> float | None:
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else None


def checkpoints(horizon: int) -> Ints:
    """Steps at which curves are kept, (points,), ascending: about POINTS of them, evenly, the last one the horizon."""
    return np.unique(np.linspace(1, horizon, min(POINTS, horizon)).astype(np.int64))


def curves(played: JudgedRun) -> dict[str, list[float]]:
    """Cumulated regret, cost regret and reward at the checkpoints."""
    run, at = played.run, checkpoints(played.run.stream.horizon) - 1
    known = np.nan_to_num(played.best - played.utility)
    return {
        "t": (at + 1).tolist(),
        "regret": np.cumsum(known)[at].tolist(),
        "regret_weighted": np.cumsum(np.nan_to_num(played.best_weighted - played.utility))[at].tolist(),
        "cost_regret": np.cumsum(run.cost[1:] - played.best_cost)[at].tolist(),
        "reward": np.cumsum(np.nan_to_num(played.utility))[at].tolist(),
    }
