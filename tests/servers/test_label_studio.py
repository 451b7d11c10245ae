"""Label Studio itself: five workers, two rounds, a server that is killed, and nothing lost."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from crowdopt import InputError, pull, push
from crowdopt.io.bridges.web import Web
from tests.servers.campaigns import WORKERS, given, label_of, lay, queues, second_round
from tests.servers.environments import Server
from tests.servers.studio import TOKEN, Visitor, Worker, project_of, studio

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
            worker.hand_in(
                project_of(links[name]), task["id"], "" if skips else label_of(title, name), 1.5 + len(shown[name])
            )
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


def manager(server: Server) -> Visitor:
    """Who calls with the token of the server's first account."""
    boss = Visitor(server.url)
    boss.opener.addheaders = [("Authorization", f"Token {TOKEN}")]
    return boss


def projects(server: Server) -> list[int]:
    """Numbers of the projects with our title."""
    found = manager(server).call("GET", "/api/projects/?title=animals")["results"]
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
    manager(server).call("PATCH", f"/api/projects/{project}/", {"title": "renamed"})
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
    times = {(row.task, row.worker): row.seconds for row in [*pulled.labels, *pulled.skipped]}
    assert times == {
        (task, name): 2.5 + k for name in WORKERS for part in (before, after) for k, task in enumerate(part[name])
    }
    before_second = (tmp_path / "back" / "labels.csv").read_bytes()
    assert pull(first["campaign"], **there, output=tmp_path / "back").new == 0
    assert (tmp_path / "back" / "labels.csv").read_bytes() == before_second

    second_round(tmp_path, tmp_path / "back")
    then = {"campaign": tmp_path / "answers" / "campaign", "plan": tmp_path / "plan-2", "answers": tmp_path / "answers"}
    half_a_push(server, monkeypatch, 5, **then, **there)
    server.start()
    push(**then, **there)
    again = push(**then, **there)
    assert again.changes == () and again.links == {name: links.get(name, link) for name, link in again.links.items()}
    links = again.links
    workers = {name: Worker(server.url, name, new=False) for name in WORKERS}
    again = work(workers, links, most=999)
    assert {name: tasks for name, tasks in again.items() if tasks} == queues(tmp_path / "plan-2")
    pulled = pull(then["campaign"], **there, output=tmp_path / "back")
    assert len(pulled.labels) == len(pairs) - 1 + sum(map(len, again.values())) and len(pulled.skipped) == 1


def test_gold_marked_in_the_tool_and_a_token_that_is_exchanged(server, tmp_path, monkeypatch):
    """The star makes a label the truth of its task; a personal access token opens the same doors."""
    lay(tmp_path)
    first = {"campaign": tmp_path / "first", "plan": tmp_path / "plan-1", "content": tmp_path / "show.csv"}
    boss = manager(server)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", boss.call("POST", "/api/token/", {})["token"])
    there = {"tool": "label-studio", "url": server.url}
    links = push(**first, **there).links
    assert push(**first, **there).changes == ()
    ada = Worker(server.url, "ada")
    task = ada.next_task(links["ada"])
    ada.hand_in(project_of(links["ada"]), task["id"], "dog", 7.0)
    (annotation,) = boss.call("GET", f"/api/tasks/{task['id']}/annotations/")
    boss.call("PATCH", f"/api/annotations/{annotation['id']}/", {"ground_truth": True})
    pulled = pull(first["campaign"], **there, output=tmp_path / "back")
    assert pulled.truth == {task["data"]["task"]: "dog"} and pulled.labels[0].gold
    assert (tmp_path / "back" / "truth.csv").read_text(encoding="utf-8").endswith(f"\n{task['data']['task']},dog\n")
