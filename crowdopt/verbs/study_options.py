"""Options of every study of policies: how often, from which seed, and where it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowdopt.verbs.binding import AnyPath


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Options of a study: how often policies are tried, and where the results are kept.

    Parameters
    ----------
    trials : int
        Number of runs of every policy. Each trial has its own order of arrival, and its own labels unless they are
        recorded.
    seed : int
        Seed of everything that is drawn.
    processes : int
        Number of worker processes; 0: none, all runs are in this one.
    output : path, optional
        Folder to write: tables, page and charts. Finished rows are kept there, so that a second call goes on from them.
    force : bool
        Replace the study if it exists.
    """

    trials: int = 20
    seed: int = 0
    processes: int = 0
    output: AnyPath | None = None
    force: bool = False


def policy_table(summary: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, str, str]]) -> list[str]:
    """A line for each policy: the figures of these titles, keys and forms."""
    width = max([6, *(len(str(line["policy"])) for line in summary)])
    shown = [(key, form, max(len(head), int(form.partition(".")[0]))) for head, key, form in columns]
    heads = (f"{head:>{wide}}" for (head, _, _), (_, _, wide) in zip(columns, shown, strict=True))
    said = [f"{'policy':{width}}  {'  '.join(heads)}"]
    for line in summary:
        values = [(line.get(key), form, wide) for key, form, wide in shown]
        cells = (f"{'-' if value is None else f'{value:{form}}':>{wide}}" for value, form, wide in values)
        figures = "  ".join(cells) if line["trials"] else "failed in every trial"
        said.append(f"{line['policy']:{width}}  {figures}")
    return said
