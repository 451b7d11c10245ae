"""A linear or integer program as named blocks over one sparse matrix.

Numbers by name, as an option has them: ``price=20,confidence=.95``.

The mechanical dual of a linear program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from crowdopt.arrays import Bools, Floats
from crowdopt.errors import InputError, public
from crowdopt.notebooks import InNotebooks


def named_numbers(text: str, kind: type[Any], owner: str, example: str) -> dict[str, float]:
    """The numbers by name; nothing where the text is empty.

    kind: a dataclass, its fields the names; example: ``price=20``. Raises InputError for a name that the class does not
    have, and for what is no finite number.
    """
    known = [field.name for field in fields(kind)]
    given: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in known:
            raise InputError(f"unknown word {name!r} of {owner}; there are {', '.join(known)}, as in {example}")
        try:
            given[name] = float(value)
        except ValueError:
            like = example.partition("=")[2]
            raise InputError(f"{name} of {owner} needs a number, as in {name}={like}, not {value!r}") from None
        if not isfinite(given[name]):
            raise InputError(f"{name} of {owner} needs a finite number, not {value!r}")
    return given


WHOLE = 1e-9  # absolute; a side this near an integer is one that was written in too few digits


@dataclass(frozen=True)
class Block:
    """A named stretch of columns or rows that reads as an array of a given shape."""

    name: str
    shape: tuple[int, ...]
    start: int = 0

    @property
    def size(self) -> int:
        """Number of columns or rows in the block."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """First index behind the block."""
        return self.start + self.size

    @property
    def span(self) -> slice:
        """The block's place in a flat vector."""
        return slice(self.start, self.stop)

    def view(self, flat: NDArray[Any]) -> NDArray[Any]:
        """The block's part of a flat vector, in the block's shape (a view, no copy)."""
        return flat[self.span].reshape(self.shape)


def stack(parts: Iterable[tuple[str, tuple[int, ...]]]) -> tuple[Block, ...]:
    """Blocks laid end to end: ``stack([("cover", (n,)), ("capacity", (m,))])``."""
    blocks: list[Block] = []
    start = 0
    for name, shape in parts:
        blocks.append(Block(name, shape, start))
        start = blocks[-1].stop
    return tuple(blocks)


def find(blocks: tuple[Block, ...], name: str) -> Block:
    """The block of that name; KeyError names those there are."""
    for block in blocks:
        if block.name == name:
            return block
    raise KeyError(f"no block {name!r}; there are {[block.name for block in blocks]}")


@dataclass(frozen=True, eq=False)
class Program(InNotebooks):
    """``min c'x  s.t.  row_lower <= A x <= row_upper,  lower <= x <= upper,  x_k integer for k in integer``.

    Always a minimum. An absent side is infinite. ``columns`` and ``rows`` name every index.

    Parameters
    ----------
    name : str
        What the program is, for messages and file names.
    cost : (columns,) array
        Objective, in the unit of the objective per unit of the column.
    matrix : (rows, columns) sparse array
        Kept column by column (CSC).
    row_lower, row_upper : (rows,) arrays
        The sides of each row.
    lower, upper : (columns,) arrays
        The box.
    integer : (columns,) bool array
        Which columns must be integers.
    columns, rows : tuple of Block
        They tile the index ranges without gaps, in order.
    about : str
        What else is to be known of it, such as by which rule it is written: a comment in its files.

    Raises
    ------
    ValueError
        If shapes do not fit, a number is NaN, or the blocks do not tile the indices.
    """

    name: str
    cost: Floats
    matrix: sparse.csc_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integer: Bools
    columns: tuple[Block, ...]
    rows: tuple[Block, ...]
    about: str = ""

    def __post_init__(self) -> None:
        for side, count in (("columns", self.cost.size), ("rows", self.row_lower.size)):
            _check_tiling(self.name, side, getattr(self, side), count)
        rows, columns = self.row_lower.shape, self.cost.shape
        expected = {"row_lower": rows, "row_upper": rows, "lower": columns, "upper": columns}
        for field, shape in {"cost": columns, "integer": columns, **expected}.items():
            array = getattr(self, field)
            if array.shape != shape:
                raise ValueError(f"program {self.name}: {field} has shape {array.shape}, not {shape}")
            if np.isnan(array).any():
                raise ValueError(f"program {self.name}: {field} contains NaN")
            array.setflags(write=False)
        if self.matrix.shape != (*rows, *columns):
            raise ValueError(f"program {self.name}: the matrix is {self.matrix.shape}, not {(*rows, *columns)}")
        if not np.isfinite(self.matrix.data).all():
            raise ValueError(f"program {self.name}: the matrix contains NaN or infinity")
        if not self.matrix.has_canonical_format:  # a column that names a row twice keeps HiGHS busy for ever
            object.__setattr__(self, "matrix", self.matrix.copy())
            self.matrix.sum_duplicates()
        for array in (self.matrix.data, self.matrix.indices, self.matrix.indptr):
            array.setflags(write=False)

    def column(self, name: str) -> Block:
        """The block of columns of that name."""
        return find(self.columns, name)

    def row(self, name: str) -> Block:
        """The block of rows of that name."""
        return find(self.rows, name)

    def with_rows(
        self, name: str, shape: tuple[int, ...], matrix: Any, lower: ArrayLike, upper: ArrayLike = np.inf
    ) -> Program:
        """The program with one more block of rows, ``lower <= matrix x <= upper``.

        Bounds and certificates know the new rows like any other: their multipliers are part of the proof.

        Parameters
        ----------
        name : str
            Of the block; no other may have it.
        shape : tuple of int
            Of the block: as many rows as the matrix has.
        matrix : (rows, columns) array or sparse array
        lower, upper : float or array of the block's shape
            The sides; infinite where there is none.

        Raises
        ------
        ValueError
            If the name is taken, shapes do not fit, or a number is NaN.
        """
        if name in {block.name for block in self.rows}:
            raise ValueError(f"program {self.name} has a block of rows {name!r}; choose another name")
        entries, size = sparse.csc_array(matrix, dtype=np.float64), prod(shape)
        if entries.shape != (size, self.cost.size):
            wanted = (size, self.cost.size)
            raise ValueError(f"rows {name} of shape {shape}: the matrix is {entries.shape}, not {wanted}")
        sides = []
        for end in (lower, upper):
            array = np.asarray(end, dtype=np.float64)
            if array.ndim and array.shape != shape:
                raise ValueError(f"rows {name}: a side has shape {array.shape}, not {shape}")
            sides.append(np.broadcast_to(array, shape).reshape(-1))
        return replace(
            self,
            matrix=sparse.csc_array(sparse.vstack([self.matrix, entries], format="csc")),
            row_lower=np.concatenate([self.row_lower, sides[0]]),
            row_upper=np.concatenate([self.row_upper, sides[1]]),
            rows=stack([*((block.name, block.shape) for block in self.rows), (name, shape)]),
        )

    def with_whole_sides(self) -> Program:
        """The same integer program, the sides of its integer columns rounded inwards to integers.

        Solvers are not to be trusted with other sides: HiGHS 1.15 calls false optima of such programs optimal.
        """
        if not self.integer.any():
            return self
        lower = np.where(self.integer, np.ceil(self.lower - WHOLE), self.lower)
        upper = np.where(self.integer, np.floor(self.upper + WHOLE), self.upper)
        same = np.array_equal(lower, self.lower) and np.array_equal(upper, self.upper)
        return self if same else replace(self, lower=lower, upper=upper)

    @property
    def has_crossed_sides(self) -> bool:
        """Whether some lower side is above its upper one by more than rounding, so that there is no point."""
        return bool((self.lower > self.upper + WHOLE).any() or (self.row_lower > self.row_upper + WHOLE).any())

    @cached_property
    def has_integral_values(self) -> bool:
        """Whether every feasible point has an integer objective, so that bounds may be rounded up."""
        costly = self.cost != 0
        return bool(self.integer[costly].all() and (self.cost == np.rint(self.cost)).all())


def _check_tiling(program: str, side: str, blocks: tuple[Block, ...], count: int) -> None:
    start = 0
    for block in blocks:
        if block.start != start:
            raise ValueError(f"program {program}: block {block.name} of {side} starts at {block.start}, not {start}")
        start = block.stop
    if start != count:
        raise ValueError(f"program {program}: blocks name {start} {side}, there are {count}")


def extended(
    base: Program, parts: Iterable[tuple[str, tuple[int, ...]]], entries: sparse.sparray, *, cost: Any, upper: Any
) -> Program:
    """The linear program with more columns, at least 0, behind its own; its own columns then cost nothing.

    base: without integer columns; parts sequence of (name, shape): the new blocks of columns; entries
    (rows, new columns) sparse array: the new columns' coefficients; cost, upper float or (new columns,) array: of the
    new columns.
    """
    more = entries.shape[1]
    columns = stack([*((block.name, block.shape) for block in base.columns), *parts])
    return replace(
        base,
        cost=np.append(np.zeros_like(base.cost), np.broadcast_to(cost, more)),
        matrix=sparse.csc_array(sparse.hstack([base.matrix, entries], format="csc")),
        lower=np.append(base.lower, np.zeros(more)),
        upper=np.append(base.upper, np.broadcast_to(upper, more)),
        integer=np.zeros(base.cost.size + more, bool),
        columns=columns,
    )


@public
def relax(program: Program) -> Program:
    """The linear relaxation: the same program with no integer columns."""
    return replace(program, name=f"{program.name}-lp", integer=np.zeros_like(program.integer))


@dataclass(frozen=True, eq=False)
class _Side:
    """One finite side of a block of the primal: a block of dual columns, all of them >= 0."""

    name: str
    shape: tuple[int, ...]
    entries: sparse.csc_array  # (primal columns, size): its part of A'y + w - t
    worth: Floats  # its part of the dual objective, to be maximised
    present: NDArray[np.bool_]


def dualize(program: Program) -> Program:
    """The LP dual, written as a minimum.

    ``max  r_l'y+ - r_u'y- + l'w - u't   s.t.  A'(y+ - y-) + w - t = c,  all >= 0``, one block of columns for
    each side of each block that is finite somewhere: ``cover.lower``, ``capacity.upper``, ``y.upper``. A column
    whose lower side is 0 needs no w: its dual row is ``A'(y+ - y-) - t <= c`` instead. The dual's optimum is
    minus the primal's. Rows keep the names of the primal's columns.

    Raises ValueError if the program has integer columns: relax it first.
    """
    if program.integer.any():
        raise ValueError(f"program {program.name} has integer columns: dualize(relax(program))")
    sides = [*_row_sides(program), *_column_sides(program)]
    count = program.cost.size
    entries = [side.entries for side in sides] or [sparse.csc_array((count, 0))]
    present = np.concatenate([side.present for side in sides] or [np.zeros(0, bool)])
    rests_at_zero = program.lower == 0
    return Program(
        name=f"{program.name}-dual",
        cost=-np.concatenate([side.worth for side in sides] or [np.zeros(0)]),
        matrix=sparse.hstack(entries, format="csc"),
        row_lower=np.where(rests_at_zero, -np.inf, program.cost),
        row_upper=program.cost.copy(),
        lower=np.zeros(present.size),
        upper=np.where(present, np.inf, 0.0),
        integer=np.zeros(present.size, bool),
        columns=stack((side.name, side.shape) for side in sides),
        rows=program.columns,
        about=program.about,
    )


def _row_sides(program: Program) -> list[_Side]:
    transposed = program.matrix.T.tocsc()
    sides = []
    for block in program.rows:
        part = transposed[:, block.span]
        sides.append(_side(block, "lower", part, program.row_lower[block.span]))
        sides.append(_side(block, "upper", -part, -program.row_upper[block.span]))
    return [side for side in sides if side.present.any()]


def _column_sides(program: Program) -> list[_Side]:
    identity = sparse.eye_array(program.cost.size, format="csc")
    sides = []
    for block in program.columns:
        part, floor = identity[:, block.span], program.lower[block.span]
        sides.append(_side(block, "lower", part, np.where(floor == 0, np.inf, floor)))
        sides.append(_side(block, "upper", -part, -program.upper[block.span]))
    return [side for side in sides if side.present.any()]


def _side(block: Block, name: str, entries: sparse.csc_array, worth: Floats) -> _Side:
    present = np.isfinite(worth)
    return _Side(f"{block.name}.{name}", block.shape, entries, np.where(present, worth, 0.0), present)
