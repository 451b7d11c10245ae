"""Rules, answers and explanations from the command line."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from crowdopt.cli import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def told(*words):
    done = run(*words, "--json")
    return done.exit_code, json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture
def folder(tmp_path):
    assert run("generate", "R10:40x40", "-o", tmp_path / "campaign").exit_code == 0
    return tmp_path


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya", "probit", "exact-error"])
def test_every_rule_is_solved_and_verified(folder, rule):
    """The plan states its exact errors where the rule needs them, and verification recomputes them."""
    code, said = told("solve", folder / "campaign", "--rule", rule, "-o", folder / "plan")
    assert code == 0 and said["rule"] == rule
    assert run("verify", folder / "campaign", folder / "plan").exit_code == 0
    with (folder / "plan" / "tasks.csv").open() as file:
        header = next(csv.reader(file))
    assert ("exact_error" in header) == (rule in ("probit", "exact-error"))


def test_verification_notices_a_task_that_errs_too_much(folder):
    """A label taken out of a thinned plan breaks its task's target, and the stored errors are no longer true."""
    run("solve", folder / "campaign", "--rule", "exact-error", "-o", folder / "plan")
    path = folder / "plan" / "assignment.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], ""]), encoding="utf-8")
    done = run("verify", folder / "campaign", folder / "plan")
    assert done.exit_code == 1 and "errs with probability" in done.stdout and "exact_error" in done.stdout


def test_answers_and_what_is_missing(folder):
    """The verb aggregate with a plan, in sentences and in numbers."""
    run("solve", folder / "campaign", "--rule", "exact-error", "-o", folder / "plan")
    assert (
        run("rehearse", folder / "campaign", folder / "plan", "-o", folder / "labels.csv", "--lost", 0.3).exit_code == 0
    )
    given = ("aggregate", folder / "labels.csv", "--plan", folder / "plan", "--campaign", folder / "campaign")
    done = run(*given, "-o", folder / "answers")
    assert done.exit_code == 0 and "have not come" in done.stdout
    code, said = told(*given, "-o", folder / "answers", "--force")
    assert code == 0 and said["sure"] + said["unsure"] == 40 and said["missing"] > 0
    assert run(*given).exit_code == 2
    assert run(*given, "-o", folder / "campaign", "--force").exit_code == 2  # no folder of answers


@pytest.mark.slow
def test_explaining_both_ways(folder):
    """Infeasible: exit 1 and ways out; feasible: exit 0, prices and a curve."""
    code, said = told("explain", folder / "campaign", "--epsilon", 0.001, "-o", folder / "why")
    assert code == 1 and not said["feasible"] and {way["kind"] for way in said["ways"]} >= {"epsilon", "tasks"}
    assert (folder / "why" / "shortage.csv").exists()
    code, said = told("explain", folder / "campaign", "-o", folder / "worth")
    assert code == 0 and said["feasible"]
    assert {path.name for path in (folder / "worth").iterdir()} >= {"tasks.csv", "workers.csv", "curve.csv"}
    assert "one more" in run("explain", folder / "campaign").stdout


def test_a_prior_in_the_settings(folder):
    """Named classes that add up to 1; anything else is one sentence."""
    toml = folder / "campaign" / "campaign.toml"
    before = toml.read_text(encoding="utf-8")
    toml.write_text(
        before.replace("hoeffding", "bhattacharyya") + "prior = { yes = 0.9, no = 0.1 }\n", encoding="utf-8"
    )
    code, said = told("solve", folder / "campaign", "-o", folder / "plan")
    assert code == 0 and said["prior"] == {"yes": 0.9, "no": 0.1}
    for wrong in ("prior = { yes = 0.9, no = 0.2 }", "prior = { yes = 1.0 }", "prior = 0.5", 'collected = "perhaps"'):
        toml.write_text(before + wrong + "\n", encoding="utf-8")
        done = run("solve", folder / "campaign", "-o", folder / "other")
        assert done.exit_code == 2 and "campaign.toml: " in done.stderr
