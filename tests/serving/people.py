"""Simulated workers for campaigns that run: each says what the crowd of a stream says, whenever they are asked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

import crowdopt
from crowdopt.crowd.labels import REFUSED
from crowdopt.online.arrivals import Arrival, Stream
from crowdopt.online.crowds import simulated_stream
from crowdopt.serving.live_rows import Lease
from crowdopt.serving.stores import EXPERT
from tests.online.streams import crowd

POOL = 60  # gold tasks of each type


def gold_table(types: int, names=None) -> dict[str, list[str]]:
    """Gold tasks whose answer is always class 0."""
    ids = [f"gold {t}-{k}" for t in range(types) for k in range(POOL)]
    kinds = [str(t if names is None else names[t]) for t in range(types) for _ in range(POOL)]
    return {"task": ids, "label": ["0"] * len(ids), "type": kinds}


def small(seed: int = 0, **options):
    """A small instance with named types, and its stream, workers in the instance's order."""
    instance = crowd(seed, **options)
    instance = replace(instance, types=[str(t) for t in range(instance.n_types)])
    return instance, simulated_stream(instance, (seed, 1), shuffle=False)


class People:
    """Workers of a stream by name; the k-th gold task of a type is right by the stream's k-th chance."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.crowd = stream, stream.crowd
        self.gold_seen: dict[tuple[str, int], int] = defaultdict(int)

    def say(self, lease: Lease) -> str:
        """What the worker says to a task."""
        said = self.said(lease)
        assert said is not None
        return said

    def said(self, lease: Lease) -> str | None:
        """The same; None where a recorded worker has no label of the task, or no gold answer that is left."""
        instance, place = self.stream.instance, int(lease.worker)
        if not lease.task.startswith("gold "):
            label = int(self.crowd.label(place, np.array([int(lease.task)]))[0])
            return None if label == REFUSED else str(label)
        kind = int(lease.task[5:].partition("-")[0])
        done = np.zeros(instance.n_types, np.int64)
        done[kind] = self.gold_seen[lease.worker, kind]
        self.gold_seen[lease.worker, kind] += 1
        room = int(instance.capacity[place])
        arrival = Arrival(place, room, instance.cost[:, place], None, np.zeros(0, np.int64), gold_done=done)
        right, asked = self.crowd.gold(arrival, np.bincount([kind], minlength=instance.n_types))
        return None if not asked[kind] else "01"[int(not right[kind])]


def in_turn(live, people: People) -> int:
    """Worker after worker, each until nothing is left for them, and again for repairs; -> labels."""
    count = 0
    names = [str(j) for j in range(people.stream.instance.n_workers)]
    while True:
        before = count
        for name in names:
            while (lease := live.ask(name)) is not None:
                live.tell(lease, people.say(lease))
                count += 1
        if count == before:
            return count


def looked(live, truth, most: int = 10**6) -> list[str]:
    """The expert looks at so many answers at most; -> the tasks."""
    tasks: list[str] = []
    while len(tasks) < most and (lease := live.look()) is not None:
        assert lease.worker == EXPERT and live.look() == lease
        live.tell(lease, int(truth[int(lease.task)]))
        tasks.append(lease.task)
    return tasks


def campaign(policy: str, seed: int = 0, **options):
    """A campaign in memory over a small instance, with gold, and its people."""
    instance, stream = small(seed)
    live = crowdopt.live(instance, policy=policy, gold=gold_table(instance.n_types), seed=seed, **options)
    return live, People(stream), stream
