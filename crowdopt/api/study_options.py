"""Options of every study of policies: how often, from which seed, and where it is written."""

from __future__ import annotations

from dataclasses import dataclass

from crowdopt.api.binding import AnyPath


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Options of a study: how often policies are tried, and where the results are kept.

    Parameters
    ----------
    trials, seed : int
        Each trial has its own order of arrival, and its own labels unless they are recorded.
    processes : int
        Spawned processes; 0: in this one.
    output : path, optional
        Folder to write tables, page and charts to. Finished rows are kept there, so that a second call goes on from
        them.
    force : bool
        Whether a study that is there may be replaced.
    """

    trials: int = 20
    seed: int = 0
    processes: int = 0
    output: AnyPath | None = None
    force: bool = False
