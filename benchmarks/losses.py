"""What each method loses against the virtual best, instance by instance: what a choice of method is judged by.

A case counts its seconds where the method settled it, up to the limit L; else ``L (1 + d)``, where d in [0, 1] is the
distance of the method's plan from the best value known (1 without a plan that holds), so that no plan counts 2 L, as in
PAR-2. The loss is ``log (t + 1 s) / (t* + 1 s)`` with t* that of the virtual best, who takes the least of all methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.bench.figures.scores import distance
from crowdopt.bench.figures.statistics import SHIFT
from crowdopt.bench.figures.traits import Traits, traits_of
from crowdopt.bench.harness.results import HOLDING, Result
from crowdopt.bench.sources import open_problem, sources

FAMILY = "assignment"
Instance = tuple[str, str]  # problem, program


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of methods on instances."""

    methods: tuple[str, ...]
    instances: tuple[Instance, ...]  # tuple of (str, str): problem and program; seeds and permutations are averaged
    traits: tuple[Traits, ...]  # of each instance
    loss: Floats  # (instances, methods): logarithms; infinite where a method was not measured or cannot take part

    @property
    def problems(self) -> Ints:
        """(instances,): which problem each belongs to; the programs of a problem are left out together."""
        names = list(dict.fromkeys(problem for problem, _ in self.instances))
        return np.array([names.index(problem) for problem, _ in self.instances], dtype=np.int64)


def finished(results: Sequence[Result], subjects: Sequence[Sequence[Any]]) -> list[Result]:
    """The results of those runs that every method of the benchmark has tried; subjects: all that are to be measured."""
    measured = {(*one.subject.run, one.subject.method) for one in results}
    open_ = {tuple(subject[:4]) for subject in subjects if tuple(subject) not in measured}
    return [one for one in results if one.subject.run not in open_]


def losses_of(results: Sequence[Result], limit: float) -> Losses:
    """The losses that results at this limit in seconds say, of assignment problems that can still be opened."""
    own = [one for one in results if one.family == FAMILY and _is_there(one.subject.problem)]
    methods = tuple(dict.fromkeys(one.subject.method for one in own))
    by_run: dict[tuple[str, str, int, int], list[Result]] = {}
    for one in own:
        by_run.setdefault(one.subject.run, []).append(one)
    rows: dict[Instance, list[Floats]] = {}
    for (problem, program, _, _), some in by_run.items():
        rows.setdefault((problem, program), []).append(_row(some, methods, limit))
    seeds = {run[:2]: run[2] for run in reversed(by_run)}
    traits = tuple(_traits(problem, program, seeds[problem, program]) for problem, program in rows)
    loss = np.array([np.mean(some, axis=0) for some in rows.values()]).reshape(len(rows), len(methods))
    return Losses(methods, tuple(rows), traits, loss)


def _is_there(problem: str) -> bool:
    """Whether the problem can still be opened: a campaign may have gone since."""
    return any(source.knows(problem) for source in sources())


def _traits(problem: str, program: str, seed: int) -> Traits:
    instance = open_problem(problem, seed).instance
    assert instance is not None
    return traits_of(instance, program)


def _row(results: Sequence[Result], methods: Sequence[str], limit: float) -> Floats:
    """Losses of the methods on one run."""
    known = [float(one.facts["value"]) for one in results if one.outcome in HOLDING and one.facts["value"] is not None]
    best = min(known, default=np.inf)
    seconds = {one.subject.method: counted(one, best, limit) for one in results}
    taken = np.array([seconds.get(method, np.inf) for method in methods])
    row: Floats = np.log((taken + SHIFT) / (taken.min() + SHIFT))
    return row


def counted(result: Result, best: float, limit: float) -> float:
    """Seconds that a case counts; best: the least value of any plan."""
    if result.is_solved and result.seconds is not None:
        return min(result.seconds, limit)
    if result.outcome not in HOLDING or result.facts["value"] is None:
        return 2 * limit
    return limit * (1 + distance(float(result.facts["value"]), best))
