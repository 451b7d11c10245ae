"""Exact errors of votes among more than two classes: one coin, wrong answers uniform over the other classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

CELLS, FINE = 256, 2_048  # states told apart: of every vote, and of those whose error is near what it is held against
BELOW, LEAST = 512, 64  # states told apart by a lower bound; by anything, at least
JOINED_ADDS = 0.02  # relative; what joined states may have added
MOST = 4_000_000  # numbers in memory at a time
LEAST_FOR_THREADS = 16  # votes below which threads do not pay


class ClassVotes(NamedTuple):
    """Votes among K classes, as the compiled loops take them."""

    starts: Ints  # (tasks + 1,): task i has the labels from ``starts[i]`` to the one before ``starts[i + 1]``
    accuracy: Floats  # (k,): p of each label, in (0, 1)
    prior: Floats  # (tasks, K): rows add up to 1

    def of(self, tasks: Ints) -> ClassVotes:
        """The votes of some tasks."""
        ends, label = labels_of(self.starts, tasks)
        return ClassVotes(ends, self.accuracy[label], self.prior[tasks])


def labels_of(starts: Ints, tasks: Ints) -> tuple[Ints, Ints]:
    """Where the labels of some tasks begin once they stand by themselves, and which labels those are."""
    sizes = np.diff(starts)[tasks]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ends, np.repeat(starts[tasks] - ends[:-1], sizes) + np.arange(ends[-1])


def in_threads(kernel: Callable[..., None], given: tuple[Any, ...], size: int, least: int) -> None:
    """Run a kernel over so many tasks, each independent of all others; below ``least`` threads do not pay."""
    if size < least:
        kernel(*given, 0, size)
        return
    workers = os.cpu_count() or 1
    cuts = np.linspace(0, size, 8 * workers + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(kernel, *given, *cut) for cut in pairwise(cuts)]:
            done.result()


def class_vote_errors(votes: ClassVotes, target: Floats | None = None) -> tuple[Floats, Bools]:
    """``sum_x (sum_k pi_k P_k(x) - max_k pi_k P_k(x))``, at most: what the vote by log-odds and prior errs with.

    That vote says a likeliest class. Where several are as likely it does not matter which it says, so it has no rule
    for ties. Exact up to rounding while the beliefs that labels lead to are at most CELLS (eight labels that all
    differ among four classes, hundreds that are alike); beyond, beliefs are joined, and the error only seems larger.

    target (tasks,): what each error is held against: errors within JOINED_ADDS of it are computed again with FINE
    states, and the smaller counts. Default: all that are not exact.
    -> error (tasks,).
    exact (tasks,): whether nothing was joined.
    """
    error, width = _in_threads(votes, CELLS, False)
    rough = width > 0
    if target is not None:
        rough &= np.abs(error - target) <= JOINED_ADDS * target
    again = np.flatnonzero(rough)
    if again.size:
        finer, width[again] = _in_threads(votes.of(again), FINE, False)
        error[again] = np.minimum(error[again], finer)
    return error, width == 0


def least_class_errors(votes: ClassVotes, cells: int = BELOW, together: int | None = None) -> Floats:
    """A lower bound on the same errors, (tasks,), by so many ``cells`` together; equal where they are exact."""
    return _in_threads(votes, cells, True, together)[0]


def _different(votes: ClassVotes) -> tuple[Ints, Ints]:
    """A task of each kind that differs in its labels or prior, and the kind of each task."""
    known: dict[bytes, int] = {}
    first: list[int] = []
    kind = np.empty(votes.starts.size - 1, np.int64)
    for i, (start, end) in enumerate(pairwise(votes.starts.tolist())):
        key = np.sort(votes.accuracy[start:end]).tobytes() + np.sort(votes.prior[i]).tobytes()
        if key not in known:
            known[key] = len(first)
            first.append(i)
        kind[i] = known[key]
    return np.array(first, np.int64), kind


def _in_threads(votes: ClassVotes, cells: int, below: bool, together: int | None = None) -> tuple[Floats, Floats]:
    """Errors, and the width of what was joined; votes that are alike once, the others in threads."""
    from crowdopt.crowd.votes import class_vote_kernels

    first, kind = _different(votes)
    own, size = votes.of(first), first.size
    error, width = np.empty(size), np.empty(size)
    cells = min(cells, MOST // votes.prior.shape[1] ** 2)
    cells = max(LEAST, cells if together is None else min(cells, together // max(1, size)))
    in_threads(class_vote_kernels.errors, (own, cells, below, error, width), size, LEAST_FOR_THREADS)
    return error[kind], width[kind]
