"""A round into files and onto a server: told before it is done, done once, and finished by a second push."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from crowdopt import InputError, pull, push, solve
from crowdopt.io.bridges import label_studio, web
from crowdopt.io.bridges.pushed import Address
from crowdopt.io.bridges.web import checked_url
from tests.io import lay, write_table
from tests.typed import rows

TOKEN = "secret-token-0123456789"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A campaign of four tasks and three workers, its plan, and what is shown."""
    place = tmp_path_factory.mktemp("made")
    settings = 'title = "four"\nepsilon = 0.35\nprior = { no = 0.5, yes = 0.5 }'
    crew = {"ada": (3, 0.8), "Ada": (3, 0.8), "bo|x": (4, 0.8)}
    write_table(place / "show.csv", "task,text", 'a,"one, ""or"" two"', "b,<b>", "c,ü", "d,4")
    assert solve(lay(place / "campaign", settings, "abcd", crew), output=place / "plan").found
    return place


@pytest.fixture
def desk(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def pairs(plan: Path) -> set[tuple[str, str]]:
    """Of a plan."""
    return {(row["task"], row["worker"]) for row in rows(plan / "assignment.csv")}


def json_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pushed(desk: Path, plan: str = "plan", **options: Any) -> Any:
    """What a push of a plan of the desk comes to."""
    return push(desk / "campaign", desk / plan, **options)


@pytest.mark.parametrize("tool", ["label-studio", "potato", "prodigy", "inspect"])
def test_files_are_written_once_and_only_where_nothing_else_is(desk, tool):
    """A dry run writes nothing; a second push changes nothing; a file that was lost is written again."""
    given = {"tool": tool, "output": desk / "out", "content": desk / "show.csv"}
    told = pushed(desk, **given, dry_run=True)
    assert told.changes and not (desk / "out").exists()
    assert pushed(desk, **given).changes == told.changes
    assert pushed(desk, **given).changes == ()
    last = told.changes[-1].what
    (desk / "out" / last).unlink()
    assert [change.what for change in pushed(desk, **given).changes] == [last]
    other = "potato" if tool != "potato" else "prodigy"
    with pytest.raises(InputError, match="choose another folder"):
        pushed(desk, tool=other, output=desk / "out")
    with pytest.raises(InputError, match="holds something else"):
        pushed(desk, tool=tool, output=desk / "plan")


def test_the_router_hands_each_task_to_its_workers(desk):
    """Whoever asks; a task that the plan does not know goes to no worker."""
    pushed(desk, tool="prodigy", output=desk / "out")
    route, control = run_path(str(desk / "out" / "router.py"))["task_router"], SimpleNamespace(dataset="data")
    lines = json_lines(desk / "out" / "tasks.jsonl")
    routed = {(line["task_id"], name) for line in lines for name in route(control, "data-zoe", line)}
    assert routed == {(task, f"data-{worker}") for task, worker in pairs(desk / "plan")}
    assert route(control, "data-zoe", {"text": "new"}) == []


def test_a_pair_that_an_earlier_round_labelled_is_not_asked_again(desk):
    """A plan that is made anew in the middle of a round has a round of its own; its pairs may be done already."""
    first = {"tool": "potato", "output": desk / "out"}
    pushed(desk, **first)
    task, worker = sorted(pairs(desk / "plan"))[0]
    state = desk / "out" / "annotation_output" / "round-1" / "x" / "user_state.json"
    state.parent.mkdir(parents=True)
    label = {task: [[{"schema": "label", "name": "no"}, "no"]]}
    state.write_text(json.dumps({"user_id": worker, "instance_id_to_label_to_value": label}), encoding="utf-8")
    assert pushed(desk, **first).changes == ()
    write_table(desk / "campaign" / "forbidden.csv", "task,worker", "d,ada")
    solve(desk / "campaign", output=desk / "plan-b")
    pushed(desk, "plan-b", **first)
    lines = json_lines(desk / "out" / "data" / "round-2.jsonl")
    asked = {(line["id"], name) for line in lines for name in line["workers"]}
    assert asked == pairs(desk / "plan-b") - {(task, worker)}
    assert "round-2" in (desk / "out" / "config.yaml").read_text(encoding="utf-8")


SAFE = ("http://127.0.0.1:1", "http://[::1]:2", "https://example.org/studio", "http://localhost:8080")
OPEN = ("http://example.org", "http://10.0.0.1:80", "ftp://x", "localhost", "http://a:b@localhost", "")


def test_an_address_that_would_show_the_token_is_refused():
    """Plain HTTP stays on this machine unless that is wanted; a password would end up in shell histories."""
    assert [checked_url(f"{url}/", False) for url in SAFE] == list(SAFE)
    assert checked_url("http://example.org", True) == "http://example.org"
    for url in OPEN:
        with pytest.raises(InputError):
            checked_url(url, insecure=False)


@contextmanager
def serving(answer: Any, asked: list[str] | None = None) -> Iterator[str]:
    """A server on this machine: status, body and headers of every answer, or a function of path and headers."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if asked is not None:
                asked.append(self.path)
            status, body, *headers = answer(self.path, dict(self.headers)) if callable(answer) else answer
            self.send_response(status)
            for name, value in [*headers, ("Content-Length", str(len(body)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = handle_any

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def token(monkeypatch) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    monkeypatch.setattr("crowdopt.io.bridges.web.PAUSES", (0.0,))


def test_the_token_is_in_no_message_and_follows_no_redirect(desk, token):
    """A server may repeat what it was sent, or send on to another place."""
    given = {"tool": "label-studio", "content": desk / "show.csv"}
    with serving(lambda path, headers: (403, json.dumps(headers).encode())) as url:
        with pytest.raises(InputError, match="said no") as error:
            pushed(desk, url=url, **given)
        assert TOKEN not in str(error.value)
    asked: list[str] = []
    with (
        serving((200, b"{}"), asked) as there,
        serving((302, b"", ("Location", there))) as url,
        pytest.raises(InputError, match="not followed"),
    ):
        pushed(desk, url=url, **given)
    assert asked == []


@pytest.mark.parametrize(("value", "said"), [("", "LABEL_STUDIO_API_KEY; in Label Studio: Account"), ("yes", "short")])
def test_without_a_token_nothing_is_asked(desk, monkeypatch, value, said):
    """The sentence says where to get one; one of a few letters would mask words and ids of the answer too."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", value)
    assert said in asking(desk, "http://localhost:1")


BODIES = (
    *(b"", b"[]", b"{}", b"null", b"3", b'"x"', b"<html>", b"\xff\xfe", b"[" * 5000, b"NaN"),
    *(b'{"results": []}', b'{"results": [{"id": 1, "title": "four"}]}', b'{"results": [{"id": [], "title": {}}]}'),
    *(b'{"results": [{"id": 1, "title": "four", "parsed_label_config": 3}]}', b'{"tasks": [{"id": 1, "data": {}}]}'),
    *(b'{"tasks": []}', b'[{"id": 1, "email": "a@b"}]', b'[{"id": 1, "data": {}}]', b'{"id": 7, "title": "four"}'),
    b'[{"id": 1, "data": {}, "annotations": [{"result": [{"type": "choices", "value": 3}], "completed_by": 1}]}]',
)


def test_whatever_a_server_answers_ends_in_an_answer_or_a_sentence(desk, token):
    """Sequences of wrong answers, half to pushes and half to pulls."""
    rng = Random(0)
    codes = (200,) * 8 + (201, 204, 301, 400, 401, 404, 500, 503)
    with serving(lambda *_: (rng.choice(codes), rng.choice(BODIES))) as url:
        given = {"tool": "label-studio", "url": url}
        for k in range(30):
            try:
                if k % 2:
                    pushed(desk, **given, answers=None)
                else:
                    pull(desk / "campaign", **given, output=desk / f"back{k}")
            except InputError as error:
                assert "\n" not in str(error) and TOKEN not in str(error)
            assert not [name for name in os.listdir(desk) if name.endswith(".partial")]


def asking(desk: Path, url: str) -> str:
    """What a pull from this server is refused with."""
    with pytest.raises(InputError) as error:
        pull(desk / "campaign", tool="label-studio", url=url, output=desk / "back")
    assert TOKEN not in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


def test_the_token_is_not_shown_wherever_an_answer_or_a_complaint_has_it(desk, token):
    """It is masked in the answer, before any code of ours sees it; escapes of JSON hide nothing.

    Of a complaint only so many bytes are read, and a token may stand across the end.
    """
    answers = []
    for body in ({"results": TOKEN}, {TOKEN: []}, {"results": [{"id": 1, "title": [TOKEN]}]}):
        plain = json.dumps(body)
        escaped = plain.replace(TOKEN, "".join(f"\\u{ord(letter):04x}" for letter in TOKEN))
        answers += [(200, plain.encode()), (200, escaped.encode())]
    answers += [(403, b"no" + b" " * blanks + TOKEN.encode()) for blanks in (0, 3985, 3999)]
    for answer in answers:
        with serving(answer) as url:
            assert TOKEN[:6] not in asking(desk, url)


@pytest.mark.parametrize(("new", "said"), [(False, "lists on page 2 what it listed before"), (True, ": 20 pages")])
def test_a_listing_that_does_not_end_is_left(desk, token, monkeypatch, new, said):
    """One server lists the same on every page, one always something new."""
    monkeypatch.setattr(label_studio, "PAGES", 20)
    calls: list[str] = []

    def listed(path, headers):
        number = len(calls) if new else 1
        return 200, json.dumps({"results": [{"id": number, "title": "x"}], "next": "more"}).encode()

    with serving(listed, calls) as url:
        assert said in asking(desk, url) and len(calls) == (20 if new else 2)


@pytest.mark.parametrize(
    ("body", "length", "said"), [(b" " * 2**18, 2**18, "more than 131072"), (b'{"results": []}', 99, "did not answer")]
)
def test_an_answer_of_too_many_bytes_or_too_few_is_left(desk, token, monkeypatch, body, length, said):
    """It is not read into memory to its end; half a page that happens to be JSON is not taken for a whole one."""
    monkeypatch.setattr(web, "BYTES", 2**17)
    with serving((200, body, ("Content-Length", str(length)))) as url:
        assert said in asking(desk, url)


OK = "HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("first", [f"{OK}Content-Length: 99\r\n\r\n", f"{OK}X: ", "HTTP/1.1 403 "])
def test_an_answer_that_drips_is_left(desk, token, monkeypatch, first):
    """A byte now and then, in the body, a header or a complaint, keeps every timeout of a socket."""
    monkeypatch.setattr(web, "SECONDS", 0.1)
    over = threading.Event()

    def drip() -> None:
        with listener, listener.accept()[0] as caller, suppress(OSError):
            caller.sendall(first.encode())
            while not over.wait(0.02):
                caller.sendall(b" ")

    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert "did not end its answer within 0.1 s" in asking(desk, f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        over.set()
        thread.join()


def test_the_first_refusal_ends_what_has_not_begun():
    """A push that fails is short, and the next one does the rest."""
    asked: list[str] = []
    with serving((403, b"no"), asked) as url, pytest.raises(InputError, match="said no"):
        web.Web(url, "it", {}).call_all([("POST", f"/{k}", None) for k in range(200)])
    assert len(asked) <= web.AT_ONCE


def test_calls_under_way_together_renew_a_token_once(monkeypatch):
    """All that are refused wait for the one that renews it, and try again; answers stand in the order of the calls."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "long.lived.token")
    monkeypatch.setattr(web, "AT_ONCE", 4)
    renewed, together = [], threading.Barrier(4)  # the server answers only when as many calls have come

    def answer(path, headers):
        if path == "/api/token/refresh/":
            renewed.append(path)
            return 200, json.dumps({"access": f"short-lived-{len(renewed)}"}).encode()
        together.wait(60)
        if headers.get("Authorization") == "Bearer short-lived-2":
            return 200, path.encode()[1:]
        return 401, b"{}"

    with serving(answer) as url:
        server = label_studio.connect(Address(url, None, False))
        assert server.call_all([("PATCH", f"/{k}", None) for k in range(8)]) == list(range(8))
    assert len(renewed) == 2
