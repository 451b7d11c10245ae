"""Plans where tasks share rows of evidence: amounts for each row, dealt to its tasks by what each lacks, and mended."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.rounding import round_amounts
from crowdopt.assign.exact.split import ROOM, Split
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.assign.individual.served import Served
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BY_SIZE, Options, Solve
from crowdopt.crowd.classes import Classes
from crowdopt.programs import target

FINISHING, TRADING = (4, 2_000), (300, 300_000)  # work per task and at most, in pairs looked at
TRADERS = 5_000  # tasks up to which labels are exchanged across rows


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

    tasks: the open tasks; rows: their rows as classes; money: what the labels may cost; prices: at which the labels are
    mended later; options: limits of the program, and the seed; width: most labels of a task that are stored; clock:
    when sharing out ends, wherever it is; -> None where the program brings no point.
    """
    program = target.of_classes(rows, money)
    aimed = solve(program, BY_SIZE, options)
    if aimed.primal is None:
        return None
    amounts = aimed.program.column("u").view(aimed.primal)
    with alarm(clock) as rung:
        whole = round_amounts(rows, amounts, float(aimed.primal[-1]), money, rung)
        split = _split(tasks, rows, whole, money, options.seed).heeding(rung)
        split.level()
        split.finish(min(FINISHING[0] * tasks.size, FINISHING[1]))
        if not split.covered and tasks.size <= TRADERS:
            split.trade(min(TRADING[0] * tasks.size, TRADING[1]))
    return _handed(tasks, split, prices, width)


def _split(tasks: OwnTasks, rows: Classes, amounts: Ints, money: float, seed: int) -> Split:
    """Amounts dealt to the tasks of each row, the best workers first, always to those that lack most."""
    from crowdopt.assign.exact import kernels

    get_ready()
    widest = int(2 * np.ceil((amounts.sum(axis=1) / rows.tasks_in).max())) + ROOM
    split = Split(rows, widest, seed)
    split.terms = split.terms._replace(fewest=tasks.arrays.fewest, most=np.minimum(tasks.arrays.most, widest))
    split.dealt.slack[:] = -tasks.target
    split.dealt.left[:] -= amounts.sum(axis=0)
    split.dealt.spare[0] = max(0.0, money - float((rows.cost * amounts).sum()))
    members = np.split(np.argsort(rows.task_class, kind="stable"), np.cumsum(rows.tasks_in)[:-1])
    for kind, some in enumerate(members):
        groups = np.argsort(-rows.evidence[kind], kind="stable")
        groups = groups[amounts[kind, groups] > 0]
        kernels.deal(some, groups, amounts[kind], rows.evidence[kind], split.dealt)
    return split


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
