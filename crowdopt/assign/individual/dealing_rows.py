"""Plans where tasks share rows of evidence: amounts for each row, dealt to its tasks by what each lacks, and mended."""

from __future__ import annotations

import numpy as np

from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.rounding import round_amounts
from crowdopt.assign.exact.split import OwnNeeds, Split
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.assign.individual.served import Served
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BY_SIZE, Options, Solve
from crowdopt.crowd.alike import Classes
from crowdopt.programs import target


def deal_rows(
    tasks: OwnTasks,
    rows: Classes,
    money: float,
    prices: Prices,
    solve: Solve,
    options: Options,
    width: int,
    clock: Clock,
) -> Served | None:
    """Labels for so much money: aim at the most slack per row, round, deal, share out; tasks left short have none.

    Own barred workers are not heeded while dealing: who got one has none in the end.

    width: most labels of a task that are stored; clock: when sharing out ends, wherever it is; ->
    None where the program brings no point.
    """
    program = target.of_classes(rows, money)
    aimed = solve(program, BY_SIZE, options)
    if aimed.primal is None:
        return None
    amounts = aimed.program.column("u").view(aimed.primal)
    own = OwnNeeds(tasks.target, tasks.arrays.fewest, tasks.arrays.most)
    get_ready()
    with alarm(clock) as rung:
        whole = round_amounts(rows, amounts, float(aimed.primal[-1]), money, rung)
        split = Split.of_amounts(rows, whole, money, options.seed, own).heeding(rung)
        split.mend()
    return _handed(tasks, split, prices, width)


def _handed(tasks: OwnTasks, split: Split, prices: Prices, width: int) -> Served:
    """The split's labels; tasks that are short, or have a worker whom they may not have, get none."""
    wide = max(width, split.dealt.hands.shape[1])
    dealt = Served.none(tasks, prices, wide, np.int16 if tasks.room.size < np.iinfo(np.int16).max else np.int32)
    dealt.hands[:, : split.dealt.hands.shape[1]] = split.dealt.hands
    dealt.held[:] = split.dealt.held
    dealt.left[:] = split.dealt.left
    size, arrays = split.dealt.held, tasks.arrays
    bad = (dealt.slack() < 0) | (size < arrays.fewest) | (size > arrays.most) | dealt.has_barred()
    dealt.drop(np.flatnonzero(bad))
    return dealt
