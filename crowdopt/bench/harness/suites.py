"""Named sets of problems, and what a set is: an instance library that anyone can solve or export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from crowdopt.bench.harness.methods import handles
from crowdopt.bench.harness.subject import Limits, Subject
from crowdopt.bench.sources import IP, LP, PROGRAMS, source_of
from crowdopt.errors import InputError

Case = tuple[str, str, int]  # problem, program, seed


@dataclass(frozen=True)
class Entry:
    """Problems of one name: which programs of it, and which seeds."""

    problem: str
    programs: tuple[str, ...] = (IP,)
    seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Suite:
    """A set of problems with the limits that suit them."""

    what: str
    entries: tuple[Entry, ...]
    limits: Limits


THREE = (0, 1, 2)

SUITES = {
    "tiny": Suite(
        "seconds: small crowds of every kind, one of them without a plan",
        (
            Entry("R1:8x20", PROGRAMS, THREE),
            Entry("HS:4x60", PROGRAMS),
            Entry("R10:10x20", PROGRAMS),
            Entry("L3:50x20", (LP,)),
            Entry("R10:10x20:priced", PROGRAMS),
            Entry("B5:50x20", PROGRAMS),
            Entry("SELECT:20x8", PROGRAMS),
        ),
        Limits(seconds=5.0, megabytes=2000.0),
    ),
    "paper": Suite(
        "at most half an hour: the papers' crowds in full size, and small ones of every kind",
        (
            Entry("R1:50x20", (IP,), THREE),
            Entry("R10:50x20", (IP,), (0, 1)),
            Entry("L3:50x20", (IP,), (0, 1)),
            Entry("R10:50x20:priced", (IP,)),
            Entry("SELECT:40x20", (IP,), THREE),
            Entry("SELECT:40x20", (LP,)),
            Entry("SELECT:40x20:priced", (IP,), THREE),
            Entry("K3:1000x300", (IP,)),
            Entry("HS:1000x300", PROGRAMS),
            Entry("R10:1000x300", PROGRAMS),
        ),
        Limits(seconds=10.0, megabytes=4000.0),
    ),
    "hard": Suite(
        "hours: the crowds that no solver is known to settle in full size",
        tuple(
            Entry(name, (IP,), THREE)
            for name in ("R1:1000x300", "R10:1000x300", "B5:1000x300", "L3:1000x300", "R10:1000x300:priced")
        ),
        Limits(seconds=300.0, megabytes=8000.0),
    ),
    "large": Suite(
        "up to a million tasks: what does not fit into a full program at all",
        (
            Entry("R10:5000x1000", PROGRAMS),
            Entry("R10:10000x1000", PROGRAMS),
            Entry("R10:100000x10000", PROGRAMS),
            Entry("R10:1000000x100000", PROGRAMS),
        ),
        Limits(seconds=300.0, megabytes=12000.0),
    ),
    "individual": Suite(
        "an hour: each item with accuracies of its own, and second rounds of tasks that have labels already",
        (
            Entry("I5:60x12", PROGRAMS, THREE),
            Entry("I5:200x20", (IP,), THREE),
            Entry("I5:1000x50", PROGRAMS),
            Entry("I20:2000x100"),
            Entry("I5:20000x100"),
            Entry("R10:60x20:second", PROGRAMS, THREE),
            Entry("R10:200x60:second", (IP,), THREE),
            Entry("R10:1000x300:second", PROGRAMS),
            Entry("B5:1000x300:second"),
            Entry("R10:3000x800:second"),
        ),
        Limits(seconds=60.0, megabytes=8000.0),
    ),
    "library": Suite(
        "an hour: questions of every kind",
        (
            *(Entry(name, (IP,), THREE) for name in ("R1:50x20", "SELECT:40x20", "SELECT:40x20:priced")),
            *(Entry(name, (IP,), (0, 1)) for name in ("R10:50x20", "L3:50x20", "R10:50x20:priced")),
            Entry("B5:100x40", (IP,), (1,)),
            Entry("B5:300x100", (IP,)),
            *(
                Entry(name, (IP,), (0, 1))
                for name in ("SELECT:120x40", "SELECT:120x40:priced", "hire:40x12", "hire:120x20")
            ),
            Entry("SELECT:40x20", (LP,)),
            Entry("I5:60x12", PROGRAMS, THREE),
            Entry("I5:200x20", (IP,), (0, 1)),
            Entry("R10:60x20:second", PROGRAMS, THREE),
            Entry("R10:200x60:second", (IP,), (0, 1)),
            Entry("groups:30x12", PROGRAMS, THREE),
            Entry("groups:120x30", (IP,), (0, 1, 2, 3, 4)),
            Entry("families:30x15", PROGRAMS, THREE),
            Entry("families:200x40", (IP,), (0, 1)),
            Entry("limits:40x15", (IP,)),
            Entry("limits:60x20", (IP,), (0, 2)),
            Entry("limits:200x40", (IP,), (0, 1)),
            *(Entry(name, (IP,), (0, 1)) for name in ("exact-error:60x12", "exact-error:100x20", "exact-error:300x30")),
            *(Entry(name, (LP,), (1,)) for name in ("cascade:100x4", "cascade:1000x5", "cascade:500x7")),
            Entry("I5:1000x50", (IP,)),
        ),
        Limits(seconds=60.0, megabytes=4000.0),
    ),
}


def listed() -> list[str]:
    """A line for each suite: its name, how many cases it has, what they are, its limit on seconds."""
    lines = []
    for name, suite in SUITES.items():
        limits = f"{suite.limits.seconds:g} s and {suite.limits.megabytes:g} MB each"
        lines.append(f"{name}: {len(cases_of(suite.entries))} programs, {limits}; {suite.what}")
    return lines


def suite_named(name: str) -> Suite:
    """The suite of that name."""
    if name not in SUITES:
        raise InputError(f"there is no suite {name!r}; there are {', '.join(SUITES)}")
    return SUITES[name]


def cases_of(entries: Iterable[Entry], programs: Sequence[str] = PROGRAMS, seeds: int | None = None) -> list[Case]:
    """Every case of the entries, in their order, each once; ``seeds`` asks for so many of each."""
    for entry in entries:
        source = source_of(entry.problem)
        if Path(entry.problem).exists():
            source.open(entry.problem, 0)  # what cannot be read is refused before anything runs
    found = [
        (entry.problem, program, seed)
        for entry in entries
        for program, seed in product(entry.programs, entry.seeds if seeds is None else range(seeds))
        if program in programs
    ]
    return list(dict.fromkeys(found))


def subjects_of(cases: Sequence[Case], methods: Sequence[str], limits: Limits, permutations: int = 1) -> list[Subject]:
    """Every case with every method that handles it, in the order of running: each case begins with another method.

    So no method always comes first, nor always after the same one, on a machine that warms up or is shared.

    cases sequence of (str, str, int): problem, program and seed of each; permutations: how often each method solves
    each case.
    """
    subjects = []
    for number, ((problem, program, seed), permutation) in enumerate(product(cases, range(permutations))):
        able = [method for method in methods if handles(method, problem, program)]
        turn = number // 2 % len(able) if able else 0
        rotated = [*able[turn:], *able[:turn]]
        for method in rotated[:: 1 if number % 2 == 0 else -1]:
            subjects.append(Subject(problem, program, method, seed, limits, permutation))
    return subjects


__all__ = ["IP", "LP", "SUITES", "Entry", "Suite", "cases_of", "listed", "subjects_of", "suite_named"]
