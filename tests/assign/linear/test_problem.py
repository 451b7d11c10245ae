"""The problem as flat arrays says what the instance says; the oracle prices it as all sets of each task say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from crowdopt.assign.problem import problem_of
from crowdopt.assign.standing import NEVER
from tests.assign.linear.drawn import LIMITS, SEEDS, TIES, drawn, every_set, in_lots, labels_of, multipliers, swept
from tests.checkers.plans import _of_all, cost_of, table


@settings(max_examples=30)
@given(drawn(8, 8, TIES, 3), SEEDS)
def test_coupling_is_what_ties_tasks(one, seed):
    """Labels of classes become pairs, nobody twice, by turns; cost and all that ties tasks are those of the pairs."""
    problem, rng = in_lots(one, seed), np.random.default_rng(seed)
    barred, coupling, rows = table(one, np.concatenate([one.barred, one.fixed])), problem.coupling, problem.rows
    who = problem.worker_class
    for _ in range(40):
        some = (rng.random(barred.shape) < rng.random() ** 2) & ~barred
        task, worker = np.nonzero(some & (some.cumsum(axis=0) <= problem.each_room))
        label, kind = who[worker], rows.type[problem.row_of[problem.kind_of[task]]]
        new = table(one, pairs := problem.pairs(task, label, NEVER)[0])
        assert len(pairs) == new.sum() == task.size + len(one.fixed)
        load = (new & ~barred).sum(axis=0)
        assert (load <= problem.each_room).all()
        plain = [who == g for g in range(rows.size.size) if not barred[:, who == g].any()]
        assert max((np.ptp(load[mine]) for mine in plain), default=0) <= 1
        assert np.isclose(cost_of(one, pairs), rows.cost[kind, label].sum() + problem.constant, rtol=1e-12)
        activity, price, duals = coupling.activity(kind, label), rows.cost[kind, label], multipliers(problem, rng)
        assert np.isclose(coupling.prices(duals)[kind, label].sum(), price.sum() - duals @ activity)
        inside = (activity >= coupling.lower - 1e-7) & (activity <= coupling.upper + 1e-7)
        assert inside.all() == (not _of_all(one, new))
        amounts = np.zeros((problem.tasks_in.size, rows.size.size))
        np.add.at(amounts, (problem.lot_of[problem.kind_of[task]], label), 1)
        assert np.allclose(problem.amounts.row("tie").view(problem.amounts.matrix @ amounts.reshape(-1)), activity)


@given(drawn(4, 8, LIMITS, 2), SEEDS)
def test_the_bound_is_the_cheapest_sets_price(one, seed):
    """Of all sets of each task, with much effort; no more with little; sets that are found are sets, and so dear."""
    problem, rng = problem_of(one), np.random.default_rng(seed)
    rows, kinds, who, hair = problem.rows, problem.kinds, problem.worker_class, 1e-7 * problem.unit
    table, least, known = problem.coupling.prices(duals := multipliers(problem, rng)), [], []
    for k, i in zip(*np.unique(problem.kind_of, return_index=True), strict=True):
        sets, t = every_set(problem, i), rows.type[problem.row_of[k]]
        sets = sets[sets @ rows.worth[t][who] >= kinds.need[k] - 1e-12]
        least.append((sets @ table[t][who]).min(initial=np.inf))
        known.append({tuple(sorted(who[new].tolist())) for new in sets})
    little = {"nodes": int(rng.integers(3)), "numbers": 1, "through": 200, "each": 1, "turn": int(rng.integers(9))}
    for found, hard in ((swept(problem, duals), True), (swept(problem, duals, **little), False)):
        assert (found.value <= np.array(least) + hair).all() and (found.cost >= np.array(least) - hair).all()
        assert not hard or np.allclose(found.value, least, rtol=1e-9, atol=hair)
        price = np.full(len(least), np.inf)
        for k, label in zip(found.kind, labels_of(found.sets), strict=True):
            if hard or not np.isin(label, kinds.bar[kinds.bar_at[k] : kinds.bar_at[k + 1]]).any():  # else of its row
                assert tuple(sorted(label.tolist())) in known[k]
                price[k] = min(price[k], table[rows.type[problem.row_of[k]], label].sum())
        assert not hard or np.allclose(price, found.cost, rtol=1e-9, atol=hair)


@given(drawn(8, 7, ["least-share", "own-row", "prices", "forbidden", "most-per-task", "least-labels"], 3), SEEDS)
def test_what_is_asked_for_changes_no_bound(one, seed):
    """Prices of sets that are there leave out none of interest, at prices of any sign; kinds may be priced alone.

    Workers without room are in no set.
    """
    problem, rng = problem_of(one), np.random.default_rng(seed)
    close = {"rtol": 1e-9, "atol": 1e-7 * problem.unit}
    for owed in (0, 1, 2, 4, 8):  # what labels bring that a share or an own row is owed
        duals = multipliers(problem, rng)
        duals[problem.room.size :] += owed * problem.unit
        first = swept(problem, duals := problem.coupling.valid(duals))
        known = first.cost + rng.choice([0, 1], first.cost.size) * rng.random() * problem.unit
        assert np.allclose(first.value, swept(problem, duals, known=known).value, **close)
    mask = np.isin(np.arange(known.size), rng.integers(0, known.size, known.size))
    part = problem.part(np.flatnonzero(mask), 1.0)
    for found in (swept(problem, duals, some=mask).value[mask], swept(part, duals).value):
        assert np.allclose(first.value[mask], found, **close)
    room = np.minimum(rng.integers(0, 3, problem.room.size), np.where(problem.room > 0, problem.rows.size, 0))
    for label in labels_of(swept(problem, duals, room=room, through=300, each=1).sets):
        assert (np.bincount(label, minlength=room.size) <= room).all()
