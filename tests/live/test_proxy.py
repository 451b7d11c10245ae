"""Between workers and the service connections break, calls come twice and late: each label counts once."""

from __future__ import annotations

import csv
import io

import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import token
from tests.live.labeller import Labeller
from tests.live.proxy import FATES, unreliable
from tests.live.service import Client, running

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")


@pytest.mark.slow
def test_a_proxy_that_cuts_and_repeats(tmp_path):
    """What workers were told was taken is there once; no pair was asked twice; the history leads to its decisions."""
    crowdopt.init(tmp_path / "birds", classes=["yes", "no"])
    place, store = tmp_path / "birds", tmp_path / "campaign.db"
    with running(place, store, "--policy", "greedy", "--crew", "20") as port, unreliable(port) as proxy:
        people = [Labeller(proxy.server_port, token(store, name), k) for k, name in enumerate(("ada", "bo", "chen"))]
        for one in people:
            one.start()
        for one in people:
            one.join(120)
            assert not one.is_alive()
        table = Client(port, token(store, None)).raw("GET", "/api/labels.csv")[1].decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    acknowledged = [label for one in people for label in one.acknowledged.values()]
    assert sorted(row["label"] for row in rows) == sorted(acknowledged) and len(rows) >= 12
    assert len({(row["worker"], row["task"]) for row in rows}) == len(rows)
    assert all(proxy.fates[fate] for fate in FATES)
    assert check_history(place, store).labels == len(rows)
