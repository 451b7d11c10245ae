"""Labels with twenty people at work, as a multiple of those with one at a time, and how many answers were out.

    python -m benchmarks.flights [CROWD ...]

Campaigns as the service runs them, in one process; crowds that are named are measured by ``sequential``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.adaptive_trials import recorded
from crowdopt.crowd.recipes import recipe
from crowdopt.online.arrivals import Stream
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.serving.live_rows import Lease, LiveSettings
from crowdopt.serving.running import Live
from crowdopt.serving.stores import MEMORY, SQLiteStore
from crowdopt.verbs.live import LiveTables
from tests.serving.people import People, gold_table

FLIGHT = 20
SEEDS = 4
CREWS = (3, FLIGHT)
ROWS = tuple((crowd, policy) for crowd in ("bluebird", "HS:300x100") for policy in ("sequential", "adaptive"))
HEADER = "| crowd | policy | one at a time | crew 3 | answers out | crew 20 | answers out |"


def stream_of(crowd: str, policy: str, seed: int) -> Stream:
    """People by a recipe, or as they were recorded, with names that are their places."""
    if ":" in crowd:
        stream = simulated_stream(recipe(crowd, seed), (seed, 1))
    else:
        stream = recorded(crowd, False, 0.1, seed, named(policy))
    instance = stream.instance
    names = [str(j) for j in range(instance.n_workers)]
    kinds = [str(t) for t in range(instance.n_types)]
    return replace(stream, instance=replace(instance, types=kinds, workers=names, tasks=None, class_names=None))


@dataclass(frozen=True)
class Flight:
    """Labels of a campaign, gold among them, and how many answers were out on average."""

    labels: int
    out: float


def flown(crowd: str, policy: str, seed: int, flight: int, crew: int = FLIGHT) -> Flight:
    """Play a campaign: so many answers are out where the policy asks for so many."""
    stream = stream_of(crowd, policy, seed)
    tables = LiveTables.of(stream.instance, gold_table(stream.instance.n_types))
    settings = LiveSettings(policy, seed=seed, crew=crew, campaign=tables.digest)
    live, people = Live(tables.state, SQLiteStore(MEMORY), settings, lambda: 1e9), People(stream)
    out = at_once(live, people, flight, np.random.default_rng([seed, 99]))
    live.shut_doors()
    while sum(drained(live, people, str(j)) for j in range(stream.instance.n_workers)):
        pass  # repairs
    return Flight(live.progress()["labels"], float(np.mean(out)))


def at_once(live: Live, people: People, flight: int, rng: np.random.Generator) -> list[int]:
    """A random one of those who have a task answers; the next worker comes where fewer have one; -> how many had."""
    coming = [str(j) for j in reversed(range(people.stream.instance.n_workers))]
    here: list[str] = []
    leases: dict[str, Lease] = {}
    counts = []
    while True:
        for name in list(here):
            if name in leases:
                continue
            if (lease := live.ask(name)) is not None:
                leases[name] = lease
            elif _is(live, name, over=True):
                here.remove(name)
        while len(leases) < flight and coming:
            if (lease := live.ask(coming[-1])) is not None:
                leases[coming[-1]] = lease
            elif not _is(live, coming[-1]):
                break  # they wait at the door
            here.append(coming.pop())
        if not leases:
            return counts
        counts.append(len(leases))
        name = sorted(leases)[int(rng.integers(len(leases)))]
        answer(live, people, leases.pop(name))


def _is(live: Live, name: str, over: bool = False) -> bool:
    """Whether the policy has met the worker, or is through with them."""
    with live.together() as turn:
        course = turn.state.course
        return course.is_over(name) if over else course.is_over(name) or course.seat_of[name].number >= 0


def answer(live: Live, people: People, lease: Lease) -> None:
    """The worker says what they say, or gives the task back."""
    label = people.said(lease)
    if label is None:
        live.skip(lease)
    else:
        live.tell(lease, label)


def drained(live: Live, people: People, name: str) -> bool:
    """A worker who came does all that is left for them; whether there was anything."""
    with live.together() as turn:
        if name not in turn.state.enrolled:
            return False
    some = False
    while (lease := live.ask(name)) is not None:
        answer(live, people, lease)
        some = True
    return some


def row(crowd: str, policy: str, seeds: int = SEEDS) -> str:
    """A line of the table: means over the seeds from 0."""
    play = partial(flown, crowd, policy)
    one = [play(seed, 1) for seed in range(seeds)]
    cells = [crowd, policy, f"{np.mean([flight.labels for flight in one]):.0f}"]
    for crew in CREWS:
        many = [play(seed, FLIGHT, crew) for seed in range(seeds)]
        ratio = sum(flight.labels for flight in many) / sum(flight.labels for flight in one)
        cells += [f"{ratio:.2f}", f"{np.mean([flight.out for flight in many]):.1f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    print(HEADER, "|---|---|---|---|---|---|---|", sep="\n")
    crowds = sys.argv[1:]
    for crowd, policy in [(crowd, "sequential") for crowd in crowds] or ROWS:
        print(row(crowd, policy), flush=True)


if __name__ == "__main__":
    main()
