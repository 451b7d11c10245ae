"""The walk of the guide, typed: a service that is killed again and again, workers over HTTP, answers, an audit."""

from __future__ import annotations

import random
import re
import shlex
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt.cli import main
from crowdopt.verbs.live import token
from tests.serving.service import Labeller, started

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

PAGE = Path(__file__).parents[2] / "crowdopt" / "serving" / "README.md"
KILLS = 8


def typed(command: str) -> str:
    """A command of the guide in this process."""
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert done.exit_code == 0, (command, done.output)
    return done.output


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
    instance, chance = crowdopt.read_campaign(campaign), random.Random(0)
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
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
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
