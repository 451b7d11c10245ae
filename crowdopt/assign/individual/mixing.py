"""Plans from the sets that pricing met: a master mixes them, few tasks stay mixed, and those are rounded and mended."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sets_met import PAD, SetsMet
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, BY_SIZE, Options, Solve
from crowdopt.programs import own_sets

DEAR = 20.0  # what a label too many costs, times the dearest label
WHOLE = 1e-6  # a share this close to a whole set is one


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares ``share`` (S,) of the sets, the master's prices and its value."""

    sets: SetsMet
    share: Floats
    prices: Prices
    value: float


class Mixer:
    """The master over sets: its rows, its solves."""

    def __init__(self, solve: Solve, options: Options) -> None:
        self.solve, self.options = solve, options

    def mix(self, sets: SetsMet, clock: Clock) -> Mixture | None:
        """The cheapest mixture of sets; tasks with a single one just take it. None where no solver finds it in time."""
        program, kept, paid = self._program(sets, whole=False)
        if program is None:
            return Mixture(sets, np.ones(sets.task.size), Prices(np.zeros(sets.tasks.room.size)), paid)
        solution = self.solve(program, BY_SIZE, clock.within(self.options, None))
        if solution.primal is None or solution.dual is None:
            return None
        share = np.ones(sets.task.size)
        share[kept] = program.column("set").view(solution.primal)
        worker = program.row("worker").view(solution.dual)
        worker = np.where(sets.tasks.least > 0, worker, np.minimum(worker, 0.0))
        budget = min(0.0, float(program.row("budget").view(solution.dual)[0]))
        value = paid + float((program.cost * solution.primal).sum())
        return Mixture(sets, share, Prices(np.ascontiguousarray(worker), budget), value)

    def choose(self, sets: SetsMet, seconds: float) -> Floats | None:
        """One set for each task by branch and bound, as shares of 0 and 1; None where none is found in time."""
        program, kept, _ = self._program(sets, whole=True)
        if program is None:
            return np.ones(sets.task.size)
        solution = self.solve(program, BRANCHING, replace(self.options, time_limit=seconds, start=None))
        if solution.primal is None:
            return None
        share = np.ones(sets.task.size)
        share[kept] = np.rint(program.column("set").view(solution.primal))
        return share

    def _program(self, sets: SetsMet, whole: bool) -> tuple[Program | None, Ints, float]:
        """The master of the tasks with several sets, beside those with one."""
        tasks, m = sets.tasks, sets.tasks.room.size
        many = np.bincount(sets.task, minlength=tasks.size)
        single = many[sets.task] == 1
        alone, kept = sets.workers[single], np.flatnonzero(~single)
        load = np.bincount(alone[alone != PAD].astype(np.int64), minlength=m)
        paid = float(SetsMet(tasks, sets.task[single], alone).costs().sum())
        if not kept.size:
            return None, kept, paid
        number = np.cumsum(many > 1) - 1
        money = np.inf if tasks.budget is None else tasks.budget - paid
        known = sets.known(kept, number)
        dear = DEAR * float(tasks.arrays.cost.max() + 1e-3)
        room, least = (tasks.room - load).astype(float), (tasks.least - load).astype(float)
        return own_sets.of_sets(known, room, least, money, dear, whole), kept, paid


def dealt_of(sets: SetsMet, share: Floats, prices: Prices, width: int) -> Served:
    """Each task with the set that it has the largest share of: workers may have too many.

    sets: sorted by task; share (sets,): how much of its task each set has in the master; width: most labels of a task
    that are stored.
    """
    tasks, m = sets.tasks, sets.tasks.room.size
    order = np.lexsort((-share, sets.task))
    pick = order[np.flatnonzero(np.diff(sets.task[order], prepend=-1))]
    task, workers = sets.task[pick], sets.workers[pick]
    dealt = Served.none(tasks, prices, width, sets.workers.dtype)
    inside = workers != PAD
    dealt.held[task] = inside.sum(axis=1)
    dealt.hands[task] = np.where(inside, workers, 0)  # sorted descending: the padding is behind
    dealt.left -= np.bincount(workers[inside].astype(np.int64), minlength=m)
    return dealt
