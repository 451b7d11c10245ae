"""Plans from the nested master: whole shares are fixed, branch and bound chooses for the tasks that are left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.individual.nested import PAD, Nested
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.assign.individual.served import Served
from crowdopt.core.solution import BRANCHING, Options, Solve
from crowdopt.programs import nested_sets

WHOLE = 1e-6  # a share this close to a whole number is one


def whole_shares(nested: Nested) -> Ints:
    """How many tasks have each set in whole at the master's optimum; none of the sets it does not know.

    nested: with a solved master; -> (sets,).
    """
    counts = np.zeros(nested.level.size, np.int64)
    if nested.point is not None:
        share = nested.shares()
        counts[: share.size] = np.floor(share + WHOLE)
    return counts


def completed(nested: Nested, counts: Ints, solve: Solve, options: Options) -> Ints | None:
    """The cheapest whole numbers beside those that are fixed, (sets,); None where none are found in time.

    nested: whose sets are chosen from; counts (sets,): what is fixed; workers keep their capacities; solve:
    ``solve(program, backend, options)``; options: limits of the search; -> (sets,) int array or None.
    """
    levels, m = nested.levels, nested.tasks.room.size
    known = nested.known()
    used = nested_sets.columns_of(known, levels.row.size, m) @ counts
    left, room = levels.count - used[: levels.row.size], nested.tasks.room - used[levels.row.size :]
    program = nested_sets.of_sets(known, levels.row, left, room, nested.dear, True)
    found = solve(program, BRANCHING, replace(options, start=None))
    if found.primal is None:
        return None
    more: Ints = np.rint(program.column("set").view(found.primal)).astype(np.int64)
    return counts + more


def dealt_sets(nested: Nested, counts: Ints, prices: Prices) -> Served:
    """The sets dealt out, those with the most evidence to the tasks that need most.

    Tasks left over, and those that would have a worker whom they may not have, have none.

    nested: whose sets they are; counts (sets,): how many tasks get each; prices: at which the labels are mended later.
    """
    tasks, levels = nested.tasks, nested.levels
    dealt = Served.none(tasks, prices, nested.workers.shape[1], nested.workers.dtype)
    copies = np.repeat(np.arange(counts.size), counts)
    row = levels.row[nested.level[copies]]
    copies = copies[np.lexsort((nested.level[copies], row))]
    begin = np.searchsorted(tasks.arrays.row[levels.order], np.arange(levels.first.size))
    many = np.bincount(row, minlength=levels.first.size)
    place = np.arange(copies.size) - np.repeat(np.cumsum(many) - many, many) + np.repeat(begin, many)
    task, sets = levels.order[place], nested.workers[copies]
    inside = sets != PAD
    dealt.held[task], dealt.hands[task] = inside.sum(axis=1), np.where(inside, sets, 0)
    dealt.left -= np.bincount(sets[inside].astype(np.int64), minlength=tasks.room.size)
    dealt.drop(np.flatnonzero((dealt.held >= 0) & ((dealt.slack() < 0) | dealt.has_barred())))
    return dealt
