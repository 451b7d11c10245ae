"""What a set is worth: its utility for every task of a stream, by true skill or by a table's known truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.label_kinds import WORK
from crowdopt.crowd.votes.voting import log_odds
from crowdopt.labelers.priced_sets import EXTREME
from crowdopt.labelers.sets import SAME, best_set, plurality_accuracy, ranked, set_accuracy, weighted_accuracy
from crowdopt.labelers.task_arrivals import Ask, TaskStream
from crowdopt.labelers.vote_counts import tallied_votes

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
        each: Floats = self._accuracy(skill[kinds][:, ask.workers], ask)[back.reshape(-1)]
        return each

    def best(self, weighted: bool) -> tuple[Floats, Floats]:
        """Best top-m set, or all with log-odds weights."""
        skill, place = self._contexts
        people = self.stream.labelers
        if weighted:
            p = np.clip(skill, EXTREME, 1 - EXTREME)
            odds = log_odds(p, people.classes)
            rows = range(len(p)) if people.classes > 2 else ()
            value = np.array([plurality_accuracy(p[k], odds[k], people.classes) for k in rows])
            value = value if people.classes > 2 else weighted_accuracy(p, odds)
            return value[place], np.full(place.size, people.cost.sum())
        chosen = [best_set(row, people.classes) for row in skill]
        cost = np.array([people.cost[choice.members].sum() for choice in chosen])
        return np.array([choice.accuracy for choice in chosen])[place], cost[place]

    def _accuracy(self, skill: Floats, ask: Ask) -> Floats:
        classes = self.stream.labelers.classes
        if ask.weight is None:
            return set_accuracy(skill, classes)
        if classes == 2:
            return weighted_accuracy(skill, ask.weight, ask.tolerance)
        return np.array([plurality_accuracy(row, ask.weight, classes) for row in skill])


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
                odds = log_odds(np.clip(skill, EXTREME, 1 - EXTREME), people.classes)
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
            order = ranked(skill)
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
