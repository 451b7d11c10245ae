"""The service over HTTP, on the loopback address alone: calls, tokens, limits, an end that loses nothing."""

from __future__ import annotations

import json
import signal
from threading import Event

import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import token
from crowdopt.live.service.front_desk import FrontDesk
from tests.live.people import small
from tests.live.service import Client, running, started
from tests.live.stores import KEPT, PLACES

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

NASTY = ["<script>alert(1)</script>", "../../etc/passwd", "a/b?c#d", "%00", "‮gro", "x" * 200]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A campaign with texts and names that are no good on a page."""
    folder = tmp_path_factory.mktemp("service")
    crowdopt.init(folder / "birds")
    (folder / "birds" / "tasks.csv").write_text(
        "task,text\n" + "".join(f'"{name}{k}","{name} & <b>bold</b>"\n' for name in NASTY for k in range(3)), "utf-8"
    )
    (folder / "birds" / "workers.csv").write_text(
        "worker,capacity\nada,50\nbob,50\n" + "".join(f'"{name}",50\n' for name in NASTY[:4]), "utf-8"
    )
    (folder / "birds" / "skills.csv").write_text(
        "worker,accuracy\nada,.8\nbob,.8\n" + "".join(f'"{name}",.8\n' for name in NASTY[:4]), "utf-8"
    )
    for name in ("gold.csv", "forbidden.csv", "collected.csv", "prices.csv"):
        (folder / "birds" / name).unlink(missing_ok=True)
    (folder / "birds" / "campaign.toml").write_text('epsilon = 0.1\ntitle = "Birds <i>"\nclasses = ["cat", "dog"]\n')
    return folder


@pytest.fixture(scope="module")
def port(place):
    """A service of that campaign, with room for many calls."""
    with running(place / "birds", place / "x.db", "--policy", "greedy") as number:
        yield number


@pytest.fixture(scope="module")
def tokens(place, port):
    """Of the manager and two workers."""
    return {name: token(place / "x.db", name) for name in (None, "ada", "bob")}


def test_a_worker_asks_and_tells(port, tokens):
    """The same call again is the same answer, byte for byte."""
    ada = Client(port, tokens["ada"])
    assert ada.call("/api/me")["classes"] == ["cat", "dog"]
    lease = ada.call("/api/next", {})
    assert ada.call("/api/next", {}) == lease and set(lease["content"]) == {"text"}
    body = json.dumps({"lease": lease["lease"], "label": "cat"}).encode()
    answers = [ada.raw("POST", "/api/label", body)[:2] for _ in range(3)]
    assert answers[0][0] == 200 and len(set(answers)) == 1
    assert ada.call("/api/me")["labels"] == 1
    again = ada.call("/api/next", {})
    assert again["task"] != lease["task"]
    ada.call("/api/skip", {"lease": again["lease"]})
    assert ada.call("/api/next", {})["task"] not in (lease["task"], again["task"])


def test_the_manager_sees_all_of_it(port, tokens):
    """Tables, counts, tokens for workers, pausing."""
    manager, bob = Client(port, tokens[None]), Client(port, tokens["bob"])
    assert {row["worker"] for row in manager.call("/api/workers")} >= {"ada"}
    assert len(manager.call("/api/answers")) == 18 and manager.call("/api/progress")["tasks"] == 18
    assert manager.raw("GET", "/api/events.csv")[1].startswith(b"number,at,kind,worker,task,lease,value\n1,")
    manager.call("/api/pause", {})
    paused = bob.call("/api/next", {})
    manager.call("/api/resume", {})
    assert paused["lease"] is None and not paused["over"] and bob.call("/api/next", {})["lease"]
    made = manager.call("/api/tokens", {"worker": NASTY[0]})
    other = Client(port, made["token"])
    assert other.call("/api/me")["worker"] == NASTY[0] and other.call("/api/next", {})["lease"]
    manager.call("/api/remove", {"worker": NASTY[0]})
    assert other.call("/api/next", {}) == {"lease": None, "again_in": 5, "over": True}


def test_tokens_open_what_is_theirs(port, place, tokens):
    """None, wrong ones, old ones, and those of others are refused; what another worker holds does not exist."""
    ada, bob = Client(port, tokens["ada"]), Client(port, tokens["bob"])
    for client in (Client(port), Client(port, "wrong"), Client(port, "é".encode().decode("latin-1"))):
        for path in ("/api/me", "/api/progress", "/api/events.csv"):
            status, content, headers = client.raw("GET", path)
            assert status == 401 and headers["www-authenticate"] == "Bearer" and "error" in json.loads(content)
    assert ada.raw("GET", "/api/progress")[0] == 403 and ada.raw("POST", "/api/tokens", b'{"worker": "bob"}')[0] == 403
    assert Client(port, tokens[None]).raw("POST", "/api/next", b"{}")[0] == 403
    lease = ada.call("/api/next", {})["lease"]
    for path, more in (("/api/label", {"label": "cat"}), ("/api/skip", {})):
        theirs = bob.raw("POST", path, json.dumps({"lease": lease, **more}).encode())
        none = bob.raw("POST", path, json.dumps({"lease": 10**9, **more}).encode())
        assert theirs[0] == none[0] == 404
        assert theirs[1].replace(str(lease).encode(), b"") == none[1].replace(b"1000000000", b"")
    old = tokens["bob"]
    tokens["bob"] = token(place / "x.db", "bob")
    assert (
        Client(port, old).raw("GET", "/api/me")[0] == 401
        and Client(port, tokens["bob"]).raw("GET", "/api/me")[0] == 200
    )


def test_tokens_are_kept_as_digests(place, tokens):
    """A reader of the file cannot call in the name of another."""
    stored = b"".join(path.read_bytes() for path in place.glob("x.db*"))
    assert not [one for one in tokens.values() if one.encode() in stored]


SENSELESS = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 5000, b'{"lease": true}']
SENSELESS += [b'{"lease": "x", "label": 3}', b'{"lease": -1, "label": "cat"}', b'{"lease": 1e400, "label": "cat"}']
SENSELESS += [b'{"lease": 99999999999999999999999, "label": "cat"}']


@pytest.mark.parametrize("body", SENSELESS, ids=range(len(SENSELESS)))
def test_what_makes_no_sense_is_a_sentence(port, tokens, body):
    """400, 404 or 422 with JSON, whatever is sent."""
    for path in ("/api/label", "/api/skip"):
        status, content, _ = Client(port, tokens["ada"]).raw("POST", path, body)
        assert status in (400, 404, 422) and list(json.loads(content)) == ["error"], content


def test_a_label_that_is_none_changes_nothing(port, tokens):
    """The classes stand in the sentence."""
    ada = Client(port, tokens["ada"])
    lease = ada.call("/api/next", {})
    status, content, _ = ada.raw(
        "POST", "/api/label", json.dumps({"lease": lease["lease"], "label": NASTY[0]}).encode()
    )
    assert status == 409 and b"cat, dog" in content
    assert ada.call("/api/next", {}) == lease


def test_bodies_have_a_size(port, tokens):
    """Ten megabytes are refused, with a length and without, and the service goes on."""
    for headers in ({}, {"Transfer-Encoding": "chunked"}):
        client = Client(port, tokens["ada"])
        try:
            body = iter([b"x" * 2**16] * 160) if headers else b"x" * 10**7
            assert client.raw("POST", "/api/label", body, headers)[0] == 413
        except (BrokenPipeError, ConnectionResetError):  # the answer came before all was sent
            pass
    assert Client(port).call("/health")["status"] == "UP"


def test_pages_let_nothing_in(port):
    """No script from outside, no style in line, nothing that a name could break out of."""
    client = Client(port)
    for path in ("/", "/manage"):
        status, content, headers = client.raw("GET", path)
        policy = headers["content-security-policy"]
        assert status == 200 and "default-src 'none'" in policy and "unsafe" not in policy
        assert b"Birds &lt;i&gt;" in content and b"<i>" not in content
        assert b"http://" not in content and b"https://" not in content and b"style=" not in content
    for name in ("live.css", "labelling.js", "manager.js"):
        status, content, headers = client.raw("GET", f"/static/{name}")
        assert status == 200 and b"innerHTML" not in content and headers["x-content-type-options"] == "nosniff"
    for path in (
        "/static/../application.py",
        "/static/%2e%2e/application.py",
        "/static//etc/passwd",
        "/docs",
        "/nothing",
    ):
        assert client.raw("GET", path)[0] == 404


def test_an_end_that_is_asked_for_loses_nothing(place, tmp_path):
    """SIGTERM: the process ends by itself, and what it acknowledged is there when it comes back."""
    store = tmp_path / "y.db"
    process, port = started(place / "birds", store, "--policy", "greedy")
    ada = Client(port, token(store, "ada"))
    for _ in range(5):
        lease = ada.call("/api/next", {})
        ada.call("/api/label", {"lease": lease["lease"], "label": "dog"})
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert not err and "Traceback" not in out
    assert len(crowdopt.live(place / "birds", policy="greedy", store=store).labels()) == 5


@pytest.mark.parametrize("kind", KEPT)
def test_two_services_on_one_store(kind, place, tmp_path):
    """What one leases the other knows, and takes the label of; what they decided in turn is one history."""
    store = PLACES[kind](tmp_path)
    with (
        running(place / "birds", store, "--policy", "greedy") as one,
        running(place / "birds", store, "--policy", "greedy") as other,
    ):
        tokens, pairs = [token(store, name) for name in ("ada", "bob")], set()
        for k in range(20):
            ask, tell = (Client(port, tokens[k % 2]) for port in ((one, other) if k % 3 else (other, one)))
            lease = ask.call("/api/next", {})
            assert tell.call("/api/next", {}) == lease
            pairs.add((k % 2, lease["task"]))
            assert not tell.call("/api/label", {"lease": lease["lease"], "label": "dog"})["late"]
            assert ask.call("/api/me")["labels"] == k // 2 + 1
    assert len(pairs) == 20 and check_history(place / "birds", store).labels == 20


def test_a_port_that_is_taken_is_a_sentence(place, port, tmp_path):
    """Exit status 2."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "crowdopt.cli", "live", str(place / "birds"), "--policy", "greedy"]
    done = subprocess.run(
        [*command, "--store", str(tmp_path / "z.db"), "--port", str(port)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and "choose another --port" in done.stderr and "Traceback" not in done.stderr


def test_a_caller_who_gave_up_stops_nobody():
    """What they asked is not done, and those behind them are served; who is being served is served to the end."""
    desk = FrontDesk(crowdopt.live(small()[0], policy="greedy"))
    begun, gate, done = Event(), Event(), []

    def wait(turn) -> str:
        begun.set()
        gate.wait(60)
        return "first"

    first = desk.submit(wait)
    assert begun.wait(60)
    second, third = desk.submit(lambda turn: done.append(2)), desk.submit(lambda turn: "third")
    assert second.cancel() and not first.cancel()
    gate.set()
    assert (first.result(60), third.result(60), done) == ("first", "third", [])
    desk.close()
