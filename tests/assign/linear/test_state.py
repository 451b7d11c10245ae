"""Labels that move between tasks: none lost, limits kept, seated where they can be."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from crowdopt.assign.problem import Problem
from crowdopt.assign.standing import NEVER
from crowdopt.assign.state import Holding
from crowdopt.assign.state_kernels import keeps, seat
from tests.assign.linear.drawn import LIMITS, SEEDS, drawn, in_lots
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


@given(SEEDS)
def test_labels_of_a_class_are_seated_where_they_can_be(seed):
    """Made from a seating, with some room to spare, whoever is barred: nobody twice, nobody beyond their room."""
    rng = np.random.default_rng(seed)
    free = rng.random(rng.integers(2, 9, 2)) >= rng.choice([0, 0.1, 0.3])
    has = free & (rng.random(free.shape) < rng.uniform(0.2, 1))
    room, order = has.sum(axis=0) + rng.integers(0, 2, free.shape[1]) * rng.integers(0, 2), np.argsort(-has.sum(axis=1))
    task, least = np.repeat(order, has.sum(axis=1)[order]), np.zeros(room.size, np.int64)
    ends = np.append(0, np.cumsum((~free).sum(axis=1)))
    barred = np.ascontiguousarray(np.nonzero(~free)[1])
    worker = seat(task, np.arange(room.size), room.copy(), least, ends, barred, NEVER)
    assert free[task, worker].all() and (worker >= 0).all() and (np.bincount(worker, minlength=room.size) <= room).all()
    assert np.unique(task * room.size + worker).size == task.size
