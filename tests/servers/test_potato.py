"""Potato itself: five annotators, two rounds, a server that is killed, and nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdopt import InputError, pull, push
from crowdopt.files import write_text
from tests.servers.campaigns import WORKERS, given, label_of, lay, queues, second_round
from tests.servers.environments import Server
from tests.servers.potatoes import Annotator, potato, spent

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


def test_two_rounds_with_five_annotators_and_a_server_that_is_killed(server, tmp_path, monkeypatch):
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
    second = {"campaign": tmp_path / "answers" / "campaign", "plan": tmp_path / "plan-2"}
    then = {**second, "content": tmp_path / "show.csv"}
    with monkeypatch.context() as patched:  # the push is interrupted after its first file
        made: list[Path] = []

        def once(path, text):
            if made:
                raise InputError("interrupted")
            made.append(path)
            write_text(path, text)

        patched.setattr("crowdopt.io.bridges.pushed.write_text", once)
        with pytest.raises(InputError):
            push(**then, **there)
    push(**then, **there)
    assert push(**then, **there).changes == ()
    server.kill()
    server.start()
    again = work(server)
    assert {name: tasks for name, tasks in again.items() if tasks} == queues(tmp_path / "plan-2")
    pulled = pull(then["campaign"], [folder], tool="potato", output=back)
    assert len(pulled.labels) == len(pairs) + sum(map(len, again.values()))
