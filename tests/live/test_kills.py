"""Processes are killed at any instant: no acknowledged label is lost or counts twice, and decisions stay the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt.live.live_state import LiveState
from tests.live.people import gold_table, small
from tests.live.stores import KEPT, PLACES, at_length

ROOT = Path(__file__).parents[2]
POLICY = "adaptive:gold=2:block=3:refit=2"

WORK = """
import sys
from tests.live.test_kills import started
from tests.live.people import People, small
live, people = started(sys.argv[1]), People(small()[1])
print("ready", flush=True)
while True:
    idle = True
    for worker in map(str, range(20)):
        lease = live.ask(worker)
        if lease is not None:
            idle = False
            label = "0" if lease.task.startswith("gold") else people.say(lease)
            live.tell(lease, label)
            print(lease.id, label, flush=True)
    if idle:
        print("done", flush=True)
        sys.stdin.read()
"""


def started(path):
    """The campaign of these tests, begun or gone on with."""
    instance, _ = small()
    return crowdopt.live(instance, policy=POLICY, store=path, gold=gold_table(2), lease=1e6)


def killed(place: object, labels: int, seconds: float) -> list[tuple[int, str]]:
    """Kill a process so many seconds after so many labels; -> labels that it acknowledged."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WORK, str(place)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        first: list[str] = []
        while len(first) < labels and first[-1:] != ["done"]:
            first.append(process.stdout.readline().decode().strip())
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines = [*first, *process.stdout.read().decode().splitlines()]
    whole = [line.split() for line in lines if len(line.split()) == 2]
    return [(int(lease), label) for lease, label in whole]


def survives(place: object, kills: int) -> None:
    """Kill so many processes, one after the other, and look at what is left."""
    rng, acknowledged = np.random.default_rng(0), {}
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


@pytest.mark.parametrize("kind", KEPT)
def test_three_kills(kind, tmp_path):
    """What the slow test does two dozen times."""
    survives(PLACES[kind](tmp_path), 3)


@pytest.mark.parametrize("kind", at_length(KEPT))
def test_two_dozen_kills(kind, tmp_path):
    """Some fall into a commit, some between two."""
    survives(PLACES[kind](tmp_path), 24)


@pytest.mark.long
def test_a_thousand_kills(tmp_path):
    """In campaigns of fifty kills each."""
    for part in range(20):
        survives(tmp_path / f"{part}.db", 50)


def test_a_restart_makes_every_decision_anew(tmp_path, monkeypatch):
    """The comparison that the kills rest on is made: without snapshots each decision of the history is made again."""
    live = started(tmp_path / "campaign.db")
    for worker in map(str, range(10)):
        live.tell(live.ask(worker), "0")
    count = [0]
    whole = LiveState._decided

    def counted(state, event):
        count[0] += 1
        whole(state, event)

    from crowdopt.live import live_state

    monkeypatch.setitem(live_state._STEPS, "decided", counted)
    again = started(tmp_path / "campaign.db")
    assert count[0] == sum(event.kind == "decided" for event in again.events()) >= 10
