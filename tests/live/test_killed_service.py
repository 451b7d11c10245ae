"""The service is killed again and again while twelve clients label: what they were told was taken is there, once."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import token
from tests.io import lay
from tests.live.labeller import Labeller
from tests.live.service import started

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

CLIENTS, TASKS, CAPACITY, KILLS = 12, 150, 60, 8


@pytest.mark.slow
def test_a_service_that_is_killed_again_and_again(tmp_path):
    """No acknowledged label is lost or counted twice, no limit broken, and the decisions are made anew alike.

    It is killed at any instant of a fifth of a second after it answers; three calls in ten are sent twice.
    """
    folder = tmp_path / "birds"
    crew = {f"w{k}": (CAPACITY, 0.7) for k in range(CLIENTS)}
    lay(folder, 'epsilon = 0.05\nclasses = ["yes", "no"]', (f"t{i}" for i in range(TASKS)), crew)
    store, rng = tmp_path / "campaign.db", np.random.default_rng(0)
    options = ("--policy", "greedy", "--crew", str(CLIENTS), "--lease", "1000000")
    process, port = started(folder, store, *options)
    people = [Labeller(port, token(store, name), k) for k, name in enumerate(crew)]
    for one in people:
        one.client.tries = 10**6  # of a client who is patient
        one.pause = 0.05
        one.start()
    for _ in range(KILLS):
        time.sleep(float(rng.uniform(0, 0.2)))
        process.kill()
        process.communicate()
        process, _ = started(folder, store, *options, port=port)
    for one in people:
        one.most = len(one.acknowledged)  # the label in hand is the last
    for one in people:
        one.join(120)
        assert not one.is_alive()
    process.terminate()
    process.communicate(timeout=60)
    told = [dict(one.acknowledged) for one in people]
    running = crowdopt.live(folder, policy="greedy", store=store, crew=CLIENTS, lease=1e6)
    events, rows = running.events(), running.labels()
    kept = {event.lease: event.value for event in events if event.kind == "told"}
    assert sum(map(len, told)) == len(kept) == len(rows) >= CLIENTS
    assert all(kept[lease] == label for one in told for lease, label in one.items())
    leased = [(event.worker, event.task) for event in events if event.kind == "leased"]
    assert max(Counter(leased).values()) == 1, "no pair is asked twice"
    assert max(Counter(row.worker for row in rows).values()) <= CAPACITY
    assert check_history(folder, store).labels == len(rows)
