"""The verb audit, its page, and the second opinion, as they are typed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from crowdopt.cli import main
from crowdopt.io.tables.cells import write_csv


def run(*words, code=0):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """120 answers, six of them wrong, none with a claimed error; the truth."""
    monkeypatch.chdir(tmp_path)
    tasks = [f"t{i}" for i in range(120)]
    truth = np.where(np.arange(120) % 20 == 3, "no", "yes").tolist()
    write_csv(tmp_path / "answers.csv", ["task", "label"], [tasks, ["yes"] * 120])
    write_csv(tmp_path / "truth.csv", ["task", "label"], [tasks, truth])
    return dict(zip(tasks, truth, strict=True))


def look(truth):
    with open("audit/check.csv") as file:
        tasks = [row["task"] for row in csv.DictReader(file)]
    with open("checked.csv", "w") as file:
        file.write("".join(["task,label\n", *(f"{task},{truth[task]}\n" for task in tasks)]))


def test_draw_look_claim_verify_report(desk):
    """The whole day; the claim is the one in audit.json, and a page can be made of it."""
    said = json.loads(run("audit", "answers.csv", "--target", ".1", "--seed", "4", "-o", "audit", "--json"))
    look(desk)
    claim = json.loads(run("audit", "answers.csv", "--checked", "checked.csv", "-o", "audit", "--json"))
    assert claim["wrong_at_most"] == json.loads(Path("audit/audit.json").read_text(encoding="utf-8"))["wrong_at_most"]
    assert claim["sentence"] in run("verify", "answers.csv", "audit", "--commitment", said["commitment"])
    assert "was handed on" in run("verify", "answers.csv", "audit", "--commitment", "0" * 64, code=1)
    run("report", "audit")
    assert claim["sentence"][1:] in Path("audit/report.html").read_text(encoding="utf-8")


def test_a_draw_is_not_made_twice_by_accident(desk):
    """Neither the audit nor the terms are replaced without being asked to."""
    run("audit", "answers.csv", "-o", "audit")
    assert "already exists" in run("audit", "answers.csv", "-o", "audit", code=2)
    assert "sequential or exact" in run("audit", "answers.csv", "--method", "assisted", "-o", "other", code=2)


def test_a_plan_has_no_commitment(desk, tmp_path):
    """The option belongs to audits."""
    (tmp_path / "plan").mkdir()
    assert "is no audit" in run("verify", "campaign", "plan", "--commitment", "0", code=2)


@pytest.mark.parametrize("damage", ["{", "[]", '{"seed": 1}'])
def test_a_damaged_draw_is_one_sentence(desk, tmp_path, damage):
    """Not a traceback."""
    run("audit", "answers.csv", "-o", "audit")
    look(desk)
    (tmp_path / "audit" / "draw.json").write_text(damage, encoding="utf-8")
    assert run("audit", "answers.csv", "--checked", "checked.csv", "-o", "audit", code=2).startswith(
        "crowdopt: draw.json"
    )
