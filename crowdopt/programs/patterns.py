"""The true minimum: how many tasks of each kind get which pattern of labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN, ClassVotes, least_class_errors, vote_errors
from crowdopt.errors import InputError
from crowdopt.programs.pools import Pools, pools_of

MANY = 1_000_000  # patterns of one kind that ``build`` looks through; beyond, they have to be generated
CELLS = 256  # beliefs among more than two classes up to which an error is exact
SCALE = 1e3  # of the row of errors: solvers' tolerances are absolute


@dataclass(frozen=True, eq=False)
class PatternSet:
    """Patterns to choose from: the kind of task each is for, labels of each pool, its error."""

    kind: Ints  # (k,)
    pattern: Ints  # (k, G)
    error: Floats  # (k,)


def of_menu(pools: Pools, menu: PatternSet, wrong: float | None = None) -> Program:
    """``min sum c_tP z_tP  s.t.  sum_P z_tP = n_t,  sum_tP (a_Pg - h)+ z_tP <= M_g(h+1) + ... + M_g(s)``, z whole.

    z_tP is the number of tasks of kind t with pattern P, ``c_tP = sum_g c_tg a_Pg``. The supply rows are exact: labels
    can be dealt to the workers of a pool just if they hold (crowdopt.programs.pools.Pools.rows).

    Columns: ``given`` (k,), the z. Rows: ``task`` (T,), ``supply`` (pools and depths,) [, ``budget`` (1,)]
    [, ``wrong`` (1,)].

    menu: the patterns to choose from, each with its error; wrong: at most so many wrong answers expected in all: ``sum
    e_tP z_tP <= wrong``, in units of 1/SCALE.
    """
    kinds, count = pools.tasks_in.size, menu.kind.size
    pool, depth, supply = pools.rows
    spent = (pools.cost[menu.kind] * menu.pattern).sum(axis=1)
    budget = pools.instance.budget
    of_kind = sparse.csr_array((np.ones(count), (menu.kind, np.arange(count))), shape=(kinds, count))
    rows: list[tuple[str, sparse.sparray, Floats, Floats]] = [
        ("task", of_kind, pools.tasks_in.astype(np.float64), pools.tasks_in.astype(np.float64)),
        ("supply", _beyond(menu, pool, depth), np.full(pool.size, -np.inf), supply),
    ]
    if budget is not None:
        rows.append(("budget", sparse.csr_array(spent[None]), np.array([-np.inf]), np.array([budget])))
    if wrong is not None:
        error = sparse.csr_array(SCALE * menu.error[None])
        rows.append(("wrong", error, np.array([-np.inf]), np.array([SCALE * wrong])))
    return Program(
        name="patterns",
        cost=spent,
        matrix=sparse.vstack([part for _, part, _, _ in rows], format="csc"),
        row_lower=np.concatenate([low for *_, low, _ in rows]),
        row_upper=np.concatenate([high for *_, high in rows]),
        lower=np.zeros(count),
        upper=pools.tasks_in[menu.kind].astype(np.float64),
        integer=np.ones(count, bool),
        columns=stack([("given", (count,))]),
        rows=stack([(name, (low.size,)) for name, _, low, _ in rows]),
    )


def _beyond(menu: PatternSet, pool: Ints, depth: Ints) -> sparse.csr_array:
    """Labels of a pool beyond the h-th of each pattern, a row for each pool and depth."""
    beyond = np.maximum(0, menu.pattern[:, pool] - depth).T.astype(np.float64)
    return sparse.csr_array(beyond)


def whole_menu(pools: Pools) -> PatternSet:
    """Every pattern that no other makes superfluous, kind by kind, by looking at all of them: for small instances.

    Under a rule for each task: those that keep its target and that no smaller one does. Under a rule for the average:
    all of them.
    """
    sizes = pools.sizes
    if np.prod(sizes + 1.0) > MANY:
        raise InputError("the workers allow too many patterns for one explicit program; solve it by method exact")
    every = np.array(list(product(*(range(size + 1) for size in sizes.tolist()))), dtype=np.int64)
    kinds, patterns, wrong = [], [], []
    for t in range(pools.tasks_in.size):
        errors = _errors(pools.skill[t], pools.prior[t], every)
        fine = (every.sum(axis=1) >= pools.fewest[t]) & (every.sum(axis=1) <= pools.most[t])
        if not pools.instance.the_rule.average:
            fine &= errors <= pools.epsilon[t] + CERTAIN
            fine = _minimal(every, fine)
        kinds.append(np.full(np.count_nonzero(fine), t))
        patterns.append(every[fine])
        wrong.append(errors[fine])
    return PatternSet(*(np.concatenate(part) for part in (kinds, patterns, wrong)))


def _errors(skill: Floats, prior: Floats, every: Ints) -> Floats:
    """At most what each pattern errs with; exact but among more classes for many labels that all differ."""
    starts, pool = (
        np.append(0, np.cumsum(every.sum(axis=1))),
        np.repeat(np.tile(np.arange(skill.size), len(every)), every.reshape(-1)),
    )
    if np.ndim(prior):
        return least_class_errors(ClassVotes(starts, skill[pool], np.tile(prior, (len(every), 1))), CELLS)
    odds = np.log(skill) - np.log1p(-skill)
    lean = np.full(len(every), np.log(prior) - np.log1p(-prior))
    above, width = vote_errors(starts, skill[pool], odds[pool], np.full(len(every), float(prior)), lean)
    return above - width


def _minimal(every: Ints, fine: np.ndarray) -> np.ndarray:
    """Of the patterns that will do, those that would not with any one label less."""
    allowed = {tuple(row) for row in every[fine].tolist()}
    steps = np.eye(every.shape[1], dtype=np.int64)
    minimal = fine.copy()
    for k in np.flatnonzero(fine):
        minimal[k] = not any(tuple(row) in allowed for row in (every[k] - steps).tolist())
    return minimal


def build(instance: AssignmentInstance) -> Program:
    """The program over all patterns of an instance, by exact errors whatever its rule; see :func:`of_menu`."""
    pools = pools_of(instance)
    average = instance.the_rule.average
    wrong = float(instance.epsilon.sum()) if average else None
    rule = instance.rule if average else EXACT_ERROR.name
    return replace(of_menu(pools, whole_menu(pools), wrong), about=f"by rule {rule}")
