"""The assignment program over classes: how many labels each class of tasks gets from each class of workers."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import Classes, classes_of, has_joint_limits, labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of
from crowdopt.programs.assignment import has_label_limits, shares_of


def of_classes(classes: Classes, whole: bool = False) -> Program:
    """``min sum c_tg u_tg  s.t.  sum_g q_tg u_tg >= n_t C_t,  sum_t u_tg <= s_g M_g,  0 <= u_tg <= n_t s_g``.

    Averaging a point of the assignment LP over each class keeps it feasible at equal cost, and sharing u equally
    undoes that: the optima agree. A row's multiplier is that of every member's row, so the full dual is read off.
    The box is ``n_t s_g`` even where the capacity is smaller: with the smaller one the optimum stays right but the
    multipliers are no longer those of the full program.

    Columns: ``u`` (T, G). Rows: ``cover`` (T,), ``capacity`` (G,) [, ``labels`` (T,)] [, ``budget`` (1,)]
    [, ``group`` (groups with limits per task, T)] [, ``most_share``, ``least_share``, ``own``], as in ``assignment``.

    whole: whether to add what holds for whole labels only: ``sum_g u_tg >= k_t n_t``, k_t the fewest labels with which
    a task of the class can reach its need.
    """
    kinds, groups = classes.evidence.shape
    instance, n = classes.instance, classes.tasks_in
    limited, frugal = whole or has_label_limits(instance), instance.budget is not None
    rows = stack(
        [("cover", (kinds,)), ("capacity", (groups,))] + [("labels", (kinds,))] * limited + [("budget", (1,))] * frugal
    )
    fewest = classes.cardinality if whole else classes.fewest
    most = np.where(classes.most == UNLIMITED, np.inf, n * np.minimum(classes.most, 2**40).astype(np.float64))
    load, room = classes.loads
    lower = [n * classes.floor, np.where(load > 0, load, -np.inf)] + [(n * fewest).astype(np.float64)] * limited
    upper = [np.full(kinds, np.inf), room] + [most] * limited
    if instance.budget is not None:
        lower, upper = [*lower, np.array([-np.inf])], [*upper, np.array([instance.budget])]
    program = Program(
        name="aggregated",
        cost=classes.cost.reshape(-1).copy(),
        matrix=_matrix(classes, rows[-1].stop, limited, frugal),
        row_lower=np.concatenate(lower),
        row_upper=np.concatenate(upper),
        lower=(n[:, None] * classes.least).astype(np.float64).reshape(-1),
        upper=(n[:, None] * classes.room).astype(np.float64).reshape(-1),
        integer=np.zeros(kinds * groups, bool),
        columns=stack([("u", (kinds, groups))]),
        rows=rows,
    )
    return _with_joint_rows(program, classes) if has_joint_limits(instance) else program


def _with_joint_rows(program: Program, classes: Classes) -> Program:
    """``n_t a_h <= sum_{g in h} u_tg <= n_t b_h`` for a group h; shares and own rows as they are."""
    # A class of workers is in a group or is not, a pair in an own row is a class of tasks and one of workers.
    instance, n = classes.instance, classes.tasks_in
    task, worker = classes.first_task, classes.first_worker
    member = membership(instance)[:, worker].astype(np.float64)
    limited, fewest, most = task_limits(instance)
    if limited:
        rows = sparse.vstack([sparse.kron(sparse.eye_array(n.size), member[[h]]) for h in limited], format="csc")
        high = np.where(most[:, task] == UNBOUNDED, np.inf, n * most[:, task].astype(np.float64))
        program = program.with_rows("group", (len(limited), n.size), rows, n * fewest[:, task], high)
    for name, share, bound in shares_of(instance):
        side = share * len(instance.collected) - labels_had(instance)[bound].sum(axis=1)
        sides = (-np.inf, side) if name == "most_share" else (side, np.inf)
        program = program.with_rows(name, (len(bound),), np.tile(member[bound] - share[:, None], (1, n.size)), *sides)
    own = instance.own_rows
    if own is not None:
        entries = own_entries(classes)
        program = program.with_rows("own", (len(own.names),), entries, own.lower, own.upper)
    return program


def own_entries(classes: Classes) -> sparse.csr_array:
    """Coefficients of own rows for a label of a class of workers to a class of tasks, (rows, T G)."""
    own = classes.instance.own_rows
    assert own is not None
    task, worker = classes.first_task, classes.first_worker
    first = np.isin(own.pairs[:, 0], task) & np.isin(own.pairs[:, 1], worker)  # those of a class all have the same
    column = classes.task_class[own.pairs[:, 0]] * worker.size + classes.worker_class[own.pairs[:, 1]]
    place = own.row[first], column[first]
    return sparse.csr_array((own.coefficient[first], place), shape=(len(own.names), task.size * worker.size))


def _matrix(classes: Classes, rows: int, limited: bool, frugal: bool) -> sparse.csc_array:
    kinds, groups = classes.evidence.shape
    kind, group = (part.reshape(-1) for part in np.indices((kinds, groups), dtype=np.int32))
    index, value = [kind, kinds + group], [classes.evidence.reshape(-1), np.ones(kind.size)]
    if limited:
        index, value = [*index, kinds + groups + kind], [*value, np.ones(kind.size)]
    if frugal:
        index, value = [*index, np.full(kind.size, rows - 1, np.int32)], [*value, classes.cost.reshape(-1)]
    # column by column, as CSC has it: what is 0 leaves no entry
    entries, present = np.column_stack(value), np.column_stack(value) != 0
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    return sparse.csc_array((entries[present], np.column_stack(index)[present], ends), shape=(rows, kind.size))


def build(instance: AssignmentInstance, whole: bool = False) -> Program:
    """The aggregated LP of an instance; see :func:`of_classes`."""
    return of_classes(classes_of(linear_of(instance)), whole)
