"""Other services: signed messages in and out, Label Studio's questions to a model, participants of Prolific."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from contextlib import contextmanager
from hmac import digest
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import OutsideOptions, live_application, token
from crowdopt.live.inbox import handle
from crowdopt.live.service import courier
from crowdopt.live.service.courier import Courier
from crowdopt.live.service.secrets_of_others import Secrets
from crowdopt.live.service.signatures import is_prolific, is_signed, signature

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")

SECRET = "whsec_" + b64encode(bytes(range(32))).decode()
OUTSIDE = OutsideOptions(code="C1234", secrets=Secrets(SECRET, "prolific's own", "a long enough secret"))


class Open:
    """A service in this process, and its campaign."""

    def __init__(self, folder, policy: str = "greedy") -> None:
        crowdopt.init(folder / "birds", classes=["yes", "no"])
        if ":gold=" in policy:
            (folder / "birds" / "gold_tasks.csv").write_text("task,label,type\ng1,yes,plant\ng2,no,bird\n")
        self.folder, self.store = folder / "birds", folder / "campaign.db"
        self.live = crowdopt.live(self.folder, policy=policy, store=self.store, newcomers=5)
        app = live_application(self.folder, self.live, OUTSIDE, rate=1e9, burst=1e9)
        self.client = testing.TestClient(app, raise_server_exceptions=False)
        self.tasks = [row.task for row in self.live.answers()]

    def token(self, **owner) -> dict[str, str]:
        """Headers with a new token."""
        return {"Authorization": f"Bearer {token(self.store, **owner)}"}

    def hook(self, body, message: str = "m1", at: float | None = None, secret: str = SECRET) -> int:
        """The status of a signed message."""
        content, now = json.dumps(body).encode(), str(int(time.time() if at is None else at))
        headers = {"webhook-id": message, "webhook-timestamp": now}
        headers["webhook-signature"] = f"v1,AAAA {signature(secret, message, now, content)}"
        return self.client.post("/hooks/standard", content=content, headers=headers).status_code

    def labels(self) -> list[tuple[str, str, str]]:
        """What was told, once all messages were acted on."""
        self.client.get("/health")
        for _ in range(200):
            with self.live.together() as turn:
                if not turn.state.inbox:
                    break
            time.sleep(0.01)
        return [tuple(row[:3]) for row in self.live.labels()]

    def refusals(self) -> list[str]:
        """Why messages were not acted on."""
        return [event.value for event in self.live.events() if event.kind == "handled" and event.value]


@pytest.fixture
def place(tmp_path):
    """A new one."""
    return Open(tmp_path)


def given(worker: str, task: str, label: str) -> dict:
    """A message with a label."""
    return {"type": "label.created", "timestamp": "", "data": {"worker": worker, "task": task, "label": label}}


def test_the_signature_is_that_of_the_standard():
    """The example of the specification's reference libraries: its secret, id, time and body give its signature."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    said = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert said == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_label_that_was_given_elsewhere_counts_once(place):
    """Asked for or not, told twice or changed; the message's id makes it one message, the pair one label."""
    ada, bo = "ada", "somebody new"
    lease = place.live.ask(ada)
    assert lease is not None
    assert place.hook(given(ada, lease.task, "yes"), "a") == 200
    assert place.hook(given(ada, lease.task, "no"), "a") == 200  # the same message: its body is not looked at
    assert place.hook(given(bo, place.tasks[3], "yes"), "b") == 200
    assert place.hook(given(bo, place.tasks[3], "no"), "c") == 200
    assert place.labels() == [(ada, lease.task, "yes"), (bo, place.tasks[3], "no")]
    assert place.live.ask(ada) != lease and not place.refusals()
    assert check_history(place.folder, place.store).labels == 2


def test_what_makes_no_sense_is_kept_and_said(place):
    """The sender is answered 200, for it was taken; the manager reads why nothing came of it."""
    for number, body in enumerate(
        [given("ada", "no such task", "yes"), given("ada", place.tasks[0], "perhaps"), {"type": "label.created"}, [], 3]
    ):
        assert place.hook(body, f"bad {number}") == 200
    assert place.labels() == []
    assert [why.split(" ")[0] for why in place.refusals()] == ["there", "'perhaps'", "the"]


def test_a_message_that_is_not_signed_or_old_is_refused(place):
    """Another secret, another body, a time of ten minutes ago; and without a secret no message is taken."""
    body = given("ada", place.tasks[0], "yes")
    other = "whsec_" + b64encode(bytes(32)).decode()
    assert place.hook(body, secret=other) == 401 and place.hook(body, at=time.time() - 600) == 401
    assert place.client.post("/hooks/standard", json=body).status_code == 401
    headers = {"webhook-id": "x", "webhook-timestamp": "1", "webhook-signature": signature(SECRET, "x", "1", b"{}")}
    assert is_signed(SECRET, headers, b"{}", 1.0) and not is_signed(SECRET, headers, b"[]", 1.0)
    assert not is_signed(SECRET, headers | {"webhook-timestamp": "²"}, b"{}", 1.0)
    closed = testing.TestClient(live_application(place.folder, place.live), raise_server_exceptions=False)
    assert closed.post("/hooks/standard", json=body).status_code == 401
    assert closed.post("/hooks/prolific", json=body).status_code == 401
    assert closed.get("/join", params={"key": "", "PROLIFIC_PID": "x"}).status_code == 403
    with pytest.raises(crowdopt.InputError, match="24 bytes"):
        live_application(place.folder, place.live, OutsideOptions(secrets=Secrets("whsec_short")))


def test_a_message_of_a_worker_who_cannot_be_met_yet_waits(tmp_path):
    """The message waits while others are tested first, over a restart too."""
    place = Open(tmp_path, "sampled-lp:gold=1:gamma=.1")
    with place.live.together() as turn:
        assert turn.received("webhook", "w", given("ada", place.tasks[0], "yes")) == turn.received("webhook", "w", {})
    again = crowdopt.live(place.folder, policy="sampled-lp:gold=1:gamma=.1", store=place.store, newcomers=5)
    with again.together() as turn:
        handle(turn)
        assert len(turn.state.inbox) == 1 and not turn.state.label_rows()


def test_label_studio_is_answered_as_by_a_model(place):
    """Health and setup; predictions in the words of its interface, the surest last; its webhooks bring labels."""
    tool = place.token(role="tool")
    assert place.client.get("/health").json()["status"] == "UP"
    assert place.client.post("/setup", json={"project": "1.2", "schema": "<View/>"}, headers=tool).status_code == 200
    for worker in ("ada", "bo"):
        lease = place.live.ask(worker)
        assert lease is not None
        place.live.tell(lease, "yes")
    config = (
        '<View><Text name="t" value="$text"/><Choices toName="t" name="kind"><Choice value="yes"/></Choices></View>'
    )
    asked = [{"id": 7, "data": {"task": lease.task}}, {"id": 8, "data": {"task": place.tasks[-1]}}]
    said = place.client.post("/predict", json={"tasks": asked, "label_config": config}, headers=tool).json()["results"]
    assert said[0]["result"][0]["value"] == {"choices": ["yes"]} and said[0]["result"][0]["from_name"] == "kind"
    assert said[0]["result"][0]["to_name"] == "t" and said[1]["result"] == [] and said[1]["score"] == 0
    chosen = [{"from_name": "kind", "to_name": "t", "type": "choices", "value": {"choices": ["no"]}}]
    body = {
        "action": "ANNOTATION_CREATED",
        "task": {"id": 9, "data": {"task": place.tasks[2]}},
        "annotation": {"id": 1, "completed_by": {"id": 3, "email": "ada"}, "result": chosen, "was_cancelled": False},
    }
    assert place.client.post("/webhook", json=body, headers=tool).json() == {"status": "kept"}
    assert place.labels()[2:] == [("ada", place.tasks[2], "no")]
    basic = {"Authorization": "Basic " + b64encode(("crowdopt:" + tool["Authorization"][7:]).encode()).decode()}
    assert place.client.post("/setup", json={}, headers=basic).status_code == 200
    for wrong in ({}, place.token(worker="ada"), {"Authorization": "Basic %%%"}):
        assert place.client.post("/webhook", json=body, headers=wrong).status_code in (401, 403)


def test_participants_of_prolific_come_leave_and_hand_in_a_code(place):
    """A link with the study's secret gives a token; a place given back frees its task; who is done has a code."""
    link = {"key": "a long enough secret", "PROLIFIC_PID": "5f3a"}
    came = place.client.get("/join", params=link, follow_redirects=False)
    assert came.status_code == 303 and came.headers["location"].startswith("/#")
    assert place.client.get("/join", params=link | {"key": "guess"}, follow_redirects=False).status_code == 403
    mine = {"Authorization": "Bearer " + came.headers["location"][2:]}
    lease = place.client.post("/api/next", headers=mine).json()
    assert lease["lease"] is not None
    hook = {"event_type": "submission.status.change", "participant_id": "5f3a", "status": "RETURNED"}
    content, now = json.dumps(hook).encode(), str(int(time.time()))
    signed = b64encode(digest(b"prolific's own", now.encode() + content, "sha256")).decode()
    headers = {"X-Prolific-Request-Timestamp": now, "X-Prolific-Request-Signature": signed, "X-Event-ID": "e1"}
    assert place.client.post("/hooks/prolific", content=content, headers=headers).status_code == 200
    assert is_prolific("prolific's own", {name.lower(): value for name, value in headers.items()}, content, int(now))
    assert place.client.post("/hooks/prolific", content=content + b" ", headers=headers).status_code == 401
    place.labels()
    with place.live.together() as turn:
        assert not turn.state.leases
    while (lease := place.client.post("/api/next", headers=mine).json())["lease"] is not None:
        place.client.post("/api/label", json={"lease": lease["lease"], "label": "yes"}, headers=mine)
    assert lease["over"] and lease["code"] == "C1234"


@contextmanager
def receiver(fails: int):
    """A server that refuses so many messages first; what it took, with headers."""
    taken: list[tuple[dict, bytes]] = []
    left = [fails]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            left[0] -= 1
            if left[0] < 0:
                taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(503 if left[0] >= 0 else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", taken
        finally:
            server.shutdown()
            thread.join()


def test_labels_are_told_to_others_in_order_and_again_until_they_are_taken(place, monkeypatch):
    """Signed, also after a restart, and none that was taken is sent again."""
    monkeypatch.setattr(courier, "EVERY", 0.01)
    monkeypatch.setattr(courier, "WAITS", (0.01, 0.02))
    with receiver(2) as (url, taken):

        def sent(count: int) -> None:
            messenger, until = Courier(place.live, url, SECRET, lambda line: None), time.monotonic() + 20
            messenger.start()
            while len(taken) < count and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.05)
            messenger.close()

        lease = place.live.ask("ada")
        place.live.tell(lease, "yes")
        place.live.correct(lease, "no")
        sent(2)
        place.live.bring("bo", place.tasks[2], "yes")
        sent(3)
    bodies = [json.loads(body) for _, body in taken]
    assert [body["type"] for body in bodies] == ["label.created", "label.updated", "label.created"]
    assert [body["data"]["worker"] for body in bodies] == ["ada", "ada", "bo"]
    assert all(is_signed(SECRET, headers, body, time.time()) for headers, body in taken)
    assert len({headers["webhook-id"] for headers, _ in taken}) == 3


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
