"""Sets of labels that a master asks for: columns under limits of groups, and a plan by fixing whole numbers of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.grouped.grouped_knapsack import GroupedTask, cheapest_set
from crowdopt.core.clock import Clock
from crowdopt.core.master import MakeMaster, Master
from crowdopt.core.program import Program
from crowdopt.crowd.classes import Classes
from crowdopt.programs import group_sets
from crowdopt.programs.group_sets import MasterRows

BEHIND = 0.5  # of the step from the prices asked last to the master's: stabilised prices need fewer rounds
NEAR = 1e-4  # relative gap between master and bound at which no better sets are looked for
WHOLE = 1e-6  # noise in a number of tasks
PATIENCE, STALE = 6, 5e-4  # rounds after which the master has to have fallen by so much of its value
NEARBY, STEP = 1.3, 0.02  # times the first prices, and of a label's price more: how far prices may go at first
FRESH = 1  # rounds of new sets between two fixings
SHARE = 0.2  # of the tasks left, at least so many get their sets at a fixing


@dataclass(eq=False)
class SetGeneration:
    """A master that grows by sets.

    Parameters
    ----------
    classes : Classes
    tasks : list of GroupedTask
        One of each class of tasks.
    rows : MasterRows
        What they share.
    bound : float
        What every plan costs at least.
    """

    classes: Classes
    tasks: list[GroupedTask]
    rows: MasterRows
    bound: float
    make_master: MakeMaster
    clock: Clock
    kind: list[int] = field(default_factory=list)
    count: list[Ints] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)

    def plan(self, prices: Floats) -> list[tuple[int, Ints]] | None:
        """A set for each task: its class and labels; None where no such plan was found.

        Parameters
        ----------
        prices : (rows,) float
            Multipliers of the shared rows to begin with.

        Returns
        -------
        list of (int, (G,) array), or None
        """
        for level in (1.0, 0.8, 1.2, 0.0):
            self._priced(level * prices, self.tasks)
        if len(set(self.kind)) < len(self.tasks):
            return None
        near = NEARBY * np.abs(prices) + STEP * float(self.classes.cost.mean())
        prices = self._grow(self.make_master(self._program(near)), prices, self.clock.part(0.35))
        master = self.make_master(self._program(None))
        prices = self._grow(master, prices, self.clock.part(0.25))
        return self._dive(master, prices)

    def _program(self, slack: Floats | None) -> Program:
        """The master of the sets so far; multipliers within a box around the first prices, or free."""
        count, cost = np.array(self.count), self._costs(0)
        dear = 10 * max(1.0, float(cost.max()))
        slack = np.full(self.rows.lower.size, dear) if slack is None else slack
        tasks_in = self.classes.tasks_in.astype(np.float64)
        return group_sets.of_sets(self.rows, tasks_in, np.array(self.kind), count, cost, dear, slack)

    def _costs(self, start: int) -> Floats:
        return np.array([self.classes.cost[k] @ a for k, a in zip(self.kind[start:], self.count[start:], strict=True)])

    def _priced(self, prices: Floats, tasks: list[GroupedTask], room: Floats | None = None) -> bool:
        """Add the cheapest set of each task at these prices; whether any is new."""
        start = len(self.kind)
        for k, task in enumerate(tasks):
            if task.need < 0:
                continue
            found = cheapest_set(task, self.classes.cost[k] - prices @ self.rows.weight)
            if found is not None:
                key = (k, found[1].tobytes())
                if key not in self.known and (room is None or (found[1] <= room).all()):
                    self.known.add(key)
                    self.kind.append(k)
                    self.count.append(found[1])
        return len(self.kind) > start

    def _grow(self, master: Master, prices: Floats, clock: Clock) -> Floats:
        """Add sets until none is wanted, the master is near the bound, or time is over; the last prices."""
        asked, kinds, values = prices, len(self.tasks), []
        while not clock.over:
            point = master.solve(max(0.1, self.clock.left))
            if point is None:
                break
            true = point.dual[kinds:]
            values.append(point.value)
            stale = len(values) > PATIENCE and values[-PATIENCE] - point.value <= STALE * abs(point.value)
            if stale or point.value <= self.bound + NEAR * abs(self.bound):
                return true
            asked = asked + BEHIND * (true - asked)
            start = len(self.kind)
            if not self._priced(asked, self.tasks):
                asked = true
                if not self._priced(true, self.tasks):
                    return true
            self._append(master, start)
            prices = true
        return prices

    def _append(self, master: Master, start: int) -> None:
        kind, count = np.array(self.kind[start:]), np.array(self.count[start:])
        master.add_columns(self._costs(start), group_sets.columns(self.rows, len(self.tasks), kind, count))

    def _dive(self, master: Master, prices: Floats) -> list[tuple[int, Ints]] | None:
        """Give whole numbers of tasks their sets, solve for the others, and so on."""
        kinds = len(self.tasks)
        left = self.classes.tasks_in.astype(np.int64).copy()
        lower, upper = self.rows.lower.copy(), self.rows.upper.copy()
        chosen: list[tuple[int, Ints]] = []
        extra = kinds + 2 * lower.size
        while left.any():
            point = master.solve(max(0.1, self.clock.left))
            if point is None or self.clock.over:
                return None
            amount = point.primal[extra:]
            whole = np.floor(amount + WHOLE).astype(np.int64)
            rest = amount - whole
            wanted = max(1, int(SHARE * left.sum()) - int(whole.sum()))
            nearly = np.argsort(-rest, kind="stable")[: wanted + rest.size // 10]
            nearly = nearly[rest[nearly] > WHOLE][:wanted]
            fixed = 0
            for s, number in [*((s, int(whole[s])) for s in np.flatnonzero(whole)), *((s, 1) for s in nearly)]:
                use, kind = self.rows.weight @ self.count[s], self.kind[s]
                for _ in range(min(number, int(left[kind]))):
                    if ((use > WHOLE) & (use > upper + WHOLE)).any():
                        break
                    left[kind] -= 1
                    lower, upper = lower - use, upper - use
                    chosen.append((kind, self.count[s]))
                    fixed += 1
            if not fixed and not self._last_resort(left, lower, upper, chosen, point.dual[kinds:]):
                return None
            master.set_rows(
                np.concatenate([left.astype(np.float64), lower]), np.concatenate([np.full(kinds, np.inf), upper])
            )
            for _ in range(FRESH if left.any() else 0):
                point = master.solve(max(0.1, self.clock.left))
                if point is None or self.clock.over:
                    break
                start = len(self.kind)
                if not self._priced(point.dual[kinds:], self._within(left, upper)):
                    break
                self._append(master, start)
        return chosen

    def _within(self, left: Ints, upper: Floats) -> list[GroupedTask]:
        """The tasks with those workers only who have room; a need below 0 where none of a class is left."""
        room = np.maximum(0, upper[: self.classes.capacity.size] + WHOLE).astype(np.int64)
        return [
            GroupedTask(
                task.evidence,
                np.minimum(task.copies, room),
                task.group,
                task.fewest,
                task.most,
                task.need if count else -1.0,
            )
            for task, count in zip(self.tasks, left.tolist(), strict=True)
        ]

    def _last_resort(
        self, left: Ints, lower: Floats, upper: Floats, chosen: list[tuple[int, Ints]], prices: Floats
    ) -> bool:
        """One task more by its cheapest set among workers with room; False where none has such a set."""
        for k, task in enumerate(self._within(left, upper)):
            found = None if task.need < 0 else cheapest_set(task, self.classes.cost[k] - prices @ self.rows.weight)
            if found is not None:
                use = self.rows.weight @ found[1]
                left[k] -= 1
                lower -= use
                upper -= use
                chosen.append((k, found[1]))
                return True
        return False
