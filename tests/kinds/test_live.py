"""A campaign that runs: who gets in, when time is over, what labels that were in tell, what a file holds in the end."""

from __future__ import annotations

import shutil
import socket
import stat
import time
from contextlib import suppress
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

import crowdopt
from crowdopt.verbs.live import check_history, export_history, live_application, token
from tests.io import lay, write_table
from tests.serving.scripts import LEASE, Clock
from tests.typed import run

KEY = "a link of sixteen letters"
TASKS = [f"t{k}" for k in range(5)]
GOLD = {"task": [f"g{k}" for k in range(12)], "label": ["yes"] * 12}
POLICIES = ["greedy", "least-covered", "entropy", "re-solve", "budget:each=9", "kos:labels=15"]
POLICIES += ["adaptive:gold=2:block=9", "sequential:bootstrap=0:block=3"]


def crowd(capacity=9, **changes):
    """Three workers of known skill, five tasks alike."""
    names = {"workers": ["ada", "bob", "cyd"], "tasks": TASKS, "class_names": ["yes", "no"]}
    made = crowdopt.AssignmentInstance([[0.9, 0.8, 0.7]], [0] * 5, capacity, 0.05, **names)
    return replace(made, **changes)


def folder_of(place, collected=(), settings='epsilon = 0.2\nclasses = ["yes", "no"]'):
    """A campaign of two workers."""
    lay(place, settings, TASKS[:4], {"ada": (9, 0.9), "bob": (9, 0.8)})
    if collected:
        write_table(place / "collected.csv", "task,worker,label", *collected)
    return place


@pytest.fixture
def service(tmp_path):
    """A campaign that newcomers may join, its store, and what calls it."""
    testing = pytest.importorskip("starlette.testclient")
    pytest.importorskip("httpx")
    folder, store = folder_of(tmp_path / "c"), tmp_path / "c.db"
    live = crowdopt.live(folder, policy="greedy", store=store, newcomers=4)
    app = live_application(folder, live, KEY)
    return live, store, lambda: testing.TestClient(app, follow_redirects=False, raise_server_exceptions=False)


def bearer(secret: str) -> dict[str, str]:
    """Headers of a caller."""
    return {"Authorization": f"Bearer {secret}"}


# -- who gets in ---------------------------------------------------------------------------------------------------


def test_a_link_gives_each_newcomer_one_token_and_nobody_elses(service):
    """Names are no secret. Whoever has the link gets no seat that is another's; the browser that has it comes back."""
    live, store, client = service
    ada, guest = token(store, "ada"), token(store, "guest")
    live.ask("walk-in")
    mine = client()

    def join(calls, name):
        return calls.get("/join", params={"key": KEY, "PROLIFIC_PID": name})

    given = join(mine, "new")
    assert given.status_code == 303
    for name in ("ada", "bob", "guest", "walk-in", "new"):  # with a token, without, by the manager, at work, joined
        assert join(client(), name).status_code == 403
        assert join(mine, name).status_code == (303 if name == "new" else 403)
    assert join(mine, "new").headers["location"] == given.headers["location"]
    for secret in (ada, guest, given.headers["location"][2:]):
        assert client().get("/api/me", headers=bearer(secret)).status_code == 200, "a token goes on"


@pytest.mark.parametrize("name", ["", "\u2003"])
def test_no_worker_has_a_blank_name(tmp_path, name):
    """The expert stands as the empty name in the history: a worker of that name would be the expert."""
    store = tmp_path / "s.db"
    made = run("live", "token", "--worker", name, "--store", store)
    assert made.exit_code == 2 and made.output.count("\n") == 1 and not store.exists()
    with pytest.raises(crowdopt.InputError, match="no name"):
        token(store, name)
    live = crowdopt.live(crowd(), policy="greedy", newcomers=2)
    for call in (lambda: live.ask(name), lambda: live.bring(name, "t0", "yes")):
        with pytest.raises(crowdopt.InputError, match="no name"):
            call()


def test_a_key_is_for_one_call(service):
    """Another body or another endpoint with the same key gets a refusal, never the first one's answer."""
    _, store, client = service
    ada, bob, manager = (token(store, name) for name in ("ada", "bob", None))
    with client() as calls:

        def call(secret, path, body):
            return calls.post(path, headers=bearer(secret) | {"Idempotency-Key": "k"}, json=body)

        first = call(ada, "/api/next", {}).json()
        assert call(ada, "/api/next", {}).json() == first
        others = [call(ada, "/api/label", {"lease": first["lease"], "label": "yes"})]
        assert calls.get("/api/me", headers=bearer(ada)).json()["labels"] == 0
        theirs = call(bob, "/api/next", {}).json()
        assert theirs["lease"] not in (first["lease"], None), "a key is the caller's own"
        assert call(manager, "/api/remove", {"worker": "bob"}).is_success
        others.append(call(manager, "/api/remove", {"worker": "ada"}))
        assert all(one.status_code == 422 and "Idempotency-Key" in one.json()["error"] for one in others)
        assert calls.post("/api/label", headers=bearer(ada), json={"lease": first["lease"], "label": "yes"}).is_success


# -- time ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_a_lapse_ends_no_workers_campaign(policy):
    """All that was planned for the worker and never handed out may be theirs: only the pair that lapsed is not."""
    clock, gold = Clock(), GOLD if "gold=2" in policy else None
    live = crowdopt.live(crowd(), policy=policy, lease=LEASE, clock=clock, gold=gold)
    lost = live.ask("ada")
    clock.now += 2 * LEASE
    asked = [lost.task]
    while (lease := live.ask("ada")) is not None:
        asked.append(lease.task)
        assert not live.tell(lease, "yes").late
    assert len(asked) == len(set(asked)), "a pair is asked once"
    answered = {task for task in asked[1:] if task in TASKS}
    assert len(answered) >= (len(TASKS) if gold else len(TASKS) - 1), asked
    assert sum(task.startswith("g") for task in asked) == (2 if gold else 0), "the rest of the gold is asked"


@pytest.mark.parametrize("step", [1e6, -1e6])
def test_a_clock_that_is_set_ends_no_lease(step):
    """Leases go by a clock that is never set, whatever the time of day says."""
    live = crowdopt.live(crowd(), policy="greedy", lease=LEASE)
    lease = live.ask("ada")
    live.clock = lambda: time.time() + step
    assert live.ask("ada") == lease and live.ask("bob") is not None
    assert not live.tell(lease, "yes").late
    kept = live.ask("ada")
    live.steady = lambda: time.monotonic() + 2 * LEASE
    assert live.ask("ada") != kept and live.tell(kept, "yes").late, "time that passed counts"


def test_a_clock_that_was_set_back_freezes_nothing(tmp_path):
    """Leases end by what passes, after a restart too, and what lapsed is free for others; history turns not back."""
    clock, store = Clock(), tmp_path / "s.db"
    given = {"policy": "greedy", "lease": LEASE, "clock": clock, "store": store}
    lost = crowdopt.live(crowd(capacity=1), **given).ask("ada")
    clock.now -= 1e6
    live = crowdopt.live(crowd(capacity=1), **given)
    assert live.ask("bob").task != lost.task
    clock.now += 2 * LEASE
    assert live.ask("cyd").task == lost.task and live.tell(lost, "yes").late
    at = [event.at for event in live.events()]
    assert at == sorted(at)


# -- labels that were in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["greedy", "entropy", "sequential:bootstrap=0", "budget:each=9"])
def test_labels_that_were_in_count_by_bayes(policy, tmp_path):
    """Posterior odds are products of (K - 1) p / (1 - p) over the labels, in whatever order their workers come."""
    rows = "t0,bob,no", "t1,ada,yes", "t0,ada,no", "t2,bob,maybe"
    settings = 'epsilon = 0.2\nrule = "bhattacharyya"\nclasses = ["yes", "no", "maybe"]'
    live = crowdopt.live(folder_of(tmp_path / "c", collected=rows, settings=settings), policy=policy)
    odds = {"t0": 2 * 0.9 / 0.1 * (2 * 0.8 / 0.2), "t1": 2 * 0.9 / 0.1, "t2": 2 * 0.8 / 0.2}
    # of three classes the chances are e : 1 : 1 where all labels agree
    right = {task: value / (value + 2) for task, value in odds.items()}
    said = {"t0": ("no", 2), "t1": ("yes", 1), "t2": ("maybe", 1), "t3": ("", 0)}
    for _ in range(2):
        found = {row.task: row for row in live.answers()}
        assert {task: (row.answer, row.labels) for task, row in found.items()} == said
        assert np.allclose([found[task].claim for task in odds], [1 - right[task] for task in odds], atol=1e-6)
        progress, claims = live.progress(), np.array([row.claim for row in found.values()])
        assert progress["labels"] == 0 and progress["paid"] == 0, "they were paid before"
        assert progress["unsure"] == (claims > 0.2).sum() and progress["claimed_error"] == pytest.approx(claims.mean())
        if policy in ("greedy", "entropy"):
            live.skip(live.ask("bob"))  # who comes first stands first among the arrivals: the labels stay theirs


def test_a_label_in_that_is_brought_again_counts_once(tmp_path):
    """It is the worker's word on that task as it is now; one that is no class counts for none, and is refused."""
    folder = folder_of(tmp_path / "c", collected=["t0,bob,no"])
    live = crowdopt.live(folder, policy="greedy", store=tmp_path / "s.db")
    assert live.bring("bob", "t0", "yes")
    live.close()
    export_history(tmp_path / "c", tmp_path / "s.db", tmp_path / "out")
    assert (tmp_path / "out" / "campaign" / "collected.csv").read_text() == "task,worker,label\nt0,bob,yes\n"
    live = crowdopt.live(tmp_path / "c", policy="greedy", store=tmp_path / "s.db")
    found = live.answers()[0]
    assert (found.answer, found.labels) == ("yes", 1) and found.claim == pytest.approx(0.2)
    with pytest.raises(crowdopt.InputError, match="nope"):
        crowdopt.live(folder_of(tmp_path / "d", collected=["t0,bob,nope"]), policy="greedy")


# -- a policy that can ask nothing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["adaptive", "greedy:gold=3", "main-algorithm"])
def test_gold_first_needs_gold(policy, tmp_path):
    """Without gold tasks such a policy knows no skill and asks nothing, or less than its options say."""
    sentence = r"asks \d+ gold tasks of each worker: give gold_tasks.csv, or "
    with pytest.raises(crowdopt.InputError, match=sentence) as told:
        crowdopt.live(crowd(), policy=policy, store=tmp_path / "s.db")
    assert not (tmp_path / "s.db").exists()
    crowdopt.live(crowd(), policy=str(told.value).rpartition(", or ")[2]).ask("ada")  # what it says goes
    crowdopt.live(crowd(), policy=policy, gold=GOLD).ask("ada")
    two = crowd(accuracy=[[0.9, 0.8, 0.7]] * 2, task_type=[0, 0, 0, 1, 1], types=["a", "b"], cost=np.ones((2, 3)))
    gold = GOLD | {"type": ["a"] * 12}
    with pytest.raises(crowdopt.InputError, match="none of type 'b'"):  # no task of it would ever be asked
        crowdopt.live(two, policy=policy, gold=gold)
    crowdopt.live(two, policy="sequential", gold=gold)


NOTHING = [
    ({"capacity": 0}, {}, "capacity"),
    ({"forbidden": [(i, j) for i in range(5) for j in range(3)]}, {}, "forbidden.csv"),
    ({}, {"money": 0.5}, "money"),
    ({"accuracy": [[0.5, 0.5, 0.5]]}, {}, "guess"),
]


@pytest.mark.parametrize(("changes", "options", "why"), NOTHING)
def test_what_cannot_be_asked_is_said(changes, options, why):
    """The campaign is legal, and nothing will be asked: the manager is told before workers are."""
    live = crowdopt.live(crowd(**changes), policy="greedy", **options)
    assert live.ask("ada") is None
    assert any(why in note for note in live.progress()["notes"])
    for legal, more in (({}, {}), ({"forbidden": [(0, 0), (1, 1)]}, {"newcomers": 2})):
        assert crowdopt.live(crowd(**legal), policy="greedy", **more).progress()["notes"] == []


# -- the store -----------------------------------------------------------------------------------------------------


def test_the_file_alone_holds_the_history_once_closed(tmp_path):
    """Also while another has it open; it is its owner's alone, from the first token on."""
    folder, store = folder_of(tmp_path / "c"), tmp_path / "s.db"
    token(store, "ada")
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    live, other = (crowdopt.live(folder, policy="greedy", store=store) for _ in range(2))
    live.tell(live.ask("ada"), "yes")
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("s.db*")} == {0o600}
    live.close()
    alone = tmp_path / "alone.db"
    shutil.copy(store, alone)
    assert check_history(folder, alone).labels == 1
    other.close()
    assert [path.name for path in tmp_path.glob("s.db*")] == ["s.db"]


def test_more_tasks_go_the_way_that_is_named(tmp_path):
    """The refusal names it, and it goes: exported, lengthened, served from a new store, labels and texts and all."""
    tasks = ["task,text", 't0,"one, two"', "t1,two", "t2,three"]
    folder, store = folder_of(tmp_path / "c"), tmp_path / "s.db"
    write_table(folder / "tasks.csv", *tasks)
    live = crowdopt.live(folder, policy="greedy", store=store)
    first = live.ask("ada")
    live.tell(first, "yes")
    with pytest.raises(crowdopt.InputError, match="live export"):
        live.arrive("t9")
    live.close()
    export_history(folder, store, tmp_path / "out")
    write_table(folder / "tasks.csv", *tasks, "t9,nine")
    with pytest.raises(crowdopt.InputError, match=r"live export.*new --store"):
        crowdopt.live(folder, policy="greedy", store=store)
    more = tmp_path / "out" / "campaign"
    assert (more / "tasks.csv").read_text().startswith('task,text\nt0,"one, two"\n')
    with (more / "tasks.csv").open("a") as file:
        file.write("t9,nine\n")
    again = crowdopt.live(more, policy="greedy", store=tmp_path / "new.db")
    found = {row.task: (row.answer, row.labels) for row in again.answers()}
    assert found[first.task] == ("yes", 1) and found["t9"] == ("", 0)
    asked = []
    while (lease := again.ask("ada")) is not None:
        asked.append(lease.task)
        again.tell(lease, "no")
    assert "t9" in asked and first.task not in asked


# -- clients that stall --------------------------------------------------------------------------------------------


def test_half_a_request_holds_no_connection(tmp_path, monkeypatch):
    """Head or body: it ends, and others are served meanwhile however many there are."""
    pytest.importorskip("uvicorn")
    from crowdopt.serving.service import callers as request_limits
    from crowdopt.serving.service import server

    for module in (request_limits, server):
        monkeypatch.setattr(module, "SECONDS", 0.3)
    folder = folder_of(tmp_path / "c")
    live = crowdopt.live(folder, policy="greedy", store=tmp_path / "s.db")
    made, said = [], []

    class Kept(server.Announced):
        def __init__(self, *given) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(server, "Announced", Kept)
    app = live_application(folder, live)
    thread = Thread(target=server.serve, args=(app, ("127.0.0.1", 0), said.append, live))
    thread.start()
    try:
        while not said:
            time.sleep(0.01)
        port = int(said[0].split("127.0.0.1:")[1].split("/")[0])
        body = b"POST /api/label HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n{"
        halves = [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: x\r\n", body]
        half = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(60)]
        for k, one in enumerate(half):
            one.sendall(halves[k % 4])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as whole:
            whole.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert whole.recv(1000).startswith(b"HTTP/1.1 200")
        for k, one in enumerate(half):
            with one, suppress(ConnectionError):
                assert one.recv(1000)[:12] == (b"HTTP/1.1 408" if k % 4 == 3 else b"")
    finally:
        made[0].should_exit = True
        thread.join()
