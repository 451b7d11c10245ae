"""Many trials summed up: means with intervals, and differences between policies that saw the same crowd."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Floats

Row: TypeAlias = Mapping[str, Any]
Columns: TypeAlias = tuple[tuple[str, str, str], ...]  # title, figure and form of what is shown of each policy

NUMBER = re.compile(r"\d[\d.]*")
LEVEL = 0.95  # of the intervals
ROW = 250.0  # numbers of 64 bits that a row of a study takes, at least
BASELINE = "greedy"  # stands beside every ratio
AGAINST = ("ratio_bound", "error_realised", "cost")


def summarise(
    rows: Sequence[Row], order: Sequence[str], reference: str, against: Sequence[str] = AGAINST
) -> list[dict[str, Any]]:
    """One line per policy, in the given order: the mean of every figure, half-widths, differences to the reference.

    Intervals are Student's over trials; a difference is taken within each trial, where both policies saw the same
    order of workers and the same labels of each pair.

    rows: with ``text``, the policy as asked for, and ``trial``; reference: the policy to which the figures ``against``
    are compared; against: names of figures; -> each figure, its ``_half``, and those compared with ``_minus_`` the
    reference.
    """
    by_text = {text: [row for row in rows if row["text"] == text] for text in order}
    base = by_text.get(reference, [])
    return [_line(text, by_text[text], base, reference, against) for text in order if by_text[text]]


def shown_of(summary: Sequence[Row], columns: Columns, most: int) -> list[dict[str, Any]]:
    """So many policies, and the figures that are shown of each under their titles."""
    named = [("policy", "policy"), *((title, key) for title, key, _ in columns)]
    return [{title: line.get(key) for title, key in named} for line in summary[:most]]


def _line(
    text: str, rows: Sequence[Row], reference: Sequence[Row], name: str, compared: Sequence[str]
) -> dict[str, Any]:
    line: dict[str, Any] = {"policy": text, "trials": len(rows)}
    figures = [key for key in rows[0] if _is_figure(key, rows)]
    for key in figures:
        line[key], line[f"{key}_half"] = interval(_column(rows, key))
    against = {row["trial"]: row for row in reference}
    for key in compared:
        pairs = [(row[key], against[row["trial"]][key]) for row in rows if row["trial"] in against]
        gaps = [mine - theirs for mine, theirs in pairs if mine is not None and theirs is not None]
        mean, half = interval(np.array(gaps)) if gaps else (None, None)
        line[f"{key}_minus_{name}"], line[f"{key}_minus_{name}_half"] = mean, half
    line["notes"] = _notes(rows)
    return line


def _notes(rows: Sequence[Row]) -> list[str]:
    """Each note once, whatever its numbers, with those of the first trial that has it and how many do."""
    alike: dict[str, list[str]] = {}
    for row in rows:
        for note in row["notes"]:
            alike.setdefault(NUMBER.sub("", note), []).append(note)
    return [f"{same[0]} (so or alike in {len(same)} of {len(rows)} trials)" for same in alike.values()]


def shared_notes(lines: Sequence[Row]) -> list[str]:
    """Each note of the summary's policies once, whatever its numbers, with the first policy that has it."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        for note in line["notes"]:
            alike.setdefault(NUMBER.sub("", note), []).append((str(line["policy"]), note))
    return [f"{same[0][0]}{' and others' if len(same) > 1 else ''}: {same[0][1]}" for same in alike.values()]


def _is_figure(key: str, rows: Sequence[Row]) -> bool:
    return key not in ("trial", "seed") and any(isinstance(row[key], int | float) for row in rows)


def _column(rows: Sequence[Row], key: str) -> Floats:
    return np.array([row[key] for row in rows if row[key] is not None], dtype=np.float64)


def interval(values: Floats) -> tuple[float, float | None]:
    """Mean and half-width of Student's interval at LEVEL of a figure of each trial; of a single one no half-width."""
    if values.size < 2:
        return float(values.mean()), None
    from scipy.special import stdtrit

    quantile = float(stdtrit(values.size - 1, 0.5 + LEVEL / 2))
    return float(values.mean()), quantile * float(values.std(ddof=1)) / float(np.sqrt(values.size))
