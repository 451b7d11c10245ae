"""Plans where tasks are many: each group's sets at several prices, in the shares in which they fit the workers."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.prices.ascent import Ascent
from crowdopt.assign.individual.prices.sweep import CLOSE, Prices, Sweep, Sweeper
from crowdopt.assign.individual.served import Served
from crowdopt.core.clock import Clock

DEAR = 4.0  # what a label too many costs, in units of the highest price of a worker
NOTHING = 1e-6  # a smaller share is none
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, without their whole part, are spread evenly


def blend(ascent: Ascent, clock: Clock) -> Served | None:
    """A set for each task, few workers with a label too many; None where time ends before.

    A group's sets at the prices visited, mixed as the model's multipliers say, cost what the model promises. Equal
    choices between sets come one after another and are dealt out evenly, so that workers' loads are the mixture's to
    a few labels.
    """
    best, tasks, sweeper = ascent.best, ascent.tasks, ascent.sweeper
    if best is None:
        return None
    unit = float(np.abs(best.prices.worker).max(initial=0.0)) or float(tasks.arrays.cost.mean())
    mixed = ascent.mixture(DEAR * unit)
    if mixed is None:
        return None
    dealt = Served.none(tasks, best.prices, sweeper.width, sweeper.type)
    return dealt if spread(dealt, sweeper, *mixed, ascent.nodes, clock) else None


def spread(dealt: Served, sweeper: Sweeper, visited: list[Prices], share: Floats, nodes: int, clock: Clock) -> bool:
    """Give each task its set at one of the prices, those of a group in given shares; whether there was time for all.

    share (prices, groups): how much of each group gets its sets at each of the prices.
    """
    tasks = dealt.tasks
    for group in range(sweeper.groups):
        members = np.arange(group, tasks.size, sweeper.groups)
        used = np.flatnonzero(share[:, group] > NOTHING)
        part = Sweeper(tasks.part(members), sweeper.threads, width=dealt.hands.shape[1])
        sweeps = [part.sweep(visited[u], clock, CLOSE, nodes) for u in used]
        whole = [sweep for sweep in sweeps if sweep is not None]
        if len(whole) < max(1, len(sweeps)):
            return False
        line = _even(whole, share[used, group])
        for number, sweep in enumerate(whole):
            mine = line == number
            dealt.hands[members[mine]] = sweep.hands[mine]
            dealt.held[members[mine]] = sweep.held[mine]
    inside = np.arange(dealt.hands.shape[1]) < dealt.held[:, None]
    dealt.left -= np.bincount(dealt.hands[inside].astype(np.int64), minlength=tasks.room.size)
    dealt.drop(np.flatnonzero((dealt.held >= 0) & (dealt.slack() < 0)))
    return True


def _even(sweeps: list[Sweep], share: Floats) -> Ints:
    """Which sweep's set each task takes, in these shares, evenly among tasks that have the same choice."""
    if len(sweeps) == 1:
        return np.zeros(sweeps[0].held.size, np.int64)
    width = sweeps[0].hands.shape[1]
    rows = []
    for sweep in sweeps:
        inside = np.arange(width) < sweep.held[:, None]
        rows.append(np.sort(np.where(inside, sweep.hands, -1), axis=1))
    order = np.lexsort(np.concatenate(rows, axis=1).T)
    place = np.empty(order.size)
    place[order] = np.arange(order.size) * GOLDEN % 1.0
    return np.minimum(np.searchsorted(np.cumsum(share), place, side="right"), len(sweeps) - 1)
