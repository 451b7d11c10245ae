"""The selection program: whom to hire, as one choice of a size and so many workers."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack
from crowdopt.crowd.hiring.candidates import SelectionInstance


def build(instance: SelectionInstance) -> Program:
    """``min - sum_ki G_i/sqrt(k) w_ki  s.t.  w_ki <= u_k,  sum_i w_ki = k u_k,  sum_k u_k = 1,  w >= 0,  u in {0, 1}``.

    Problem (11) of Li & Liu 2015 as a linear program but for u, whose relaxation has the same optimum: each size's w
    are the bases of a matroid. Beyond the paper, each only where the instance asks for it: a required worker is in
    (``w_ki = u_k`` in the row ``member``), a barred one out (``w_ki <= 0``); rows ``group``,
    ``sum_{i in g} w_ki >= r_g u_k``; rows ``family``, ``sum_{i in g} w_ki <= s_g u_k``; rows ``money``,
    ``sum_i c_i w_ki <= B u_k``, with ``hired_i = sum_k w_ki`` in {0, 1} by rows ``whole``, since money makes fractions
    worth while.

    Columns: ``u`` (sizes,), ``w`` (sizes, workers) [, ``hired`` (workers,)]. Rows: ``member`` (sizes, workers),
    ``count`` (sizes,), ``one`` (1,) [, ``group`` (sizes, groups)] [, ``family`` (sizes, groups)] [, ``money`` (sizes,),
    ``whole`` (workers,)].
    """
    sizes, m = instance.sizes, instance.n_workers
    k = np.arange(1, sizes + 1)
    cost = -(instance.gain / np.sqrt(k)[:, None]).reshape(-1)
    parts = [_member(instance), _count(instance), _one(instance), *_groups(instance), *_money(instance)]
    priced = m if instance.money is not None else 0
    matrix = sparse.vstack([rows for _, _, rows, _, _ in parts], format="csc")
    matrix.eliminate_zeros()
    upper = np.ones((sizes, m))
    upper[:, instance.barred] = 0.0
    return Program(
        name="selection",
        cost=np.concatenate([np.zeros(sizes), cost, np.zeros(priced)]),
        matrix=matrix,
        row_lower=np.concatenate([lower for _, _, _, lower, _ in parts]),
        row_upper=np.concatenate([above for _, _, _, _, above in parts]),
        lower=np.zeros(sizes + sizes * m + priced),
        upper=np.concatenate([np.ones(sizes), upper.reshape(-1), np.ones(priced)]),
        integer=np.concatenate([np.ones(sizes, bool), np.zeros(sizes * m, bool), np.ones(priced, bool)]),
        columns=stack([("u", (sizes,)), ("w", (sizes, m)), *[("hired", (m,))] * bool(priced)]),
        rows=stack([(name, shape) for name, shape, _, _, _ in parts]),
    )


def chosen(program: Program, point: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The workers of a point, (columns,): of its largest ``u_k`` the k largest ``w_ki``, ascending."""
    u, w = program.column("u").view(point), program.column("w").view(point)
    size = int(np.argmax(u)) + 1
    return np.sort(np.argsort(-w[size - 1], kind="stable")[:size])


Rows = tuple[str, tuple[int, ...], sparse.sparray, Floats, Floats]


def _wide(instance: SelectionInstance, on_u: sparse.sparray, on_w: sparse.sparray) -> sparse.sparray:
    """Rows over u and w, with room for ``hired``."""
    spare = instance.n_workers if instance.money is not None else 0
    return sparse.hstack([on_u, on_w, sparse.csr_array((on_u.shape[0], spare))], format="csr")


def _member(instance: SelectionInstance) -> Rows:
    sizes, m = instance.sizes, instance.n_workers
    on_u = sparse.kron(sparse.eye_array(sizes), np.full((m, 1), -1.0))
    lower = np.full((sizes, m), -np.inf)
    lower[:, instance.required] = 0.0
    rows = _wide(instance, on_u, sparse.eye_array(sizes * m))
    return "member", (sizes, m), rows, lower.reshape(-1), np.zeros(sizes * m)


def _count(instance: SelectionInstance) -> Rows:
    sizes, m = instance.sizes, instance.n_workers
    on_u = sparse.diags_array(-np.arange(1.0, sizes + 1))
    rows = _wide(instance, on_u, sparse.kron(sparse.eye_array(sizes), np.ones((1, m))))
    return "count", (sizes,), rows, np.zeros(sizes), np.zeros(sizes)


def _one(instance: SelectionInstance) -> Rows:
    sizes, m = instance.sizes, instance.n_workers
    rows = _wide(instance, sparse.csr_array(np.ones((1, sizes))), sparse.csr_array((1, sizes * m)))
    return "one", (1,), rows, np.ones(1), np.ones(1)


def _groups(instance: SelectionInstance) -> list[Rows]:
    sizes, groups = instance.sizes, instance.n_groups
    inside = sparse.csr_array(np.asarray(instance.group) == np.arange(groups)[:, None], dtype=np.float64)
    none, free = np.zeros(sizes * groups), np.full(sizes * groups, np.inf)

    def rows(number: Ints) -> sparse.sparray:
        on_u = sparse.kron(sparse.eye_array(sizes), -number[:, None].astype(np.float64))
        return _wide(instance, on_u, sparse.kron(sparse.eye_array(sizes), inside))

    found: list[Rows] = []
    if instance.fewest.any():
        found.append(("group", (sizes, groups), rows(instance.fewest), none, free))
    if instance.limits_groups:
        found.append(("family", (sizes, groups), rows(instance.most_each), -free, none))
    return found


def _money(instance: SelectionInstance) -> list[Rows]:
    if instance.money is None or instance.price is None:
        return []
    sizes, m = instance.sizes, instance.n_workers
    on_u = -instance.money * sparse.eye_array(sizes)
    money = _wide(instance, on_u, sparse.kron(sparse.eye_array(sizes), instance.price[None]))
    over_sizes = sparse.kron(np.ones((1, sizes)), sparse.eye_array(m))
    whole = sparse.hstack([sparse.csr_array((m, sizes)), over_sizes, -sparse.eye_array(m)])
    return [
        ("money", (sizes,), money, np.full(sizes, -np.inf), np.zeros(sizes)),
        ("whole", (m,), whole, np.zeros(m), np.zeros(m)),
    ]
