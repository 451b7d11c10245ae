"""Potato itself: five annotators, two rounds, a server that is killed, and nothing lost."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdopt import pull, push
from tests.servers.campaigns import WORKERS, given, label_of, lay, queues, second_round
from tests.servers.environments import Server, Visitor, executable, free_port


def potato(folder: Path) -> Server:
    """A server of the project in a folder."""
    port = free_port()
    return Server([str(executable("potato")), "start", "config.yaml", "-p", str(port)], folder, port, "/")


class Annotator(Visitor):
    """A worker who logs in by name and labels what is shown."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(url)
        self.name = name
        self.form("/auth", email=name, action="login", **{"pass": ""})

    def item(self) -> dict[str, Any] | None:
        """What is shown now; nothing where all is done, or there is nothing for them."""
        self.open("/annotate")
        try:
            item: dict[str, Any] = self.call("GET", "/api/current_instance")
        except urllib.error.HTTPError as error:
            with error:
                assert error.code in (401, 404), error.read()  # 401: not in this round
            return None
        return item

    def hand_in(self, item: str, label: str, seconds: float) -> None:
        """Choose an option, as the page does, and go on."""
        body = {"instance_id": item, "annotations": {f"label:{label}": label}, "span_annotations": []}
        self.call("POST", "/updateinstance", body)
        moments = [("instance_load", 1_000_000.0), ("click", 1_000_000.0 + 1000 * seconds)]
        events = [{"event_type": kind, "target": "", "client_timestamp": when} for kind, when in moments]
        self.call("POST", "/api/track_interactions", {"instance_id": item, "events": events})
        self.call("POST", "/annotate", {"action": "next_instance", "instance_id": item})


def spent(folder: Path, name: str, item: str) -> float | None:
    """Seconds that Potato itself noted for an item."""
    for state in folder.glob(f"annotation_output/*/{name}/user_state.json"):
        times = json.loads(state.read_text(encoding="utf-8"))["instance_id_to_behavioral_data"]
        if item in times:
            return (times[item].get("total_time_ms") or 0) / 1000 or None
    return None


pytestmark = pytest.mark.servers


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server in the folder that a push writes, not started yet."""
    running = potato(tmp_path / "potato")
    yield running
    running.kill()


def work(server: Server, most: int = 1000) -> dict[str, list[str]]:
    """Every worker labels what they are shown; what each was shown, in order."""
    shown: dict[str, list[str]] = {name: [] for name in WORKERS}
    for name in WORKERS:
        annotator = Annotator(server.url, name)
        while len(shown[name]) < most and (item := annotator.item()):
            shown[name].append(item["instance_id"])
            annotator.hand_in(item["instance_id"], label_of(item["instance_id"], name), 2.0)
    return shown


def test_two_rounds_with_five_annotators_and_a_server_that_is_killed(server, tmp_path):
    """Each annotator saw exactly the plan; every label came back; no push did a thing twice."""
    lay(tmp_path)
    folder, back = tmp_path / "potato", tmp_path / "back"
    first = {"campaign": tmp_path / "first", "plan": tmp_path / "plan-1", "content": tmp_path / "show.csv"}
    there = {"tool": "potato", "output": folder}
    assert push(**first, **there, dry_run=True).changes and not folder.exists()
    push(**first, **there)
    assert push(**first, **there).changes == ()
    server.start()
    before = work(server, most=2)
    server.kill()  # in the middle of the work
    assert len(pull(first["campaign"], [folder], tool="potato", output=back).labels) == 2 * len(WORKERS)
    assert push(**first, **there).changes == ()
    server.start()
    after = work(server)
    # after a power cut the last item is opened once more, with the label that it has
    shown = {name: list(dict.fromkeys(before[name] + after[name])) for name in WORKERS}
    assert all(len(before[name] + after[name]) <= len(shown[name]) + 1 for name in WORKERS)
    assert {name: tasks for name, tasks in shown.items() if tasks} == queues(tmp_path / "plan-1")
    pulled = pull(first["campaign"], [folder], tool="potato", output=back)
    pairs = {(task, name) for name, tasks in shown.items() for task in tasks}
    assert given(pulled) == {(task, name): label_of(task, name) for task, name in pairs}
    for row in pulled.labels:
        assert row.when and row.seconds == spent(folder, row.worker, row.task)

    second_round(tmp_path, back)
    then = first | {"campaign": tmp_path / "answers" / "campaign", "plan": tmp_path / "plan-2"}
    push(**then, **there)
    assert push(**then, **there).changes == ()
    server.kill()
    server.start()
    again = work(server)
    assert {name: tasks for name, tasks in again.items() if tasks} == queues(tmp_path / "plan-2")
    pulled = pull(then["campaign"], [folder], tool="potato", output=back)
    assert len(pulled.labels) == len(pairs) + sum(map(len, again.values()))
