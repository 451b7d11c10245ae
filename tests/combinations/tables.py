"""Rows of measured campaigns as tables: by size, by skills, by wish, and the worst of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from tests.combinations.measured import Row
from tests.draw import RULES, SKILLS, WISHES

WORST = 10
COLUMNS = "campaigns | with a plan | gap, median | 90 % | worst | no bound | late | gave up | dear | errors | false"
HEAD = f"| {{}} | {COLUMNS} |\n{'|---' * (COLUMNS.count('|') + 2)}|"


def report(rows: Sequence[Row]) -> str:
    """All tables, a size after another."""
    pages = []
    for size in dict.fromkeys(row.size for row in rows):
        some = [row for row in rows if row.size == size]
        pages.append(f"## {size}, {some[0].limit:g} s\n\n{HEAD.format('drawn')}\n{_line('all', some)}")
        pages.append(_table("skills", SKILLS, some, lambda row, name: row.skills == name))
        pages.append(_table("wish", [*RULES, *WISHES], some, lambda row, name: name in row.wishes))
        pages.append("\n".join(["The worst:", "", *(f"- {sentence(row)}" for row in worst(some))]))
    return "\n\n".join(pages)


def brief(rows: Sequence[Row]) -> str:
    """A line for each size and method; where one method planned all, for each skills as well."""
    lines, methods = [], {row.method for row in rows}
    for size, method in dict.fromkeys((row.size, row.method) for row in rows):
        some = [row for row in rows if (row.size, row.method) == (size, method)]
        by = f", {method}" if len(methods) > 1 else ""
        lines.append(_line(f"{size}, {some[0].limit:g} s{by}", some))
        if len(methods) == 1:
            lines += [_line(f"{size}, {name}", [row for row in some if row.skills == name]) for name in SKILLS]
    return "\n".join([HEAD.format("drawn"), *(line for line in lines if line)])


def _table(head: str, names: Sequence[str], rows: Sequence[Row], has: Callable[[Row, str], bool]) -> str:
    lines = [_line(name, [row for row in rows if has(row, name)]) for name in names]
    return "\n".join([HEAD.format(head), *(line for line in lines if line)])


def _line(name: str, rows: Sequence[Row]) -> str:
    """One line; nothing where there are no rows."""
    if not rows:
        return ""
    feasible = [row for row in rows if row.feasible]
    gaps = [row.gap for row in feasible if row.gap is not None]
    middle = [f"{100 * q:.3f} %" for q in np.quantile(gaps, [0.5, 0.9, 1.0])] if gaps else ["–"] * 3
    planned = sum(row.cost is not None for row in feasible)
    numbers = [len(rows), f"{planned} of {len(feasible)}", *middle, planned - len(gaps)]
    counted = [(row.late, row.gave_up, row.dear, bool(row.raised), bool(row.false)) for row in rows]
    numbers += [sum(column) for column in zip(*counted, strict=True)]
    return f"| {name} | " + " | ".join(map(str, numbers)) + " |"


def failed(row: Row) -> bool:
    """Whether it is one to be mended."""
    return bool(row.false or row.raised or row.lacking or row.late)


def worst(rows: Sequence[Row]) -> list[Row]:
    """False claims first, then errors, no plan, time not kept, gaps."""

    def order(row: Row) -> tuple[float, ...]:
        gap = row.gap if row.gap is not None else inf if row.feasible else 0.0
        return -bool(row.false), -bool(row.raised), -row.lacking, -row.late, -gap

    return sorted(rows, key=order)[:WORST]


def sentence(row: Row) -> str:
    """One row, to be drawn again by its size and seed."""
    about = f"--size {row.size} --only {row.seed}: {row.skills}; {', '.join(row.wishes)}: {row.status}"
    gap = "" if row.gap is None else f", gap {100 * row.gap:.3f} %"
    cost = "no plan" if row.cost is None else f"cost {row.cost:.8g}"
    bound = "no bound" if row.bound is None else f"bound {row.bound:.8g}"
    known = "none" if row.known is None else f"{row.known:.8g}"
    marks = "".join(f" ({word})" for word in ("late", "gave_up", "dear") if getattr(row, word)).replace("_", " ")
    said = "".join(f"; {one}" for one in (*row.false, row.raised) if one)
    return f"{about}, {cost}, {bound}{gap}, known {known}, {row.seconds:.2f} s{marks}{said}"
