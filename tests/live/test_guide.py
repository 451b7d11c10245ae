"""The walk of the guide, typed: a service, workers over HTTP, a kill and a new start, answers, an audit."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from tests.live.labeller import Labeller
from tests.live.service import started

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

PAGE = Path(__file__).parents[2] / "crowdopt" / "live" / "README.md"


def typed(command: str) -> str:
    """A command of the guide in this process."""
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert done.exit_code == 0, (command, done.output)
    return done.output


@pytest.mark.slow
def test_the_walk_of_the_guide(tmp_path, monkeypatch):
    """Every command of the page, in its order; the service itself is a process that is killed in the middle."""
    monkeypatch.chdir(tmp_path)
    walk = PAGE.read_text(encoding="utf-8").split("<!-- walk -->", 1)[1].split("```", 2)[1]
    steps = [line.removeprefix("$ ") for line in walk.splitlines() if line.startswith("$ crowdopt ")]
    init, ada, bo, chen, serve, replay, export, aggregate, audit = steps
    typed(init)
    tokens = [typed(command).strip() for command in (ada, bo, chen)]
    assert re.fullmatch(r"crowdopt live birds --policy \S+", serve)
    process, port = started(tmp_path / "birds", tmp_path / "campaign.db", *serve.split()[3:])
    people = [Labeller(port, token, seed) for seed, token in enumerate(tokens)]
    for one in people:
        one.start()
    with suppress(OSError, HTTPException):
        while sum(len(one.acknowledged) for one in people) < 12:
            people[0].join(0.01)
    process.kill()
    process.communicate()
    process, port = started(tmp_path / "birds", tmp_path / "campaign.db", *serve.split()[3:], port=port)
    for one in people:
        one.join(60)
        assert not one.is_alive()
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert "all are those recorded" in typed(replay)
    assert "labels" in typed(export)
    rows = (tmp_path / "labelled" / "labels.csv").read_text("utf-8").splitlines()[1:]
    assert len(rows) == sum(len(one.acknowledged) for one in people) >= 12
    assert sorted(row.rsplit(",", 1)[1] for row in rows) == sorted(
        label for one in people for label in one.acknowledged.values()
    )
    assert "answers from" in typed(aggregate)
    assert "audit" in typed(audit)
