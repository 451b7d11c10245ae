"""What a judge's call used, and what that costs by a table of prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.errors import InputError
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import TOKEN_PRICES

MILLION = 1e6  # tokens that a price of tokens is for
CALLS = 1000  # that a judge's price is for: that of one call would be too small a number
YES, NO = {"yes", "true", "1"}, {"", "no", "false", "0"}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, each counted once; and the money that the tool itself says they cost."""

    sent: float = 0.0  # the input that no cache had
    returned: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        money = None if self.cost is None or other.cost is None else self.cost + other.cost
        sent, returned, read, written = (self.tokens + other.tokens).tolist()
        return Usage(sent, returned, read, written, money)

    @property
    def tokens(self) -> Floats:
        """(4,): in the order of a row of prices."""
        return np.array([self.sent, self.returned, self.cache_read, self.cache_write])


def usage_of(
    sent: Any, returned: Any, cache_read: Any = None, cache_write: Any = None, *, total: Any = None, cost: Any = None
) -> Usage | None:
    """Usage from a tool's counts; None where it counts no token and no cost, as of a call that failed.

    Some tools count cached tokens within the input, some beside it: they are within where ``total`` is the sum of input
    and output alone.
    """
    given = [_amount(value) for value in (sent, returned, cache_read, cache_write)]
    money = _amount(cost)
    if money is None and not any(given):
        return None
    fresh, output, read, written = (value or 0.0 for value in given)
    whole = _amount(total)
    if whole is not None and whole == fresh + output and read + written <= fresh:
        fresh -= read + written
    return Usage(fresh, output, read, written, money)


def _amount(value: Any) -> float | None:
    try:
        number = None if isinstance(value, bool) or value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and 0 <= number < np.inf else None


def prices_of_labels(used: Mapping[str, list[Usage]], workers: Sequence[str], table: TableLike | None) -> Floats:
    """Price of 1000 calls of each worker, (workers,): by prices of tokens, else what the tool says they cost.

    used: worker -> usage of each call, those without an answer too, for they are paid as well.
    """
    if table is None:
        return CALLS * np.array([_said(used.get(name, []), name) for name in workers])
    price = _read_prices(table)
    return CALLS * np.array([_by_tokens(used.get(name, []), name, price.get(name)) for name in workers])


def _said(calls: list[Usage], worker: str) -> float:
    costs = [call.cost for call in calls if call.cost is not None]
    if not costs or len(costs) < len(calls):
        raise InputError(f"the log does not say what each call of {worker} cost; give prices with --token-prices")
    return float(np.mean(costs))


def _by_tokens(calls: list[Usage], worker: str, price: Floats | None) -> float:
    if price is None:
        raise InputError(f"the prices of tokens have no row for {worker}; add one, with 0 if they cost nothing")
    if not price.any():
        return 0.0
    if not calls:
        raise InputError(f"the log has no tokens of {worker}; if they cost nothing, say 0 in the prices of tokens")
    return float(np.mean([call.tokens for call in calls], axis=0) @ price)


def _read_prices(source: TableLike) -> dict[str, Floats]:
    """Worker -> price of a token sent, returned, read from and written to a cache, (4,)."""
    # A cache's tokens cost what sent ones do where nothing is said; whatever is asked as a batch costs half.
    table = read_table(source, TOKEN_PRICES)
    columns = [table.numbers(name) for name in ("input", "output")]
    for name in ("cache_read", "cache_write"):
        given = table.numbers(name, np.nan) if name in table else np.full(table.rows, np.nan)
        columns.append(np.where(np.isnan(given), columns[0], given))
    rows = np.column_stack(columns) / MILLION
    for row in np.flatnonzero((rows < 0).any(axis=1))[:1].tolist():
        raise table.error(row, "input", "a price is negative; a token costs at least 0")
    batch = [cell.lower() for cell in table["batch"]] if "batch" in table else [""] * table.rows
    for row, cell in enumerate(batch):
        if cell not in YES | NO:
            raise table.error(row, "batch", f"{cell!r} is neither yes nor no; write one of them")
    half = np.where([cell in YES for cell in batch], 0.5, 1.0)
    return dict(zip(table.unique_ids("worker"), rows * half[:, None], strict=True))
