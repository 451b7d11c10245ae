"""Calls of the service in this process: labels given elsewhere, links, keys, a worker's last label."""

from __future__ import annotations

import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import JOIN, live_application, serve, token

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")

SECRET = "a long enough secret"


class Open:
    """A service in this process, and its campaign."""

    def __init__(self, folder) -> None:
        crowdopt.init(folder / "birds", classes=["yes", "no"])
        self.folder, self.store = folder / "birds", folder / "campaign.db"
        self.live = crowdopt.live(self.folder, policy="greedy", store=self.store, newcomers=5)
        app = live_application(self.folder, self.live, SECRET)
        self.client = testing.TestClient(app, raise_server_exceptions=False)
        self.tasks = [row.task for row in self.live.answers()]

    def token(self, **owner) -> dict[str, str]:
        """Headers with a new token."""
        return {"Authorization": f"Bearer {token(self.store, **owner)}"}


@pytest.fixture
def place(tmp_path):
    """A new one."""
    return Open(tmp_path)


def test_a_label_that_was_given_elsewhere_counts_once(place):
    """Asked for or not, told twice or changed: the pair is one label."""
    ada, bo = "ada", "somebody new"
    lease = place.live.ask(ada)
    assert place.live.bring(ada, lease.task, "yes") and place.live.bring(ada, lease.task, "yes")
    assert place.live.bring(bo, place.tasks[3], "yes") and place.live.bring(bo, place.tasks[3], "no")
    told = [tuple(row[:3]) for row in place.live.labels()]
    assert told == [(ada, lease.task, "yes"), (bo, place.tasks[3], "no")]
    assert place.live.ask(ada) != lease
    assert check_history(place.folder, place.store).labels == 2


@pytest.mark.parametrize(("task", "label"), [("no such task", "yes"), ("", "perhaps")])
def test_a_label_from_elsewhere_that_makes_no_sense_is_refused(place, task, label):
    """And nothing is kept of it."""
    with pytest.raises(crowdopt.InputError, match=f"there is no task|{label!r} is no label"):
        place.live.bring("ada", task or place.tasks[0], label)
    assert place.live.labels() == []


def test_a_worker_who_cannot_be_met_yet_brings_nothing(tmp_path):
    """Others are tested first."""
    crowdopt.init(tmp_path / "birds", classes=["yes", "no"])
    (tmp_path / "birds" / "gold_tasks.csv").write_text("task,label,type\ng1,yes,plant\ng2,no,bird\n")
    live = crowdopt.live(tmp_path / "birds", policy="sampled-lp:gold=1:gamma=.1", newcomers=5)
    assert not live.bring("ada", live.answers()[0].task, "yes") and live.labels() == []


def test_a_link_without_its_secret_lets_no_one_in(place, monkeypatch):
    """Nor does a service without one, and a short one is refused before anything begins."""
    link = {"key": SECRET, "PROLIFIC_PID": "5f3a"}
    came = place.client.get("/join", params=link, follow_redirects=False)
    assert came.status_code == 303 and came.headers["location"].startswith("/#")
    assert place.client.get("/join", params=link | {"key": "guess"}).status_code == 403
    closed = testing.TestClient(live_application(place.folder, place.live), raise_server_exceptions=False)
    assert closed.get("/join", params=link | {"key": ""}).status_code == 403
    monkeypatch.setenv(JOIN, "short")
    with pytest.raises(crowdopt.InputError, match="16 letters"):
        serve(place.folder, ("127.0.0.1", 0), print, store=place.folder / "new.db")
    assert not (place.folder / "new.db").exists()


def test_a_call_with_a_key_happens_once(place):
    """The second one with that key is answered with the same bytes, whatever else has happened meanwhile."""
    manager = place.token()
    first = place.client.post("/api/pause", headers=manager | {"Idempotency-Key": "k"})
    place.client.post("/api/resume", headers=manager)
    second = place.client.post("/api/pause", headers=manager | {"Idempotency-Key": "k"})
    assert (
        first.content == second.content and place.client.get("/api/progress", headers=manager).json()["paused"] is False
    )
    third = place.client.post("/api/pause", headers=place.token() | {"Idempotency-Key": "k"})  # another token's key
    assert third.content != first.content
    assert place.client.post("/api/pause", headers=manager | {"Idempotency-Key": "x" * 300}).status_code == 422


def test_a_worker_changes_their_last_label_and_no_other(place):
    """By the call of the page; the manager's events tell it."""
    ada = place.token(worker="ada")
    leases = []
    for _ in range(2):
        leases.append(place.client.post("/api/next", headers=ada).json()["lease"])
        place.client.post("/api/label", json={"lease": leases[-1], "label": "yes"}, headers=ada)
    first, last = ({"lease": lease, "label": "no"} for lease in leases)
    assert place.client.post("/api/correct", json=first, headers=ada).status_code == 409
    done = place.client.post("/api/correct", json=last, headers=ada)
    assert done.json() == {"lease": leases[1], "label": "no", "late": False}
    assert place.client.post("/api/correct", json=last, headers=ada).content == done.content
    assert place.client.post("/api/correct", json=last, headers=place.token(worker="bo")).status_code == 404
    manager = place.token()
    events = place.client.get("/api/events", headers=manager).json()
    assert [event["kind"] for event in events].count("corrected") == 1
    assert place.client.post("/api/target", json={"epsilon": 0.15}, headers=manager).json() == {"epsilon": 0.15}
    assert place.client.post("/api/target", json={"epsilon": 2}, headers=manager).status_code == 422
    assert place.client.get("/api/limits", headers=manager).json() == {"cost": None}  # of one worker alone
    for k in range(4):
        place.live.ask(("bo", "chen", "new", "newer")[k])
    assert place.client.get("/api/limits", headers=manager).json().keys() == {"cost"}
