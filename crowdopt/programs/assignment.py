"""The assignment program: the fewest, or cheapest, labels that give every task its evidence."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import has_joint_limits, labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule


def build(instance: AssignmentInstance) -> Program:
    """The program by the rule that ``about`` names: the instance's, or a linear one that implies it."""
    return of_sums(linear_of(instance), f"by {named_rule(instance)}")


def of_sums(instance: AssignmentInstance, about: str = "") -> Program:
    """``min sum c_ij y_ij  s.t.  sum_j q_ij y_ij >= C_i,  sum_i y_ij <= M_j,  y_ij in {0, 1}``.

    Ho et al. 2013, (1)-(3), priced as in their Section 7. Labels already in lower C_i and bar their pair. Beyond the
    paper, each only where the instance asks for it: ``min_load_j <= sum_i y_ij`` in the same row as the capacity;
    rows ``labels``, ``a_i <= sum_j y_ij <= b_i``; a row ``budget``, ``sum c_ij y_ij <= B``; forbidden and fixed pairs
    as bounds; the rows of groups and those of one's own (``_with_joint_rows``). Need and evidence are those of the
    instance's own rule: under a checked one that is what every plan has at least, not what is enough.

    Columns: ``y`` (tasks, workers). Rows: ``cover`` (tasks,), ``capacity`` (workers,) [, ``labels`` (tasks,)]
    [, ``budget`` (1,)] [, ``group`` (groups with limits per task, tasks)] [, ``most_share`` (groups,)]
    [, ``least_share`` (groups,)] [, ``own`` (rows,)]. A pair without evidence has no entry in its cover row.
    """
    n, m = instance.n_tasks, instance.n_workers
    kinds = instance.task_type
    cost = instance.cost[kinds]
    limited = has_label_limits(instance)
    rows = [("cover", (n,)), ("capacity", (m,))] + [("labels", (n,))] * limited
    rows += [("budget", (1,))] * (instance.budget is not None)
    blocks = stack(rows)
    parts = [instance.evidence[kinds], None] + [None] * limited + [cost] * (instance.budget is not None)
    lower, upper = _box(instance)
    program = Program(
        name="assignment",
        cost=np.ascontiguousarray(cost).reshape(-1),
        matrix=_columns(n, m, [(block.name, block.start, part) for block, part in zip(blocks, parts, strict=True)]),
        row_lower=np.concatenate(_row_lower(instance, limited)),
        row_upper=np.concatenate(_row_upper(instance, limited)),
        lower=lower,
        upper=upper,
        integer=np.ones(n * m, bool),
        columns=stack([("y", (n, m))]),
        rows=blocks,
        about=about,
    )
    return _with_joint_rows(program, instance)


def _with_joint_rows(program: Program, instance: AssignmentInstance) -> Program:
    """``a_gi <= sum_{j in g} y_ij <= b_gi``; ``sum_ij ([j in g] - s) y_ij <= s D - D_g`` (>= for the least share)."""
    # D labels are already in, D_g of them the group's. And the own rows as they are.
    if not has_joint_limits(instance):
        return program
    n, m = instance.n_tasks, instance.n_workers
    member = membership(instance).astype(np.float64)
    limited, fewest, most = task_limits(instance)
    if limited:
        rows = sparse.vstack([sparse.kron(sparse.eye_array(n), member[[g]]) for g in limited], format="csc")
        high = np.where(most == UNBOUNDED, np.inf, most)
        program = program.with_rows("group", (len(limited), n), rows, fewest, high)
    for name, share, bound in shares_of(instance):
        rows = np.tile(member[bound] - share[:, None], (1, n))
        side = share * len(instance.collected) - labels_had(instance)[bound].sum(axis=1)
        sides = (-np.inf, side) if name == "most_share" else (side, np.inf)
        program = program.with_rows(name, (len(bound),), rows, *sides)
    own = instance.own_rows
    if own is not None:
        place = (own.row, own.pairs[:, 0] * m + own.pairs[:, 1])
        entries = sparse.coo_array((own.coefficient, place), shape=(len(own.names), n * m))
        program = program.with_rows("own", (len(own.names),), entries, own.lower, own.upper)
    return program


def shares_of(instance: AssignmentInstance) -> list[tuple[str, Floats, list[int]]]:
    """The blocks of shares: name, shares, and positions of the groups that have them.

    -> list of (str, (k,) array, list of k ints): at most ``most_share`` and ``least_share``.
    """
    groups = instance.groups
    most = [g for g, group in enumerate(groups) if group.max_share < 1]
    least = [g for g, group in enumerate(groups) if group.min_share > 0]
    found = [
        ("most_share", np.array([groups[g].max_share for g in most]), most),
        ("least_share", np.array([groups[g].min_share for g in least]), least),
    ]
    return [block for block in found if block[2]]


def has_label_limits(instance: AssignmentInstance) -> bool:
    """Whether any task limits the number of its new labels beyond 0 and infinity."""
    fewest, most = instance.new_label_limits
    return bool((fewest > 0).any() or (most < UNLIMITED).any())


def _row_lower(instance: AssignmentInstance, limited: bool) -> list[Floats]:
    load = instance.min_load.astype(np.float64)
    sides = [instance.floor, np.where(load > 0, load, -np.inf)]
    if limited:
        sides.append(instance.new_label_limits[0].astype(np.float64))
    return sides + [np.array([-np.inf])] * (instance.budget is not None)


def _row_upper(instance: AssignmentInstance, limited: bool) -> list[Floats]:
    sides = [np.full(instance.n_tasks, np.inf), instance.capacity.astype(np.float64)]
    if limited:
        most = instance.new_label_limits[1]
        sides.append(np.where(most == UNLIMITED, np.inf, most))
    return sides + ([] if instance.budget is None else [np.array([instance.budget])])


def _box(instance: AssignmentInstance) -> tuple[Floats, Floats]:
    shape = (instance.n_tasks, instance.n_workers)
    lower, upper = np.zeros(shape), np.ones(shape)
    upper[tuple(instance.barred.T)] = 0.0
    lower[tuple(instance.fixed.T)] = 1.0
    return lower.reshape(-1), upper.reshape(-1)


def _columns(n: int, m: int, parts: list[tuple[str, int, Floats | None]]) -> sparse.csc_array:
    """The matrix, column by column: pair (i, j) has one entry per row block, of value 1 where none is given."""
    # Blocks of the tasks put it into row ``start + i``, capacity into ``start + j``, budget into ``start``.
    place = {"capacity": np.arange(m, dtype=np.int32)[None], "budget": np.zeros((1, 1), np.int32)}
    of_task = np.arange(n, dtype=np.int32)[:, None]
    index = np.empty((n, m, len(parts)), np.int32)
    value = np.ones((n, m, len(parts)))
    for k, (name, start, entries) in enumerate(parts):
        index[:, :, k] = start + place.get(name, of_task)
        if entries is not None:
            value[:, :, k] = entries
    shape = (max(start + {"capacity": m, "budget": 1}.get(name, n) for name, start, _ in parts), n * m)
    return _compress(index, value, shape)


def _compress(index: NDArray[np.int32], value: Floats, shape: tuple[int, int]) -> sparse.csc_array:
    depth = index.shape[-1]
    present = value != 0
    if present.all():
        ends = np.arange(0, value.size + 1, depth, dtype=np.int64)
    else:
        per_column = reduce(np.add, (present[..., k].astype(np.int64) for k in range(depth))).reshape(-1)
        ends = np.concatenate([[0], np.cumsum(per_column)])
        index, value = index[present], value[present]
    kind = np.int32 if value.size < 2**31 else np.int64
    return sparse.csc_array((value.reshape(-1), index.reshape(-1), ends.astype(kind)), shape=shape)
