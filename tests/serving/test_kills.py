"""Processes are killed at any instant: no acknowledged label is lost or counts twice, and decisions stay the same."""

from __future__ import annotations

import signal
import time
from contextlib import suppress

import numpy as np
import pytest

import crowdopt
from tests.serving.people import People, gold_table, small
from tests.serving.stores import CHILDREN, KEPT, PLACES

POLICY = "adaptive:gold=2:block=3"


def started(place):
    """The campaign of these tests, begun or gone on with."""
    instance, _ = small()
    return crowdopt.live(instance, policy=POLICY, store=place, gold=gold_table(2), lease=1e6)


def work(place, out) -> None:
    """Label until killed; each lease and label that was acknowledged is told, and that nothing is left to do."""
    live, people = started(place), People(small()[1])
    while True:
        idle = True
        for worker in map(str, range(20)):
            if (lease := live.ask(worker)) is not None:
                label = "0" if lease.task.startswith("gold") else people.say(lease)
                live.tell(lease, label)
                out.send((lease.id, label))
                idle = False
        if idle:
            out.send(None)
            time.sleep(3600)


def killed(place, labels: int, seconds: float) -> list[tuple[int, str]]:
    """Kill a process so many seconds after so many labels; -> labels that it acknowledged."""
    ours, theirs = CHILDREN.Pipe(duplex=False)
    child, told = CHILDREN.Process(target=work, args=(place, theirs), daemon=True), []
    child.start()
    theirs.close()
    while len(told) <= labels and (said := ours.recv()) is not None:
        told.append(said)
    time.sleep(seconds)
    child.kill()
    with suppress(EOFError, OSError):  # the end, or half of the last one
        while (said := ours.recv()) is not None:
            told.append(said)
    child.join()
    assert child.exitcode == -signal.SIGKILL
    return told


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("kills", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_kills_lose_nothing(kind, kills, tmp_path):
    """One process after the other; some kills fall into a commit, some between two."""
    place, rng, acknowledged = PLACES[kind](tmp_path), np.random.default_rng(0), {}
    for _ in range(kills):
        acknowledged |= dict(killed(place, int(rng.integers(6)), float(rng.uniform(0, 0.02))))
    live = started(place)  # all decisions are made anew, and compared
    events = live.events()
    told = [event for event in events if event.kind == "told"]
    assert len({event.lease for event in told}) == len(told)
    kept = {event.lease: event.value for event in told}
    assert acknowledged.items() <= kept.items() and len(acknowledged) > kills / 4
    pairs = [(event.worker, event.task) for event in events if event.kind == "leased"]
    assert len(set(pairs)) == len(pairs)
    assert len(live.labels()) == len(told)
