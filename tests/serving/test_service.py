"""The service's calls, in this process: who may call what, what comes back, once and whatever is sent."""

from __future__ import annotations

import socket

import pytest

import crowdopt
from crowdopt.verbs.live import JOIN, check_history, live_application, serve, token
from tests.io import lay, write_table
from tests.typed import said

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")

SECRET = "a long enough secret"
NASTY = ["<script>alert(1)</script>", "../../etc/passwd", "a/b?c#d", "%00", "‮gro", "x" * 200]


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A campaign with texts and names that are no good on a page."""
    settings = 'epsilon = 0.1\ntitle = "Birds <i>"\nclasses = ["cat", "dog"]'
    names = [f'"{name}"' for name in NASTY[:4]]
    folder = lay(tmp_path_factory.mktemp("service") / "birds", settings, (), dict.fromkeys(["ada", *names], (50, 0.8)))
    rows = (f'"{name}{k}","{name} & <b>bold</b>"' for name in NASTY for k in range(3))
    write_table(folder / "tasks.csv", "task,text", *rows)
    return folder


class Service:
    """A service in this process, its campaign and its store."""

    def __init__(self, folder, store) -> None:
        self.folder, self.store = folder, store
        self.live = crowdopt.live(folder, policy="greedy", store=store, newcomers=5)
        self.client = self.of(live_application(folder, self.live, SECRET))

    @staticmethod
    def of(application):
        """Who calls it."""
        return testing.TestClient(application, raise_server_exceptions=False, follow_redirects=False)

    def by(self, worker: str | None = None, **more):
        """``by("ada")("/api/next", {})`` is what a worker with a new token is answered; None is the manager."""
        return self.holder(token(self.store, worker, **more))

    def holder(self, secret: str):
        """The same of who holds a token; what is no table is sent as it is."""
        head = {"Authorization": f"Bearer {secret}".encode()}

        def call(path: str, body: object = None):
            if body is None:
                return self.client.get(path, headers=head)
            if isinstance(body, dict):
                return self.client.post(path, headers=head, json=body)
            return self.client.post(path, headers=head | {"Content-Type": "application/json"}, content=body)

        return call


@pytest.fixture
def service(nasty, tmp_path):
    """A new one."""
    return Service(nasty, tmp_path / "campaign.db")


def test_a_worker_asks_and_tells(service):
    """The same call again is the same answer, byte for byte; a worker's last label is changed, and no other."""
    ada, labelled = service.by("ada"), []
    assert ada("/api/me").json()["classes"] == ["cat", "dog"]
    for _ in range(2):
        lease = ada("/api/next", {}).json()
        assert ada("/api/next", {}).json() == lease and set(lease["content"]) == {"text"}
        answers = [ada("/api/label", {"lease": lease["lease"], "label": "cat"}) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {200} and len({answer.content for answer in answers}) == 1
        labelled.append(lease)
    first, last = ({"lease": lease["lease"], "label": "dog"} for lease in labelled)
    assert ada("/api/correct", first).status_code == 409
    done = ada("/api/correct", last)
    assert done.json() == last | {"late": False} and ada("/api/correct", last).content == done.content
    assert service.by("new")("/api/correct", last).status_code == 404
    assert [event["kind"] for event in service.by()("/api/events").json()].count("corrected") == 1
    again = ada("/api/next", {}).json()
    wrong = ada("/api/label", {"lease": again["lease"], "label": NASTY[0]})
    assert wrong.status_code == 409 and "cat, dog" in wrong.text and ada("/api/next", {}).json() == again
    ada("/api/skip", {"lease": again["lease"]})
    labelled += [again, ada("/api/next", {}).json()]
    assert len({lease["task"] for lease in labelled}) == 4 and ada("/api/me").json()["labels"] == 2


def test_the_manager_sees_all_of_it_and_steers(service):
    """Tables, counts, tokens for workers, pausing, targets, bounds."""
    manager, ada = service.by(), service.by("ada")
    ada("/api/next", {})
    assert [row["worker"] for row in manager("/api/workers").json()][:1] == ["ada"]
    assert len(manager("/api/answers").json()) == 18 and manager("/api/progress").json()["tasks"] == 18
    assert manager("/api/events.csv").content.startswith(b"number,at,kind,worker,task,lease,value\n1,")
    other = service.holder(manager("/api/tokens", {"worker": NASTY[0]}).json()["token"])
    manager("/api/pause", {})
    paused = other("/api/next", {}).json()
    manager("/api/resume", {})
    assert paused["lease"] is None and not paused["over"] and other("/api/next", {}).json()["lease"]
    assert other("/api/me").json()["worker"] == NASTY[0]
    manager("/api/remove", {"worker": NASTY[0]})
    assert other("/api/next", {}).json() == {"lease": None, "again_in": 5, "over": True}
    assert manager("/api/target", {"epsilon": 0.15}).json() == {"epsilon": 0.15}
    assert manager("/api/target", {"epsilon": 2}).status_code == 422
    assert manager("/api/limits").json().keys() == {"cost"}


def test_tokens_open_what_is_theirs(service):
    """None, wrong ones, old ones, and those of others are refused; what another worker holds does not exist."""
    for stranger in map(service.holder, ("", "wrong", "é")):
        for path in ("/api/me", "/api/progress", "/api/events.csv"):
            answer = stranger(path)
            assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
            assert "error" in answer.json()
    ada, new, manager = service.by("ada"), service.by("new"), service.by()
    assert ada("/api/progress").status_code == 403 and ada("/api/tokens", {"worker": "new"}).status_code == 403
    assert manager("/api/next", {}).status_code == 403
    lease = ada("/api/next", {}).json()["lease"]
    for path, more in (("/api/label", {"label": "cat"}), ("/api/skip", {})):
        theirs, none = (new(path, {"lease": number, **more}) for number in (lease, 10**9))
        assert theirs.status_code == none.status_code == 404
        assert theirs.text.replace(str(lease), "") == none.text.replace(str(10**9), "")
    newer = token(service.store, "new")
    assert new("/api/me").status_code == 401 and service.holder(newer)("/api/me").status_code == 200
    stored = b"".join(path.read_bytes() for path in service.store.parent.glob("campaign.db*"))
    assert newer.encode() not in stored, "a reader of the file cannot call in the name of another"


SENSELESS = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 5000, b'{"lease": true}']
SENSELESS += [b'{"lease": "x", "label": 3}', b'{"lease": -1, "label": "cat"}', b'{"lease": 1e400, "label": "cat"}']
SENSELESS += [b'{"lease": 99999999999999999999999, "label": "cat"}']


def test_what_makes_no_sense_is_a_sentence(service):
    """400, 404 or 422 with JSON, whatever is sent; ten megabytes are refused, with a length and without."""
    ada = service.by("ada")
    for body in SENSELESS:
        for answer in (ada("/api/label", body), ada("/api/skip", body)):
            assert answer.status_code in (400, 404, 422) and list(answer.json()) == ["error"], answer.text
    for body in (b"x" * 10**7, iter([b"x" * 2**16] * 160)):
        assert ada("/api/label", body).status_code == 413
    assert service.client.get("/health").json()["status"] == "UP"


def test_pages_let_nothing_in(service):
    """No script from outside, no style in line, nothing that a name could break out of."""
    for path in ("/", "/manage"):
        page = service.client.get(path)
        policy = page.headers["content-security-policy"]
        assert page.status_code == 200 and "default-src 'none'" in policy and "unsafe" not in policy
        assert "Birds &lt;i&gt;" in page.text and "<i>" not in page.text
        assert not [word for word in ("http://", "https://", "style=") if word in page.text]
    for name in ("live.css", "labelling.js", "manager.js"):
        file = service.client.get(f"/static/{name}")
        assert file.status_code == 200 and "innerHTML" not in file.text
        assert file.headers["x-content-type-options"] == "nosniff"
    for path in ("static/../application.py", "static/%2e%2e/application.py", "static//etc/passwd", "docs", "nothing"):
        assert service.client.get(f"/{path}").status_code == 404


def test_a_link_without_its_secret_lets_no_one_in(service, monkeypatch):
    """Nor does a service without one, and a short one is refused before anything begins."""
    link = {"key": SECRET, "PROLIFIC_PID": "5f3a"}
    assert service.client.get("/join", params=link | {"key": "guess"}).status_code == 403
    closed = service.of(live_application(service.folder, service.live))
    assert closed.get("/join", params=link | {"key": ""}).status_code == 403
    monkeypatch.setenv(JOIN, "short")
    with pytest.raises(crowdopt.InputError, match="16 letters"):
        serve(service.folder, ("127.0.0.1", 0), print, store=service.store.with_name("new.db"))
    assert not service.store.with_name("new.db").exists()


def test_an_expert_calls_the_service(service):
    """With a token of their own, on the page's own calls; the manager sees what is looked at, and workers do not."""
    ada, expert, manager = service.by("ada"), service.by(role="expert"), service.by()
    theirs = {"lease": ada("/api/next", {}).json()["lease"], "label": "cat"}
    ada("/api/label", theirs)
    assert expert("/api/next", {}).json() == {"lease": None, "again_in": 5, "over": False}
    manager("/api/remove", {"worker": "ada"})
    manager("/api/end", {})
    look = expert("/api/next", {}).json()
    assert expert("/api/next", {}).json() == look and set(look) == {"lease", "task", "until", "content"}
    word = {"lease": look["lease"], "label": "dog"}
    assert ada("/api/label", word).status_code == expert("/api/label", theirs).status_code == 404
    told = [expert("/api/label", word) for _ in range(2)]
    assert told[0].json() == word | {"late": False} and told[0].content == told[1].content
    assert expert("/api/correct", word | {"label": "cat"}).status_code == 200
    me = expert("/api/me").json()
    assert me["worker"] == "expert" and me["labels"] == 1 and me["paid"] > 0
    assert ada("/api/looks").status_code == expert("/api/progress").status_code == 403
    (row,) = manager("/api/looks").json()
    assert row["label"] == "cat" and row["task"] == look["task"]
    assert expert("/api/skip", {"lease": expert("/api/next", {}).json()["lease"]}).status_code == 200
    assert manager("/api/progress").json()["looks"] == 1
    assert check_history(service.folder, service.store).labels == 1


def test_a_full_disk_is_answered_by_call_again(service):
    """503, as a page needs it to send the label again: it has not happened, and with room it counts once."""
    ada, live, base = service.by("ada"), service.live, service.live.store._base
    lease = ada("/api/next", {}).json()["lease"]
    base.execute(f"PRAGMA max_page_count = {base.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(crowdopt.InputError, match="cannot be written"):
        while True:
            live.pause()
            live.resume()
    events = live.events()
    for path, more in (("/api/label", {"label": "cat"}), ("/api/skip", {})):
        answer = ada(path, {"lease": lease, **more})
        assert answer.status_code == 503 and list(answer.json()) == ["error"] and "sqlite" not in answer.text
    base.execute("PRAGMA max_page_count = 1000000")
    assert live.events() == events and live.labels() == []
    assert ada("/api/label", {"lease": lease, "label": "cat"}).status_code == 200
    assert check_history(service.folder, service.store).labels == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # uvicorn leaves its socket open
def test_a_port_that_is_taken_is_a_sentence(nasty, tmp_path):
    """Exit status 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ["live", nasty, "--store", tmp_path / "z.db", "--port", taken.getsockname()[1]]
        assert "choose another --port" in said(*words, code=2)
