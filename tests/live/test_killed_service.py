"""The service is killed again and again while fifty clients label: what they were told was taken is there, once."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import token
from tests.live.labeller import Labeller
from tests.live.service import started

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

CLIENTS = 50
TASKS, CAPACITY = 400, 40


def survives(folder, kills: int, seed: int = 0) -> None:
    """Kill it so many times, at any instant of a fifth of a second after it answers; then look at what is left."""
    crowdopt.init(folder / "birds", classes=["yes", "no"])
    names = [f"w{k}" for k in range(CLIENTS)]
    (folder / "birds" / "tasks.csv").write_text("task\n" + "".join(f"t{i}\n" for i in range(TASKS)), "utf-8")
    people = "".join(f"{name},{CAPACITY}\n" for name in names)
    (folder / "birds" / "workers.csv").write_text(f"worker,capacity\n{people}", "utf-8")
    skills = "".join(f"{name},.7\n" for name in names)
    (folder / "birds" / "skills.csv").write_text(f"worker,accuracy\n{skills}", "utf-8")
    (folder / "birds" / "campaign.toml").write_text('epsilon = 0.05\nclasses = ["yes", "no"]\n')
    (folder / "birds" / "gold.csv").unlink()
    store, rng = folder / "campaign.db", np.random.default_rng(seed)
    tokens = [token(store, name) for name in names]
    options = ("--policy", "greedy", "--crew", str(CLIENTS), "--lease", "1000000")
    process, port = started(folder / "birds", store, *options)
    people = [Labeller(port, one, CLIENTS * seed + k) for k, one in enumerate(tokens)]
    for one in people:
        one.client.tries = 10**6  # of a client who is patient
        one.pause = 0.05
        one.start()
    for _ in range(kills):
        time.sleep(float(rng.uniform(0, 0.2)))
        process.kill()
        process.communicate()
        process, _ = started(folder / "birds", store, *options, port=port)
    for one in people:
        one.most = len(one.acknowledged)  # the label in hand is the last
    for one in people:
        one.join(120)
        assert not one.is_alive()
    process.terminate()
    process.communicate(timeout=60)
    told = [dict(one.acknowledged) for one in people]
    running = crowdopt.live(folder / "birds", policy="greedy", store=store, crew=CLIENTS, lease=1e6)
    events, rows = running.events(), running.labels()
    kept = {event.lease: event.value for event in events if event.kind == "told"}
    assert sum(map(len, told)) == len(kept) == len(rows) >= CLIENTS
    assert all(kept[lease] == label for one in told for lease, label in one.items())
    leased = [(event.worker, event.task) for event in events if event.kind == "leased"]
    assert max(Counter(leased).values()) == 1, "no pair is asked twice"
    assert max(Counter(row.worker for row in rows).values()) <= CAPACITY
    assert check_history(folder / "birds", store).labels == len(rows)


@pytest.mark.slow
def test_a_service_that_is_killed_fifty_times(tmp_path):
    """No acknowledged label is lost or counted twice, no limit broken, and the decisions are made anew alike."""
    survives(tmp_path, 50)


@pytest.mark.long
def test_a_service_that_is_killed_a_thousand_times(tmp_path):
    """In twenty campaigns of fifty kills each."""
    for part in range(20):
        (tmp_path / str(part)).mkdir()
        survives(tmp_path / str(part), 50, part)
