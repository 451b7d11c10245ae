"""Levels in the service of a search: when they pay, what their prices prove, the plans they lead to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from crowdopt.assign.engine.prepared import problem_of
from crowdopt.assign.engine.set_engine import raise_bound
from crowdopt.assign.engine.set_prices import sweep
from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.search import Search
from crowdopt.assign.exact.split import Split
from crowdopt.assign.levels.cut import Levels
from crowdopt.assign.levels.filling import fill, hands
from crowdopt.assign.levels.level_blocks import Enough, LevelBlocks, Set, Values
from crowdopt.assign.standing import Standing
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import UNLIMITED

GROUPS = 1_500  # classes of workers up to which a master with a row for each of them keeps its pace
CELLS = 15_000  # task classes x worker classes up to which the master keeps its pace; the engine does better beyond
FEW = 6.0  # labels per task up to which the last label of a task weighs enough
COUNT = 30  # levels for each class of tasks, to begin with
REFINEMENTS = 20  # of the levels
ROUNDS, ROUGH, NEAR = 400, 1e-3, 1e-4  # of column generation; relative gap of the master at which it ends, early on
GAINED = 0.9  # of the sets that rest on rounding: with fewer than this left, cutting goes on
MANY, HONEST = 0.5, 0.1  # of the tasks whose sets may rest on rounding where plans are drawn from levels
SHARE = 0.7  # of the time left, at most: where levels do not get there, plans are aimed at
FINISHING = (4, 4_000)  # work per task and at most, in pairs looked at


def pay(search: Search) -> bool:
    """Whether there are too many workers for a master with a row each in its sets, and few labels for a task."""
    classes = search.classes
    kinds, groups = classes.evidence.shape
    if search.duals is None or groups <= GROUPS or kinds * groups > CELLS:
        return False
    limited = (classes.fewest > 0).any() or (classes.most < UNLIMITED).any() or (classes.min_load > 0).any()
    special = (classes.least > 0).any() or (classes.room < classes.workers_in).any()
    if limited or special or classes.instance.budget is not None:
        return False
    return bool((classes.need > 0).all()) and classes.cardinality @ classes.tasks_in <= FEW * classes.tasks_in.sum()


def climb(search: Search) -> None:
    """Prove by levels, cut those finer that a bound rests on by rounding, and draw plans when few do."""
    classes, duals = search.classes, search.duals
    assert duals is not None
    price = duals.task[classes.first_task]
    levels = Levels.by_use(classes, COUNT, price)
    values = [one * top for one, top in zip(price, levels.tops, strict=True)]
    ladder = Ladder(search, Enough(classes), partial(_raise_bound, search), partial(_offer, search))
    ladder.climb(levels, values, search.clock.part(SHARE))


@dataclass(frozen=True, eq=False)
class Ladder:
    """Levels cut finer and finer, with the bounds that they prove and the plans that they lead to."""

    standing: Standing  # what is known so far
    enough: Enough  # which sets will do
    # take over what a master's prices prove, and the plan that its shares lead to
    raise_bound: Callable[[LevelBlocks], None]
    offer: Callable[[LevelBlocks], None]
    patience: int = 3  # how often in a row nothing may be gained, once few sets rest on rounding

    def climb(self, levels: Levels, values: Values, turn: Clock) -> LevelBlocks | None:
        """Cut levels until nothing rests on rounding, what was asked for is proven, or nothing helps any more.

        Returns the last levels that were solved.
        """
        standing, tasks = self.standing, levels.classes.tasks_in.sum()
        last, sets = None, list[Set]()
        near, idle, fewest = ROUGH, 0, np.inf
        for _ in range(REFINEMENTS):
            known = standing.bound, standing.value
            blocks = LevelBlocks(levels, self.enough, standing.solvers.make_master, values, sets)
            blocks.generate(ROUNDS, near, lambda: turn.left)
            self.raise_bound(blocks)
            if blocks.point is None or standing.done:
                return last
            last = blocks
            levels, values, sets, cheated = blocks.refined()
            near = NEAR if cheated <= MANY * tasks else ROUGH
            if cheated <= HONEST * tasks:
                self.offer(blocks)
            gained = known != (standing.bound, standing.value) or cheated < GAINED * fewest
            idle = 0 if near == ROUGH or gained else idle + 1
            fewest = min(fewest, cheated)
            if standing.done or turn.over or levels.starts[-1] == blocks.starts[-1] or idle >= self.patience:
                break
        return last


def _raise_bound(search: Search, blocks: LevelBlocks) -> None:
    """What the levels' prices of workers prove, by the workers' own evidence: never less than by their levels'."""
    problem = problem_of(search.instance)
    if problem is not None:
        prices = -blocks.worker_prices(blocks.center)
        raise_bound(search, problem, sweep(problem, prices, rich=False).bound, prices)


def _offer(search: Search, blocks: LevelBlocks) -> None:
    """Offer the plan that levels lead to, what is short topped up and labels nobody needs dropped."""
    filled = fill(blocks, lambda: search.clock.left)
    if filled is None:
        return
    split = Split.of_sets(blocks.levels.classes, hands(blocks, filled), search.options.seed)
    if not split.covered:
        with alarm(search.clock) as rung:
            split.heeding(rung).finish(min(FINISHING[0] * search.instance.n_tasks, FINISHING[1]))
    if not split.covered and split.top_up():
        return
    split.thin()
    search.offer(split.pairs())
