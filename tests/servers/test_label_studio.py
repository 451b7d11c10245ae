"""Label Studio itself: five workers, two rounds, a server that is killed, and nothing lost."""

from __future__ import annotations

import re
import shutil
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crowdopt import InputError, pull, push
from crowdopt.io.bridges.web import Web
from tests.servers.campaigns import WORKERS, given, label_of, lay, queues, second_round
from tests.servers.environments import Server, Visitor, executable, free_port

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PASSWORD = "a long password"


def studio(folder: Path) -> Server:
    """A server with a database of its own."""
    port = free_port()
    command = f"{executable('label-studio')} start --init --no-browser --enable-legacy-api-token"
    options = ["--internal-host", "127.0.0.1"]
    options += ["--port", str(port), "--username", "boss@example.org", "--password", PASSWORD, "--user-token", TOKEN]
    environment = {"LABEL_STUDIO_BASE_DATA_DIR": str(folder), "SECRET_KEY": "only for tests"}
    environment |= dict.fromkeys(("COLLECT_ANALYTICS", "LATEST_VERSION_CHECK"), "False")
    return Server([*command.split(), *options], folder, port, "/health", environment)


class Worker(Visitor):
    """A worker with an account who opens the link they were sent."""

    def __init__(self, url: str, name: str, new: bool = True) -> None:
        super().__init__(url)
        self.name = name
        path = "/user/signup/" if new else "/user/login/"
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.open(path))
        assert token is not None
        fields = {"email": f"{name}@example.org", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        self.form(path, **fields)
        assert self.call("GET", "/api/current-user/whoami")["email"] == f"{name}@example.org"

    def next_task(self, link: str) -> dict[str, Any] | None:
        """What the link's page shows next, or nothing more: it asks for the tab, and then by its filter and order."""
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
        assert asked["labeling"] == ["1"]
        shown = self.call("GET", f"/api/dm/views/{asked['tab'][0]}/")["data"]
        body = {name: shown[name] for name in ("filters", "ordering")}
        body["selectedItems"] = {"all": False, "included": []}
        try:
            task: dict[str, Any] = self.call("POST", f"/api/dm/actions?id=next_task&project={project_of(link)}", body)
        except urllib.error.HTTPError as error:
            with error:
                assert error.code == 404, error.read()
            return None
        return task

    def hand_in(self, project: int, task: int, label: str, seconds: float) -> None:
        """Submit a label, or skip where it is empty."""
        value = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
        body = {"result": [value] if label else [], "was_cancelled": not label, "lead_time": seconds}
        self.call("POST", f"/api/tasks/{task}/annotations/?project={project}", body)


def project_of(link: str) -> int:
    """The project that a worker's link opens."""
    found = re.search(r"/projects/(\d+)/data", link)
    assert found is not None
    return int(found[1])


pytestmark = pytest.mark.servers
SKIPPED = 2  # the second task that dana sees


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Path:
    """The folder of a server that was started once, which takes a minute or two."""
    folder = tmp_path_factory.mktemp("database")
    running = studio(folder)
    running.start()
    running.kill()
    return folder


@pytest.fixture
def server(tmp_path: Path, database: Path, monkeypatch) -> Iterator[Server]:
    """A fresh one."""
    running = studio(shutil.copytree(database, tmp_path / "studio"))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    running.start()
    yield running
    running.kill()


def work(workers: dict[str, Worker], links: Mapping[str, str], most: int = 1000) -> dict[str, list[str]]:
    """Every worker labels what their link shows, until nothing more is, or so many; what each was shown, in order."""
    shown: dict[str, list[str]] = {name: [] for name in workers}
    for name, worker in workers.items():
        while name in links and len(shown[name]) < most and (task := worker.next_task(links[name])):
            assert task["predictions"] == []  # no worker is told what others think
            title = task["data"]["task"]
            shown[name].append(title)
            skips = name == "dana" and len(shown[name]) == SKIPPED and most == 1000
            said = "" if skips else label_of(title, name)
            worker.hand_in(project_of(links[name]), task["id"], said, 1.5 + len(shown[name]))
    return shown


def half_a_push(server: Server, monkeypatch, calls: int, **options) -> None:
    """A push during which the server dies after so many calls."""
    call, made, one = Web.call, count(1), threading.Lock()

    def counted(self, method, path, body=None):
        with one:
            if next(made) > calls:
                server.kill()
        return call(self, method, path, body)

    with monkeypatch.context() as patched:
        patched.setattr(Web, "call", counted)
        with pytest.raises(InputError, match="did not answer.*run the same command again"):
            push(**options)


def managed(server: Server, method: str, path: str, body: Any = None) -> Any:
    """What is answered to who has the token of the server's first account."""
    boss = Visitor(server.url)
    boss.opener.addheaders = [("Authorization", f"Token {TOKEN}")]
    return boss.call(method, path, body)


def projects(server: Server) -> list[int]:
    """Numbers of the projects with our title."""
    found = managed(server, "GET", "/api/projects/?title=animals")["results"]
    return [one["id"] for one in found if one["title"] == "animals"]


def test_two_rounds_with_five_workers_and_a_server_that_is_killed(server, tmp_path, monkeypatch):
    """Each worker saw exactly the plan; labels, skipped tasks, times and gold came back; no push did a thing twice."""
    lay(tmp_path)
    first = {"campaign": tmp_path / "first", "plan": tmp_path / "plan-1", "content": tmp_path / "show.csv"}
    there = {"tool": "label-studio", "url": server.url}
    assert push(**first, **there, dry_run=True).counts["task"] == len(set().union(*queues(first["plan"]).values()))
    assert projects(server) == []  # a dry run changes nothing
    half_a_push(server, monkeypatch, 6, **first, **there)
    server.start()
    links = push(**first, **there).links
    (project,) = projects(server)
    managed(server, "PATCH", f"/api/projects/{project}/", {"title": "renamed"})
    again = push(**first, **there)  # finds it under its new title
    assert again.changes == () and again.links == links
    assert set(links) == set(queues(first["plan"])) and {*map(project_of, links.values())} == {project}

    workers = {name: Worker(server.url, name) for name in WORKERS}
    before = work(workers, links, most=1)
    server.kill()  # in the middle of the work
    server.start()
    workers = {name: Worker(server.url, name, new=False) for name in WORKERS}
    after = work(workers, links)
    shown = {name: before[name] + after[name] for name in WORKERS}
    assert {name: tasks for name, tasks in shown.items() if tasks} == queues(tmp_path / "plan-1")

    skipped = [(after["dana"][SKIPPED - 1], "dana")]
    pulled = pull(first["campaign"], **there, output=tmp_path / "back")
    pairs = {(task, name) for name, tasks in shown.items() for task in tasks}
    assert given(pulled) == {(task, name): label_of(task, name) for task, name in pairs - {*skipped}}
    assert [(row.task, row.worker) for row in pulled.skipped] == skipped and pulled.others == []
    for row in [*pulled.labels, *pulled.skipped]:
        part = before if row.task in before[row.worker] else after
        assert row.seconds == 2.5 + part[row.worker].index(row.task)
    before_second = (tmp_path / "back" / "labels.csv").read_bytes()
    assert pull(first["campaign"], **there, output=tmp_path / "back").new == 0
    assert (tmp_path / "back" / "labels.csv").read_bytes() == before_second

    second_round(tmp_path, tmp_path / "back")
    then = {"campaign": tmp_path / "answers" / "campaign", "plan": tmp_path / "plan-2", "answers": tmp_path / "answers"}
    push(**then, **there)
    again = push(**then, **there)
    assert again.changes == () and again.links == {name: links.get(name, link) for name, link in again.links.items()}
    workers = {name: Worker(server.url, name, new=False) for name in WORKERS}
    again = work(workers, again.links, most=999)
    assert {name: tasks for name, tasks in again.items() if tasks} == queues(tmp_path / "plan-2")
    pulled = pull(then["campaign"], **there, output=tmp_path / "back")
    assert len(pulled.labels) == len(pairs) - 1 + sum(map(len, again.values())) and len(pulled.skipped) == 1


def test_gold_marked_in_the_tool_and_a_token_that_is_exchanged(server, tmp_path, monkeypatch):
    """The star makes a label the truth of its task; a personal access token opens the same doors."""
    lay(tmp_path)
    first = {"campaign": tmp_path / "first", "plan": tmp_path / "plan-1", "content": tmp_path / "show.csv"}
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", managed(server, "POST", "/api/token/", {})["token"])
    there = {"tool": "label-studio", "url": server.url}
    links = push(**first, **there).links
    assert push(**first, **there).changes == ()
    ada = Worker(server.url, "ada")
    task = ada.next_task(links["ada"])
    ada.hand_in(project_of(links["ada"]), task["id"], "dog", 7.0)
    (annotation,) = managed(server, "GET", f"/api/tasks/{task['id']}/annotations/")
    managed(server, "PATCH", f"/api/annotations/{annotation['id']}/", {"ground_truth": True})
    pulled = pull(first["campaign"], **there, output=tmp_path / "back")
    assert pulled.truth == {task["data"]["task"]: "dog"} and pulled.labels[0].gold
    assert (tmp_path / "back" / "truth.csv").read_text(encoding="utf-8").endswith(f"\n{task['data']['task']},dog\n")
