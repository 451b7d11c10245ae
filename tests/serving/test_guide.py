"""The walk of the guide over HTTP, typed, with a service that is killed again and again; its pages in a browser."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pytest

import crowdopt
from crowdopt.verbs.live import token
from tests.guides import ROOT
from tests.io import write_table
from tests.pages.test_page import CHROMIUM
from tests.typed import said

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

PAGE = ROOT / "crowdopt" / "serving" / "README.md"
KILLS = 8
TEXT = "<script>document.title = 'taken'</script> & <b>bold</b>"


def call(port: int, token: str, path: str, body: Any) -> Any:
    """The JSON of an answer that is one, over a connection of its own."""
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", path, json.dumps(body), head)
        answer = connection.getresponse()
        content = answer.read()
    assert answer.status == 200, (answer.status, content)
    return json.loads(content)


class Labeller(Thread):
    """A worker who does all they are asked, right four times in five, though the service or their line breaks down."""

    def __init__(self, port: int, token: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.port, self.token, self.chance = port, token, Random(seed)
        self.acknowledged: dict[int, str] = {}

    def insist(self, path: str, body: Any) -> Any:
        """A call until it is answered, three times in ten once more than that: the answer never came."""
        while True:
            with suppress(OSError, HTTPException):
                for _ in range(1 + (self.chance.random() < 0.3)):
                    answer = call(self.port, self.token, path, body)
                return answer
            time.sleep(0.05)

    def run(self) -> None:
        """Until no more is asked; a label takes a tenth of a second."""
        while not (lease := self.insist("/api/next", {})).get("over"):
            time.sleep(0.1)
            if lease["lease"] is not None:
                label = "yes" if self.chance.random() < 0.8 else "no"
                told = self.insist("/api/label", {"lease": lease["lease"], "label": label})
                assert told["lease"] == lease["lease"] and told["label"] == label
                self.acknowledged[lease["lease"]] = label


def started(campaign: Path, store: Path, *options: str, port: int = 0) -> tuple[subprocess.Popen[str], int]:
    """A service that answers, and its port."""
    words = [sys.executable, "-m", "crowdopt.cli", "live", campaign, "--store", store, "--port", str(port), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert "labelling page http://127.0.0.1:" in line, (line, process.stderr.read() if not line else "")
    return process, int(line.split("127.0.0.1:")[1].split("/")[0])


def ended(process: subprocess.Popen[str]) -> None:
    """End it politely."""
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert process.returncode in (0, -signal.SIGTERM, 128 + signal.SIGTERM), (process.returncode, err)
    assert "Traceback" not in err, err


def typed(command: str) -> str:
    """A command of the guide in this process."""
    return said(*shlex.split(command)[1:])


@pytest.mark.slow
def test_the_walk_of_the_guide(tmp_path, monkeypatch):
    """Every command of the page, in its order; what ten workers were told was taken is there, once.

    The service is killed at any instant of a fifth of a second after it answers; three calls in ten are sent twice.
    """
    monkeypatch.chdir(tmp_path)
    walk = PAGE.read_text(encoding="utf-8").split("<!-- walk -->", 1)[1].split("```", 2)[1]
    steps = [line.removeprefix("$ ") for line in walk.splitlines() if line.startswith("$ crowdopt ")]
    init, ada, bo, chen, serve, replay, export, aggregate, audit = steps
    typed(init)
    assert re.fullmatch(r"crowdopt live birds --policy \S+", serve)
    campaign, store, options = tmp_path / "birds", tmp_path / "campaign.db", serve.split()[3:]
    instance, chance = crowdopt.read_campaign(campaign), Random(0)
    tokens = [typed(command).strip() for command in (ada, bo, chen)]
    tokens += [token(store, name) for name in instance.workers[3:]]
    process, port = started(campaign, store, *options)
    people = [Labeller(port, one, seed) for seed, one in enumerate(tokens)]
    for one in people:
        one.start()
    for _ in range(KILLS):
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        process.communicate()
        process, _ = started(campaign, store, *options, port=port)
    for one in people:
        one.join(120)
        assert not one.is_alive()
    ended(process)
    live = crowdopt.live(campaign, policy=options[1], store=store)
    events = live.events()
    kept = {event.lease: event.value for event in events if event.kind == "told"}
    assert kept == {lease: label for one in people for lease, label in one.acknowledged.items()}
    leased = Counter((event.worker, event.task) for event in events if event.kind == "leased")
    assert max(leased.values()) == 1, "no pair is asked twice"
    for name, count in Counter(row.worker for row in live.labels()).items():
        assert count <= instance.capacity[instance.workers.index(name)]
    live.close()
    assert "all are those recorded" in typed(replay)
    assert "labels" in typed(export)
    rows = (tmp_path / "labelled" / "labels.csv").read_text("utf-8").splitlines()[1:]
    assert sorted(row.rsplit(",", 1)[1] for row in rows) == sorted(kept.values()) and len(rows) >= KILLS
    assert "answers from" in typed(aggregate)
    assert "audit" in typed(audit)


def seen(address: str, folder) -> str:
    """The document as it stands after its scripts have called the service."""
    look = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    look += ["--window-size=500,900", "--virtual-time-budget=4000", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run([*look, address], capture_output=True, text=True, timeout=120, check=True)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt install chromium")
def test_the_pages_in_a_browser(tmp_path):
    """A task with its text, buttons and keys; what an expert looks at; numbers and tables for the manager."""
    crowdopt.init(tmp_path / "birds", classes=["yes", "no"])
    table = tmp_path / "birds" / "tasks.csv"
    head, *rows = table.read_text("utf-8").splitlines()
    write_table(table, f"{head},text", *(f'{row},"{TEXT}"' for row in rows))
    store = tmp_path / "campaign.db"
    ada, manager, expert = token(store, "ada"), token(store, None), token(store, role="expert")
    process, port = started(tmp_path / "birds", store, "--policy", "greedy")
    told = call(port, ada, "/api/next", {})
    call(port, ada, "/api/label", {"lease": told["lease"], "label": "yes"})
    call(port, ada, "/api/correct", {"lease": told["lease"], "label": "no"})
    lease = call(port, ada, "/api/next", {})
    page = seen(f"http://127.0.0.1:{port}/#{ada}", tmp_path)
    managed = seen(f"http://127.0.0.1:{port}/manage#{manager}", tmp_path)
    call(port, manager, "/api/remove", {"worker": "ada"})
    call(port, manager, "/api/end", {})
    looked = call(port, expert, "/api/next", {})
    judged = seen(f"http://127.0.0.1:{port}/#{expert}", tmp_path)
    steered = seen(f"http://127.0.0.1:{port}/manage#{manager}", tmp_path)
    ended(process)
    assert f'<h2 id="task">{lease["task"]}</h2>' in page and "&lt;script&gt;document.title" in page
    assert re.findall(r"<button type=\"button\">(\w+)<kbd>(\d)</kbd>", page) == [("yes", "1"), ("no", "2")]
    assert "<title>taken" not in page and ada not in page and "ada: 1 labels" in page
    cells = re.findall(r"<td>([^<]*)</td>", managed)
    assert {"corrected", "leased", "told", "ada", lease["task"]} <= set(cells) and manager not in managed
    assert "<dd>running</dd>" in managed and "Remove ada" in managed
    assert f'<h2 id="task">{looked["task"]}</h2>' in judged and "expert: 0 answers" in judged
    assert re.search(f"<td>{looked['task']}</td><td>[^<]*</td><td>–</td><td>out</td>", steered)
    assert 'id="expert" hidden' in managed and '<div id="expert">' in steered
