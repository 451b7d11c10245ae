"""Simulated workers, each of whom says what the crowd of a stream says; scripts of what they do, and their playing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

import crowdopt
from crowdopt.online.arrivals import Arrival, Stream
from crowdopt.online.crowds import simulated_stream
from crowdopt.serving.live_rows import Lease, LiveSettings
from crowdopt.serving.running import Live
from crowdopt.serving.stores import EXPERT, MEMORY, SQLiteStore
from crowdopt.verbs.live import LiveTables
from tests.online.streams import crowd

POOL = 60  # gold tasks of each type
LEASE = 60.0


def gold_table(types: int) -> dict[str, list[str]]:
    """Gold tasks whose answer is always class 0."""
    ids = [f"gold {t}-{k}" for t in range(types) for k in range(POOL)]
    return {"task": ids, "label": ["0"] * len(ids), "type": [str(t) for t in range(types) for _ in range(POOL)]}


def gold_kind(task: str) -> int:
    """The type of a gold task."""
    return int(task[5:].partition("-")[0])


def small(seed: int = 0, **options):
    """A small instance with named types, and its stream, workers in the instance's order."""
    instance = crowd(seed, **options)
    instance = replace(instance, types=[str(t) for t in range(instance.n_types)])
    return instance, simulated_stream(instance, (seed, 1), shuffle=False)


class People:
    """Workers of a stream by name; the k-th gold task of a type is right by the stream's k-th chance."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.gold_seen = stream, Counter[tuple[str, int]]()

    def say(self, lease: Lease) -> str:
        """What the worker says to a task."""
        instance, people, place = self.stream.instance, self.stream.crowd, int(lease.worker)
        if not lease.task.startswith("gold "):
            return str(people.label(place, np.array([int(lease.task)]))[0])
        kind = gold_kind(lease.task)
        done = np.zeros(instance.n_types, np.int64)
        done[kind] = self.gold_seen[lease.worker, kind]
        self.gold_seen[lease.worker, kind] += 1
        room, none = int(instance.capacity[place]), np.zeros(0, np.int64)
        arrival = Arrival(place, room, instance.cost[:, place], None, none, gold_done=done)
        right, asked = people.gold(arrival, np.bincount([kind], minlength=instance.n_types))
        assert asked[kind]
        return "01"[int(not right[kind])]


def in_turn(live, people: People, workers: int | None = None) -> int:
    """Worker after worker, or the first few, each until nothing is left for them, and again for repairs; -> labels."""
    names = [str(j) for j in range(people.stream.instance.n_workers)][:workers]
    count, before = 0, -1
    while count > before:
        before = count
        for name in names:
            while (lease := live.ask(name)) is not None:
                live.tell(lease, people.say(lease))
                count += 1
    return count


def few(live, people: People, workers: int) -> None:
    """So many workers come, and again while the end is mended, but no others: tasks are left unsure."""
    in_turn(live, people, workers)
    live.shut_doors()
    in_turn(live, people, workers)


def looked(live, truth, most: int = 10**6) -> list[str]:
    """The expert looks at so many answers at most; -> the tasks."""
    tasks: list[str] = []
    while len(tasks) < most and (lease := live.look()) is not None:
        assert lease.worker == EXPERT and live.look() == lease
        live.tell(lease, int(truth[int(lease.task)]))
        tasks.append(lease.task)
    return tasks


def campaign(policy: str, **options):
    """A campaign in memory over a small instance, with gold, and its people."""
    instance, stream = small()
    live = crowdopt.live(instance, policy=policy, gold=gold_table(2), **options)
    return live, People(stream), stream


def script(length: int, seed: int, changes: bool = True) -> list[tuple[str, int, float]]:
    """What is done, by which worker, after how many seconds; changes: of labels that are in, and of the target."""
    rng = np.random.default_rng(seed)
    chances = {"ask": 0.5, "tell": 0.34, "skip": 0.04, "late": 0.04, "slip": 0.06, "retarget": 0.02}
    verbs = rng.choice(list(chances), length, p=list(chances.values()))
    verbs = np.where(changes | (verbs != "slip") & (verbs != "retarget"), verbs, "ask")
    waits = np.where(rng.random(length) < 0.03, 2 * LEASE, rng.uniform(0, 2, length))
    return list(zip(verbs.tolist(), rng.integers(0, 20, length).tolist(), waits.tolist(), strict=True))


class Clock:
    """Seconds that the script sets."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def begun(instance, policy: str, store, gold=None, clock=lambda: 1e9, **settings) -> Live:
    """A campaign over a store, begun or gone on with."""
    tables = LiveTables.of(instance, gold)
    return Live(tables.state, store, LiveSettings(policy, campaign=tables.digest, **settings), clock)


def played(policy: str, calls, every: int = 10**9) -> Live:
    """Play a script; the process is started again after every so many calls."""
    instance, stream = small()
    people, leases, store, clock = People(stream), [], SQLiteStore(MEMORY), Clock()
    for k, (verb, who, wait) in enumerate(calls):
        clock.now += wait
        if k % every == 0:
            live = begun(instance, policy, store, gold_table(2), clock, lease=LEASE)
        do(live, people, leases, verb, str(who))
    return live


def do(live: Live, people: People, leases: list, verb: str, worker: str) -> None:
    """One call of a script."""
    mine = [lease for lease in leases if lease.worker == worker]
    if verb == "retarget":
        live.retarget(0.03 if int(worker) % 2 else 0.3)
    elif verb == "ask" or not mine:
        lease = live.ask(worker)
        if lease is not None and lease not in leases:
            leases.append(lease)
    elif verb == "skip":
        live.skip(mine[-1])
    else:
        lease = mine[0] if verb == "late" else mine[-1]
        leases.remove(lease)
        label = people.say(lease)
        if verb == "slip":
            live.tell(lease, "10"[int(label)])
            live.correct(lease, label)
        else:
            live.tell(lease, label)
