"""What a policy still errs with, given the votes so far: the targets with which its next round is solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import GOLDEN, PolicyRow, by_place, row_at
from crowdopt.assign.cascade.panels import Panel, SkillPanel, VotePanel
from crowdopt.crowd.asking_orders import ANSWER, ASK, EXPERT, AskingOrder
from crowdopt.errors import InputError

LEAST, MOST = 1e-9, 0.49  # a target lies between 0 and 1/2


def onward_targets(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None) -> tuple[Floats, Floats]:
    """Expected error of the policy from where tasks stand now.

    The mean of each kind, (tasks,); and of each true class, (classes,), the share that is answered otherwise.

    The promise of an adaptive plan is about errors before votes are seen. Given votes its expected error moves, up as
    often as down in the mean; to ask for the first target again would promise more than was asked for, or what no vote
    can keep. Solved with these targets each round keeps the promise of the one before. A task with votes that the
    policy does not come to, because labels were lost, keeps its target.
    """
    here, classes = by_place(rows), np.arange(int(panel.instance.classes))

    @cache
    def missed(over: int, state: int) -> Floats:
        total, place = np.zeros(classes.size), (int(panel.of_kind[state]), over, panel.votes(state))
        if place not in here:
            raise InputError("policy.csv has no row for votes that its tasks come to; solve the campaign again")
        for row in here[place]:
            if row.action == ANSWER:
                total += row.share * np.where(classes == row.what[0], 0.0, panel.belief[state])
            elif row.action != EXPERT:
                reached, chances = panel.ahead(row.what, np.array([state]))
                for after, chance in zip(reached[0].tolist(), chances[0].tolist(), strict=True):
                    if chance > 0:
                        total += row.share * chance * missed(over + (rounds is not None), after)
        return total

    expected, of_class = panel.instance.epsilon.copy(), np.zeros(classes.size)
    for state, (over, _) in _now(panel, rows, rounds).items():
        wrong, mine = missed(over, state), panel.standing == state
        expected[mine] = wrong.sum()
        of_class += wrong * mine.sum()
    return _targets(panel, expected), np.clip(of_class / np.maximum(panel.of_class, LEAST), LEAST, 1.0)


def onward_orders(panel: SkillPanel, orders: Sequence[AskingOrder], order_of: Ints) -> tuple[Floats, bool]:
    """The same of orders, (tasks,); and whether any asks on.

    panel: with all labels in; order_of (tasks,): the order dealt to each task. An order counts its own workers' labels;
    the chances of the classes go by all.
    """
    from crowdopt.assign.cascade.order_master import expected  # its loops are compiled

    wrong, asks = np.empty(panel.instance.n_tasks), False
    for start in panel.starts:
        labels = {worker: label for worker, label, _ in start.votes}
        for number in np.unique(order_of[start.tasks]).tolist():
            order, mine = orders[number], start.tasks[order_of[start.tasks] == number]
            wrong[mine] = expected(panel, start.kind, order, start.law, order.heard(labels))[1]
            asks |= order.turn(labels)[0] == ASK
    return _targets(panel, wrong), asks


def _targets(panel: Panel, error: Floats) -> Floats:
    """The mean error of each kind, within what a target can be, (tasks,)."""
    mean = np.bincount(panel.kind, weights=error) / panel.tasks_in
    return np.asarray(np.clip(mean, LEAST, MOST)[panel.kind])


def policy_answers(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None, likeliest: Ints, seed: int) -> Ints:
    """The class that the policy answers each task with where it stands, the likeliest where it does not, (tasks,).

    Limits by true class may ask for another class than the likeliest, and for a lot between two: tasks that stand alike
    take them in turn, as those of ``AdaptivePlan.next``.
    """
    now, answer, before = _now(panel, rows, rounds), likeliest.copy(), Counter[int]()
    for i, state in enumerate(panel.standing.tolist()):
        if ends := [row for row in now.get(state, (0, []))[1] if row.action == ANSWER]:
            before[state] += 1
            kind = int(panel.of_kind[state])
            offset = np.random.default_rng([seed, kind, state - int(panel.ends[kind])]).random()
            answer[i] = row_at(ends, (offset + before[state] * GOLDEN) % 1.0).what[0]
    return answer


def asks_more(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None) -> bool:
    """Whether the policy asks anything where tasks stand now, or tasks have votes that it does not come to."""
    now = _now(panel, rows, rounds)
    lost = any(state not in now for state in panel.standing.tolist())
    return lost or any(row.action == ASK for _, some in now.values() for row in some)


def _now(panel: VotePanel, rows: Sequence[PolicyRow], rounds: int | None) -> dict[int, tuple[int, list[PolicyRow]]]:
    """Of each state in which tasks stand: after which round, once the first is over, the policy has it; its rows there.

    Without states that it does not come to.
    """
    here, found = by_place(rows), {}
    for state in np.unique(panel.standing).tolist():
        kind, votes = int(panel.of_kind[state]), panel.votes(state)
        for over in (0,) if rounds is None else (0, 1):  # the later one counts
            if (kind, over, votes) in here:
                found[state] = over, here[kind, over, votes]
    return found
