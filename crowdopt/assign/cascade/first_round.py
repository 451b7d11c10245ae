"""The first round of a policy: which tasks go to whom now, by lots from a seed, within every capacity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyRow, by_place, dealt
from crowdopt.assign.cascade.panels import VotePanel
from crowdopt.crowd.asking_orders import ASK, OrderShare


def first_round(panel: VotePanel, rows: Sequence[PolicyRow], seed: int) -> Ints:
    """Task and worker of each label to ask for now, (k, 2), by task.

    Tasks that stand alike are shuffled and dealt to the actions there by their shares. A task that would break a
    capacity waits for the next round; workers of an asker with most room are asked first.
    """
    rng, here, left = np.random.default_rng(seed), by_place(rows), panel.instance.capacity.copy()
    known = set(map(tuple, panel.instance.collected.tolist()))
    pairs: list[tuple[int, int]] = []
    for state in np.unique(panel.standing).tolist():
        some = here.get((int(panel.of_kind[state]), 0, panel.votes(state)), [])
        for task, k in dealt([row.share for row in some], np.flatnonzero(panel.standing == state), rng) if some else ():
            chosen: list[int] = []
            for asker, number in enumerate(some[k].what if some[k].action == ASK else ()):
                free = [
                    (-int(left[j]), j) for j in panel.workers[asker].tolist() if left[j] > 0 and (task, j) not in known
                ]
                chosen += [j for _, j in sorted(free)[:number]] if len(free) >= number else [-1]
            if -1 not in chosen:
                left[chosen] -= 1
                pairs += [(task, worker) for worker in chosen]
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def first_asked(orders: Sequence[OrderShare], order_of: Ints, capacity: Ints) -> Ints:
    """Task and first worker of each order dealt, (k, 2), by task; a task whose worker has no room waits."""
    left, pairs = capacity.copy(), []
    for task, number in enumerate(order_of.tolist()):
        action, worker = orders[number].order.turn({})
        if action == ASK and left[worker] > 0:
            left[worker] -= 1
            pairs.append((task, worker))
    return np.array(pairs, np.int64).reshape(-1, 2)
