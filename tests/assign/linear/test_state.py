"""Labels that move and sets that are chosen: none lost, limits kept; sharing out and rounding as they say."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Options
from crowdopt.assign.choose import Chooser, ImproveParams, improve, score
from crowdopt.assign.deal import Asked, aimed, rounded
from crowdopt.assign.master import NONE, Master
from crowdopt.assign.oracle import Oracle, Sets
from crowdopt.assign.problem import Problem, problem_of
from crowdopt.assign.standing import NEVER
from crowdopt.assign.state import Holding
from crowdopt.assign.state_kernels import closest, deal, keeps, may_have, may_know, seat, share_out
from crowdopt.core.clock import Clock
from crowdopt.verbs.binding import SOLVERS
from tests.assign.linear.drawn import LIMITS, SEEDS, drawn, every_set, in_lots, labels_of, multipliers
from tests.assign.linear.test_master import filled
from tests.checkers.plans import _of_tasks, table


def dealt(problem: Problem, rng: np.random.Generator, widest: int) -> Holding:
    """Amounts of any size, some more than there is, dealt to the tasks."""
    held = Holding.empty(problem, widest, int(rng.integers(100)))
    amounts = rng.integers(0, 1 + problem.tasks, (problem.tasks_in.size, problem.room.size))
    held.deal(amounts * (rng.random(amounts.shape) < rng.random()), np.arange(problem.tasks))
    return held


def lacking(held: Holding) -> np.ndarray:
    """Where labels are not what a task may be left with; all else is as it must be.

    Each class gave what it has no more, nobody is twice at a task, none barred, no most is broken, slack is true.
    """
    problem, state, one = held.problem, held.state, held.problem.instance
    task, label = held.labels()
    worth = problem.rows.worth[problem.rows.type[held.terms.row[task]], label]
    new = table(one, problem.pairs(task, label, NEVER)[0])
    assert (state.left >= 0).all() and new.sum() == task.size + len(one.fixed)
    assert (state.left + np.bincount(label, minlength=state.left.size) == problem.room).all()
    assert np.allclose(state.slack, np.bincount(task, worth, one.n_tasks) - problem.target[problem.kind_of], atol=1e-9)
    wrong = _of_tasks(one, np.arange(one.n_tasks), new)
    assert not any(where.any() for what, where in wrong.items() if not what.startswith("least"))
    return np.array([not keeps(i, state.hands[i], state.held[i], held.terms) for i in range(one.n_tasks)])


@given(drawn(7, 8, LIMITS, 2), SEEDS)
def test_moves_keep_labels_and_limits(one, seed):
    """Whatever is dealt, shared out, bought, filled up and dropped, in any order."""
    problem, rng = in_lots(one, seed), np.random.default_rng(seed)
    held, rows = dealt(problem, rng, int(rng.integers(1, one.n_workers + 1))), problem.rows
    price, lower = rows.cost * rng.uniform(0.5, 1.5, rows.cost.shape), problem.coupling.lower[: problem.room.size]
    moves = {"share": (6, 60), "escalate": (price, 4, 30, 5), "complete": (price,), "thin": (price,), "fill": ()}
    lacks = lacking(held)
    for name in rng.permutation([*moves, *moves]).tolist():
        before, short, had = held.labels(), held.state.slack < 0, lacks
        getattr(held, name)(*moves[name])
        lacks, (task, label) = lacking(held), held.labels()
        assert not (lacks & ~had).any()  # what a task needs beside evidence is not taken away again
        loads, now = (np.bincount(labels, minlength=lower.size) for labels in (before[1], label))
        if name == "share":
            of = rows.type[held.terms.row]
            assert sorted((of[before[0]] * lower.size + before[1]).tolist()) == sorted(of[task] * lower.size + label)
        if name in ("complete", "fill", "thin"):
            assert not ((held.state.slack < 0) & ~short).any()
            assert (now <= loads if name == "thin" else now >= loads).all()
            assert (now >= np.minimum(loads, np.maximum(lower, 0))).all()


@settings(max_examples=30)
@given(drawn(8, 8), SEEDS)
def test_all_is_dealt_that_may_be_and_amounts_keep_room_and_money(one, seed):
    """Of each class the amount or all it has, but where no task may have one more; from points that keep both."""
    problem, rng = in_lots(one, seed), np.random.default_rng(seed)
    held, rows, (types, place) = Holding.empty(problem, one.n_workers, 0), problem.rows, problem.lots
    t = int(rng.integers(types.size))
    tasks, worth = np.flatnonzero(place[held.terms.row] == t), rows.worth[types[t]]
    amounts = rng.integers(0, 1 + one.n_tasks, problem.room.size)
    deal(tasks, np.argsort(-worth, kind="stable"), amounts, worth, held.terms, held.state)
    lacking(held)
    for g, out in enumerate(problem.room - held.state.left):
        more = any(may_have(i, g, held.state.hands[i], held.state.held[i], held.terms) for i in tasks)
        assert out == min(amounts[g], problem.room[g]) or (out < amounts[g] and not more)
    cost, upper = rows.cost[types], problem.amounts.upper.reshape(-1, problem.room.size)
    money = float(rng.uniform(0, 1) * (cost * np.minimum(upper, problem.room)).sum())
    point = rng.random(upper.shape) * upper
    point *= np.minimum(1, problem.room / np.maximum(point.sum(axis=0), 1e-9))
    point *= min(1.0, money / max(1e-9, float((cost * point).sum())))
    for start, slack in ((point, 0.1), aimed(problem, money, SOLVERS.solve, Options()) or (point, 0.0)):
        whole = rounded(problem, Asked.of(problem, np.arange(one.n_tasks), problem.room), start, slack, money, NEVER)
        assert whole.dtype.kind == "i" and (whole >= 0).all() and (whole <= upper + 1e-9).all()
        assert (whole.sum(axis=0) <= problem.room).all() and (cost * whole).sum() <= money + 1e-6 * max(1.0, money)


@given(st.lists(st.integers(0, 40), max_size=11), st.floats(-5, 150))
def test_the_closest_subset_is_that_of_all(values, target):
    """By every subset; the mask is of the sum."""
    worth = np.array(values, float) / 8
    mask, total = closest(worth, worth.size, target)
    assert worth[[bool(mask >> k & 1) for k in range(worth.size)]].sum() == total
    assert abs(total - target) == np.abs(np.array([*product((0, 1), repeat=worth.size)]) @ worth - target).min()


@given(SEEDS)
def test_sharing_out_makes_the_smaller_slack_as_large_as_can_be(seed):
    """Two tasks of one type, workers who all differ: by every partition of the labels that the other may have."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 11))
    barred, need = np.argwhere(rng.random((2, m)) < 0.15), rng.uniform(0.05, 0.4, 2)
    skill = rng.uniform(0.6, 0.98, (1, m))
    problem = problem_of(AssignmentInstance(skill, [0, 0], np.full(m, 2), need, rule="hoeffding", forbidden=barred))
    held, worth = dealt(problem, rng, m), problem.rows.worth[0]
    state, (task, label) = held.state, held.labels()
    hands = [label[task == i] for i in (0, 1)]
    free = [[may_know(1 - i, g, hands[1 - i], hands[1 - i].size, held.terms) for g in hands[i]] for i in (0, 1)]
    moved = np.concatenate([worth[hands[i][np.array(free[i], bool)]] for i in (0, 1)])
    first = np.array([*product((0.0, 1.0), repeat=moved.size)]) @ moved
    fixed = state.slack - [sum(free[i] * worth[hands[i]]) for i in (0, 1)]
    best, before = np.minimum(fixed[0] + first, fixed[1] + moved.sum() - first).max(), state.slack.min()
    changed = share_out(0, 1, worth, held.terms, state, False, 22)
    lacking(held)
    assert np.isclose(state.slack.min(), best, rtol=0, atol=1e-9) and sorted(held.labels()[1]) == sorted(label)
    assert changed == (state.slack.min() != before)


@given(SEEDS)
def test_labels_of_a_class_are_seated_where_they_can_be(seed):
    """Made from a seating, with some room to spare, whoever is barred: nobody twice, nobody beyond their room."""
    rng = np.random.default_rng(seed)
    free = rng.random(rng.integers(2, 9, 2)) >= rng.choice([0, 0.1, 0.3])
    has = free & (rng.random(free.shape) < rng.uniform(0.2, 1))
    room, order = has.sum(axis=0) + rng.integers(0, 2, free.shape[1]) * rng.integers(0, 2), np.argsort(-has.sum(axis=1))
    task, least = np.repeat(order, has.sum(axis=1)[order]), np.zeros(room.size, np.int64)
    ends = np.append(0, np.cumsum((~free).sum(axis=1)))
    worker = seat(task, np.arange(room.size), room.copy(), least, ends, np.nonzero(~free)[1], NEVER)
    assert free[task, worker].all() and (worker >= 0).all() and (np.bincount(worker, minlength=room.size) <= room).all()
    assert np.unique(task * room.size + worker).size == task.size


def chosen_well(problem: Problem, sets: Sets, of: np.ndarray) -> None:
    """Each task has one set at most, one that it may have with evidence enough; no class gives more than it has."""
    one, rows = problem.instance, problem.rows
    assert np.unique(of).size == of.size and (np.bincount(sets.label, minlength=rows.size.size) <= problem.room).all()
    new = table(one, problem.pairs(of[sets.owner], sets.label, NEVER)[0]) & ~table(one, one.fixed)
    for i, label in zip(of, labels_of(sets), strict=True):
        worth = rows.worth[rows.type[problem.row_of[problem.kind_of[i]]], label]
        assert worth.sum() >= problem.target[problem.kind_of[i]] - 1e-12
        assert (new[i] == every_set(problem, i)).all(axis=1).any()


@settings(max_examples=15)
@given(drawn(8, 7), SEEDS)
def test_what_is_chosen_are_sets_that_tasks_may_have(one, seed):
    """By a vertex, by dives, whatever is given, and by improvements, which never get worse."""
    problem, rng = problem_of(one), np.random.default_rng(seed)
    pool, every, duals = filled(problem, rng), np.arange(one.n_tasks), multipliers(problem, rng)
    short = np.full(problem.count.size, 30 * problem.unit)
    chooser = Chooser(Master(pool, short), Oracle(problem, 1), Clock(60.0), rng, SOLVERS.solve, Options())
    begun, of, amounts = chooser.begin(duals)
    chosen_well(problem, begun, of)
    more, who = chooser.dive(np.setdiff1d(every, of), begun, of, duals)
    chosen_well(problem, more, who)
    assert (more.label[: begun.label.size] == begun.label).all() and (amounts >= 0).all()
    some, who = chooser.dive(every, NONE, every[:0], duals)
    heard = [score(chooser, some, who)]
    last = improve(
        chooser, some, who, duals, lambda *it: bool(heard.append(score(chooser, *it))), ImproveParams(idle=5)
    )
    chosen_well(problem, *last)
    assert score(chooser, *last) == heard[-1] and heard == sorted(heard, reverse=True)
