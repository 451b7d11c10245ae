"""What a process does with one part of a campaign, wherever it runs: rows of ``crowdopt.jobs``.

Each reads the part, which never leaves the machine it is read on, and answers in a few numbers. What it writes
has a temporary name until it is whole. ``work`` and the campaign are folders that all machines see.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from psutil import Process

from crowdopt.api.binding import SOLVERS
from crowdopt.assign.parts import APART, planned, shortest, swept
from crowdopt.assign.problem import Problem, problem_of
from crowdopt.crowd.subset import own_accuracies
from crowdopt.io.parts.part_table import BYTES, COUNTS, FLOATS, Part, array_of, read_part, text_of, write_part
from crowdopt.io.parts.parts_folder import PARTS, PartsFolder, known_folder
from crowdopt.io.parts.parts_plan import ASSIGNMENT, write_pairs
from crowdopt.memory import machine_memory

SAMPLE, NEW_PLAN = "sample", "plan"  # folders in the work folder
INTERPRETER = 340e6  # bytes of a process before it reads anything
CALM = 0.7  # of a Dask worker's limit: it rests where it holds .8, and is ended at .95
KEPT: dict[tuple[str, str, str], tuple[PartsFolder, Part, Problem]] = {}  # in this process


def look(
    folder: str, stamp: str, part: str, memory: float, place: int, work: str, sample: int, seed: int
) -> dict[str, Any]:
    """Read all of the part, and write some of its tasks down as a sample.

    folder, stamp, part: the campaign, as it was when the run began, and the part's name; memory: bytes that the process
    may take: parts are kept there as long as they leave room for work; 0: its fair share; sample, seed: how many
    tasks, and what draws them.
    """
    _, read, problem = _read(folder, stamp, part, memory)
    instance = read.instance
    short = shortest(instance)
    if sample:
        rng = np.random.default_rng(_seed(seed, place))
        some = np.sort(rng.choice(instance.n_tasks, min(sample, instance.n_tasks), replace=False))
        ids = [str(read.ids[int(i)]) for i in some]
        goal = Path(work) / SAMPLE / PARTS / part
        write_part(goal, own_accuracies(instance, some), ids)
    return {
        "tasks": instance.n_tasks,
        "constant": problem.constant,
        "fixed": text_of(np.bincount(instance.fixed[:, 1], minlength=instance.n_workers), COUNTS),
        "short": None if short is None else [str(read.ids[short[0]]), short[0] + 1, *short[1:]],
    }


def price(folder: str, stamp: str, part: str, memory: float, prices: str) -> dict[str, Any]:
    """What the part's tasks cost at least at some prices.

    folder, stamp, part, memory: as for :func:`look`; prices: the workers' multipliers, as text.
    """
    sweep = swept(_read(folder, stamp, part, memory)[2], array_of(prices, FLOATS))
    return {"value": sweep.value, "size": sweep.size}


def plan(
    folder: str, stamp: str, part: str, memory: float, place: int, work: str, room: str, seed: int
) -> dict[str, Any]:
    """Plan the part within its room, and write its labels where every task has its set.

    folder, stamp, part, memory: as for :func:`look`; work, room: the work folder; labels that the part may use of each
    worker, as text.
    """
    shared, read, _ = _read(folder, stamp, part, memory)
    pairs = planned(read.instance, array_of(room, COUNTS), SOLVERS, _seed(seed, place))
    if pairs is None:
        return {"load": text_of(np.zeros(read.instance.n_workers, np.int64), COUNTS), "cost": 0.0, "whole": False}
    every = np.unique(np.concatenate([pairs, read.instance.fixed]), axis=0)
    write_pairs(Path(work) / NEW_PLAN / ASSIGNMENT, read, shared, every)
    load = np.bincount(pairs[:, 1], minlength=read.instance.n_workers)
    return {"load": text_of(load, COUNTS), "cost": float(read.instance.prices(pairs).sum()), "whole": True}


def _read(folder: str, stamp: str, part: str, memory: float) -> tuple[PartsFolder, Part, Problem]:
    """The part, kept in memory from then on where there is room for it and for the work beside it."""
    key = folder, stamp, part
    if any(other[:2] != key[:2] for other in list(KEPT)):
        forget()
    if key not in KEPT:
        shared = known_folder(folder, stamp)
        read = read_part(shared, part)
        known = shared, read, problem_of(read.instance, APART)
        pairs = read.instance.n_tasks * read.instance.n_workers
        if Process().memory_info().rss + BYTES * pairs > _allowed(memory):
            return known
        KEPT[key] = known
    return KEPT[key]


def forget() -> None:
    """Drop the parts that this process keeps in memory."""
    KEPT.clear()


def _allowed(memory: float) -> float:
    if "distributed" in sys.modules:
        from distributed import get_worker

        with suppress(ValueError, AttributeError):
            calm = CALM * float(get_worker().memory_manager.memory_limit or 0)
            if calm:
                return min(memory or calm, calm)
    return memory or machine_memory() / 2 / (os.cpu_count() or 1)


def _seed(seed: int, place: int) -> int:
    """What a part draws from a seed is independent of what others draw."""
    return int(np.random.default_rng([seed, place]).integers(2**31))
