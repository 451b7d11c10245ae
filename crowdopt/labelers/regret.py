"""A run held against the truth and against the best set: what sets are worth, regret, reward, cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import REPEAT, TESTER, WORK
from crowdopt.crowd.law import clipped
from crowdopt.crowd.rules import log_odds
from crowdopt.labelers.arrivals import KINDS, Ask, TaskStream
from crowdopt.labelers.asking import GUESS, AskingRecord, tallied_votes
from crowdopt.labelers.sets import SAME, best_set, plurality_accuracies, set_accuracy, weighted_accuracy

POINTS = 100  # of the curves that a row keeps


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """Utilities of a run, tasks 1 to T."""

    run: AskingRecord
    # (T,): U(S_t), ties half, of testers too, for which the paper has a_min, a strict majority: less for even M; 1/L
    # where the answer was a guess
    utility: Floats
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


EVERY_SET = 12  # labelers up to which a table's best set is looked for among all sets; beyond, among top-m sets


@dataclass(frozen=True, eq=False)
class BySkill:
    """Simulated labels: U(S) follows from the true skills for the task's context, exactly."""

    stream: TaskStream

    @cached_property
    def _contexts(self) -> tuple[Floats, Ints]:
        values, place = np.unique(self.stream.context, return_inverse=True)
        return self.stream.labelers.skill(values), place.reshape(-1)

    def utility(self, tasks: Ints, ask: Ask) -> Floats:
        """By context; each is worked out once."""
        skill, place = self._contexts
        kinds, back = np.unique(place[tasks], return_inverse=True)
        return self._accuracy(skill[kinds][:, ask.workers], ask)[back.reshape(-1)]

    def best(self, weighted: bool) -> tuple[Floats, Floats]:
        """Best top-m set, or all with log-odds weights."""
        skill, place = self._contexts
        people = self.stream.labelers
        if weighted:
            value = _weighted(clipped(skill), log_odds(skill, people.classes), people.classes)
            return value[place], np.full(place.size, people.cost.sum())
        chosen = [best_set(row, people.classes) for row in skill]
        cost = np.array([people.cost[members].sum() for members, _ in chosen])
        return np.array([accuracy for _, accuracy in chosen])[place], cost[place]

    def _accuracy(self, skill: Floats, ask: Ask) -> Floats:
        classes = self.stream.labelers.classes
        if ask.weight is None:
            return set_accuracy(skill, classes)
        return _weighted(skill, ask.weight, classes, ask.tolerance)


def _weighted(skill: Floats, weight: Floats, classes: int, tolerance: float = 0.0) -> Floats:
    """U of weighted votes, (votes,); more than two classes know no tolerance."""
    if classes == 2:
        return weighted_accuracy(skill, weight, tolerance)
    rows = zip(skill, np.broadcast_to(weight, skill.shape), strict=True)
    return np.array([plurality_accuracies(p, w, classes)[-1] for p, w in rows])


@dataclass(frozen=True, eq=False)
class ByTable:
    """Recorded labels: U(S) is the share of the arriving tasks of known truth that the vote gets right, by kind."""

    stream: TaskStream

    @cached_property
    def _groups(self) -> list[Ints]:
        known = np.flatnonzero(self.stream.truth[1:] >= 0) + 1
        context = self.stream.context[known]
        return [known[context == kind] for kind in range(int(self.stream.context.max()) + 1)]

    def utility(self, tasks: Ints, ask: Ask) -> Floats:
        """Share of right answers among the tasks of each one's kind, (tasks,); NaN where no truth is known."""
        each = np.array([self._share(group, ask) for group in self._groups])
        return each[self.stream.context[tasks].astype(np.int64)]

    def best(self, weighted: bool) -> tuple[Floats, Floats]:
        """The best of all sets in hindsight; with weights, all labelers by their tallied skills."""
        context, people = self.stream.context.astype(np.int64), self.stream.labelers
        none = np.zeros(0, np.int64)
        value, cost = np.empty(len(self._groups)), np.empty(len(self._groups))
        for kind, group in enumerate(self._groups):
            skill = people.accuracy[kind]
            if weighted:
                odds = log_odds(skill, people.classes)
                value[kind] = self._share(group, Ask(WORK, none, np.arange(people.count), odds))
                cost[kind] = people.cost.sum()
            else:
                shares = [self._share(group, Ask(WORK, none, members)) for members in self._candidates(skill)]
                best = int(np.flatnonzero(np.array(shares) >= np.max(shares) - SAME)[0]) if group.size else 0
                value[kind] = shares[best]
                cost[kind] = people.cost[self._candidates(skill)[best]].sum()
        return value[context], cost[context]

    def _candidates(self, skill: Floats) -> list[Ints]:
        count = skill.size
        if count > EVERY_SET:
            order = np.argsort(-skill, kind="stable")
            return [np.sort(order[:size]) for size in range(1, count + 1)]
        return [np.array(one, np.int64) for size in range(1, count + 1) for one in combinations(range(count), size)]

    def _share(self, group: Ints, ask: Ask) -> float:
        if group.size == 0:
            return float("nan")
        score = tallied_votes(self.stream.label[group][:, ask.workers], ask.weight, self.stream.labelers.classes)
        top = score >= score.max(axis=1, keepdims=True) - SAME - ask.tolerance
        return float((top[np.arange(group.size), self.stream.truth[group]] / top.sum(axis=1)).mean())


def judge(stream: TaskStream) -> BySkill | ByTable:
    """Who judges a stream's sets."""
    return ByTable(stream) if stream.recorded else BySkill(stream)
