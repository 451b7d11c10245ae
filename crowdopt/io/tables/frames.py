"""Tables at hand in Python: pandas, Polars and Arrow tables, or columns by name, as columns of cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from crowdopt.errors import InputError
from crowdopt.io.tables.stored_tables import as_text

MISSING = ("", "nan", "NaN", "NaT", "<NA>", "None")  # what a cell without a value prints as
NAME = "the table"  # in sentences, where a file has its name


class Frame(Protocol):
    """A table at hand: its columns by name."""

    def __getitem__(self, name: Any, /) -> Any:
        """The cells of a column."""


TableLike: TypeAlias = str | Path | Frame  # a file, or a table at hand


def is_frame(given: object) -> bool:
    """Whether this is a table at hand, and not the name of a file."""
    return not isinstance(given, str | Path)


def name_of(given: TableLike) -> str:
    """What a sentence calls the table."""
    return Path(given).name if isinstance(given, str | Path) else NAME


def opened_frame(frame: Any) -> Any:
    """A frame with cells in it: a lazy one is worked out, and what has but a stream of Arrow becomes a table."""
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        return frame.collect()
    lasting = not hasattr(frame, "read_all")  # a reader's stream flows once, and tables are looked at twice
    if hasattr(frame, "__arrow_c_stream__") and lasting and not hasattr(frame, "columns"):
        try:
            import pyarrow
        except ImportError:
            raise InputError(f"{type(frame).__name__} needs pyarrow: pip install 'crowdopt[frames]'") from None
        return pyarrow.table(frame)
    return frame


def cells_at_hand(frame: Frame) -> tuple[list[str], list[list[str]], int]:
    """Header, columns of cells and the number of rows, as :func:`io.tables.cells.cells_of` has them of a file."""
    frame = opened_frame(frame)
    names = columns_at_hand(frame)
    columns = [[_cell(cell) for cell in _values(frame[name])] for name in names]
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"{NAME} has columns of unequal lengths; give each row a cell in every column")
    return [str(name).strip() for name in names], columns, len(columns[0])


def columns_at_hand(frame: Any) -> list[Any]:
    """Names of the columns; InputError where it is no table."""
    frame = opened_frame(frame)
    if isinstance(frame, Mapping):
        names = list(frame)
    else:  # Arrow has them under column_names, pandas and Polars under columns
        names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    if not names:
        raise InputError(f"a table is a file, a frame, or columns by name, not {type(frame).__name__}")
    return names


def index_names(source: object) -> list[str]:
    """Names of a pandas frame's index, which is no column."""
    return [str(name) for name in getattr(getattr(source, "index", None), "names", ()) if name is not None]


def _values(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; Polars and pandas; NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _cell(value: Any) -> str:
    text = as_text(value)
    return "" if text in MISSING and not isinstance(value, str) else text
