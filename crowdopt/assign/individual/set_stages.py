"""Plans from sets where each task is priced by itself: nested ones, and mixtures of the sets met."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.individual.mixing import WHOLE, Mixture, dealt_of
from crowdopt.assign.individual.nested import PAD, Nested
from crowdopt.assign.individual.prices.sweep import Prices, Sweep
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sets_met import SetsMet
from crowdopt.assign.individual.work import Work
from crowdopt.core.solution import BRANCHING, Options, Solve
from crowdopt.programs import nested_sets

NESTING = 0.6  # of the time left, for sets that serve all tasks of a row that need no more
LOOSENED = (0.0, 0.05, 0.1, 0.2)  # of the whole shares of such sets, by chance, from one search to the next
CHOSEN = 12_000  # sets among which branch and bound chooses
PULLS = (0.5, 0.0)  # of the master's prices towards the best ones, where its next sets are priced
SETTLED, OFFERED = 1e-5, 4  # relative: the master's value is the bound; masters from one plan to the next
MIXED = (3_000, 4)  # sets beside the best one of each task among which the master chooses: at least, per worker
MIXES = 12  # masters in a row
SEARCHED, PART_SEARCHED = 3.0, 0.1  # seconds of branch and bound at a time, or this part of the limit, at most


def nest(work: Work) -> None:
    """Prices and plans from sets that serve every task of a row that needs no more."""
    standing, best = work.standing, work.ascent.best
    if best is None:
        return
    sets, soon = Nested(work.tasks, work.sweeper, standing.solvers.make_master), work.nobody(best.prices)
    soon.serve_all(sets.levels.order[::-1], standing.clock)
    for known in (best, soon):
        sets.add(work.tasks, known.hands, known.held)
    sets.grow(best.prices, partial(_visit, work), standing.clock.part(NESTING))
    whole = whole_shares(sets)
    for part in LOOSENED if sets.point is not None else ():
        if standing.done:
            return
        options = replace(standing.options, time_limit=min(SEARCHED, standing.clock.left / 4))
        counts = completed(sets, whole - work.rng.binomial(whole, part), standing.solvers.solve, options)
        if counts is not None:
            work.offer(dealt_sets(sets, counts, best.prices))


def _visit(work: Work, prices: Prices, nodes: int) -> Sweep | None:
    """What the prices prove, kept; None where there is no more time or nothing more to prove."""
    sweep = work.ascent.visit(prices, nodes)
    if sweep is None or work.hear(sweep):
        return None
    work.ascent.nodes = max(work.ascent.nodes, nodes)
    work.keep(sweep)
    return sweep


def mix(work: Work) -> None:
    """Plans from mixtures of the sets met; the master's prices bring further sets, until its value is the bound."""
    standing = work.standing
    for number in range(MIXES):
        mixture = _mixture(work)
        if mixture is None or standing.done:
            return
        near = mixture.value <= standing.bound + SETTLED * abs(standing.bound)
        settled = near or not _met_more(work, mixture)
        if number % OFFERED == 0 or settled or number == MIXES - 1:
            work.offer(dealt_of(mixture.sets, mixture.share, mixture.prices, work.sweeper.width))
            _choose(work, mixture.sets, mixture.prices)
        if settled:
            return


def _mixture(work: Work) -> Mixture | None:
    """The best mixture of the nearest sets and of the best plan's."""
    best = work.ascent.best
    if best is None or work.standing.done:
        return None
    work.met.add(best.hands, best.held)
    near = work.met.nearest(best.prices, work.tasks.size + MIXED[0] + MIXED[1] * work.tasks.room.size)
    if work.chosen is not None and work.tasks.size <= CHOSEN:
        near.add(*work.chosen)
    return work.mixer.mix(near, work.standing.clock)


def _met_more(work: Work, mixture: Mixture) -> bool:
    """Whether pricing at the master's prices, pulled towards the best ones first, brings sets that are new."""
    met, best = work.met, work.ascent.best
    assert best is not None
    before = met.task.size
    for pull in PULLS:
        sweep = work.ascent.visit(mixture.prices.towards(best.prices, pull))
        if sweep is None:
            return False
        work.hear(sweep)
        met.add(sweep.hands, sweep.held)
        if met.task.size > before:
            return True
    return False


def _choose(work: Work, sets: SetsMet, prices: Prices) -> None:
    """One of the nearest sets for each task by branch and bound, where they are few enough."""
    standing = work.standing
    if standing.done:
        return
    near = sets.nearest(prices, CHOSEN)
    many = np.bincount(near.task, minlength=work.tasks.size)
    if int(many[many > 1].sum()) > 2 * CHOSEN:
        return
    seconds = max(SEARCHED, PART_SEARCHED * standing.options.time_limit)
    share = work.mixer.choose(near, min(seconds, standing.clock.left / 2))
    if share is not None and share.max(initial=0.0) > WHOLE:
        work.offer(dealt_of(near, share, prices, work.sweeper.width))


def whole_shares(nested: Nested) -> Ints:
    """How many tasks have each set in whole at the master's optimum; none of the sets it does not know.

    -> (sets,).
    """
    counts = np.zeros(nested.level.size, np.int64)
    if nested.point is not None:
        share = nested.shares()
        counts[: share.size] = np.floor(share + WHOLE)
    return counts


def completed(nested: Nested, counts: Ints, solve: Solve, options: Options) -> Ints | None:
    """The cheapest whole numbers beside those that are fixed, (sets,); None where none are found in time.

    counts (sets,): what is fixed; workers keep their capacities; -> (sets,) int array or None.
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

    counts (sets,): how many tasks get each.
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
