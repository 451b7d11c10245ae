"""The verb compare: the same streams for all, the same bytes for any number of processes, nothing lost or hidden."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.studies.online_trials import interval, summarise
from crowdopt.verbs import compare
from tests.chance import BASE, fewest
from tests.typed import rows, run, said

POLICIES = "re-solve,kos,main-algorithm:gold=5"
pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def campaign(tmp_path):
    crowdopt.generate("HS:90x60", seed=3, output=tmp_path / "campaign")
    return tmp_path / "campaign"


def facts_of(folder):
    return json.loads((folder / "comparison.json").read_text(encoding="utf-8"))


def test_tables(campaign, tmp_path):
    """All of it is there; greedy stands beside; kos takes as many labels as the first policy."""
    out = tmp_path / "out"
    said("compare", campaign, "--policies", POLICIES, "--trials", 2, "-o", out)
    assert {"summary.csv", "timings.csv"} <= {path.name for path in out.iterdir()}
    lines, facts = rows(out / "trials.csv"), facts_of(out)
    assert [row["text"] for row in lines[:4]] == [*POLICIES.split(","), "greedy"]
    total = {(row["text"], row["trial"]): int(row["labels"]) for row in lines}
    assert all(total["kos", k] == total["re-solve", k] for k in "01")
    best = facts["optimum"]
    assert best["proof"] == "certificate" and best["bound"] >= best["lp"] - 1e-6
    for line in facts["policies"]:
        assert line["ratio_bound"] == pytest.approx(line["cost"] / best["bound"])
        assert line["short_share"] > 0 or line["ratio_bound"] >= 1 - 1e-9


def test_ctrl_c_during_the_offline_plan_ends_it(campaign, tmp_path, monkeypatch):
    """A plan cut short proves less: what is held against it would differ from run to run, and nothing would tell."""
    out, whole = tmp_path / "out", compare.solve
    monkeypatch.setattr(compare, "solve", lambda *one, **more: replace(whole(*one, **more), interrupted=True))
    done = run("compare", campaign, "--policies", "re-solve", "--trials", 1, "-o", out)
    assert done.exit_code == 130 and done.stderr == "crowdopt: interrupted\n" and not done.stdout
    assert not out.exists()


@pytest.mark.slow
def test_equal_bytes_for_any_number_of_processes(campaign, tmp_path):
    """Timings apart, a run agrees to the byte with one whose rows are another process's; of several see test_jobs."""
    for processes in (0, 1):
        crowdopt.compare(campaign, ["re-solve", "kos"], trials=2, processes=processes, output=tmp_path / str(processes))
    for name in ("trials.csv", "summary.csv", "comparison.json"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()


def test_finished_rows_are_kept_and_a_comparison_is_not_overwritten(campaign, tmp_path):
    """Interrupted before the end it goes on; finished it is replaced only by force, and more trials add to it."""

    def compared(policy, trials, *words, code=0):
        said("compare", campaign, "--policies", policy, "--trials", trials, "-o", tmp_path / "out", *words, code=code)
        kept = (tmp_path / "out" / "work" / "rows").iterdir()
        return {path.name: path.stat().st_mtime_ns for path in kept}

    kept = compared("re-solve", 2)
    assert compared("re-solve", 2, code=2) == kept
    (tmp_path / "out" / "comparison.json").unlink()  # as if stopped before the last file
    now = compared("re-solve", 3)
    assert kept.items() <= now.items() and len(now) > len(kept)
    compared("greedy", 1, "--force")


def test_a_failed_policy_is_a_row_and_the_others_stay(tmp_path):
    """Without prices the first policy fails: it is a line that says so, and kos, which by default takes as many labels
    as the first policy, takes those of the first that works. One that names the failed policy says so too.
    """
    texts = ["primal-approximation", "re-solve", "kos", "kos:equal=primal-approximation"]
    found = crowdopt.compare(crowdopt.recipe("B5:20x20"), texts, trials=1, output=tmp_path / "out")
    lines = {line["policy"]: line for line in found.summary}
    assert list(lines) == [*texts, "greedy"]
    assert [(lines[text]["trials"], lines[text]["failed"]) for text in texts] == [(0, 1), (1, 0), (1, 0), (0, 1)]
    total = {row["text"]: row["labels"] for row in found.rows}
    assert total["kos"] == total["re-solve"] > 0
    assert sum("whose labels it was to equal" in said for said in found.failed) == 1


@pytest.mark.slow
def test_four_classes_are_compared_like_two(tmp_path):
    """Beliefs, claims, breaches and the bound by information are for any number of classes."""
    given = {"classes": 4, "rule": "bhattacharyya"}
    instance = crowdopt.AssignmentInstance(np.full((1, 40), 0.75), np.zeros(60, int), np.full(40, 50), 0.2, **given)
    crowdopt.write_campaign(instance, tmp_path / "four")
    texts = ("--policies", "sequential,adaptive:gold=5,re-solve:gold=5", "--trials", 2)
    told = said("compare", tmp_path / "four", *texts, "-o", tmp_path / "out")
    bound = compare.least(instance, crowdopt.solve_program).information
    assert f"below cost {bound:.0f} even if skills are known" in told
    for line in rows(tmp_path / "out" / "trials.csv"):
        claim = line["policy"] == "greedy" or float(line["error_claimed"])
        assert claim is True or 0 < claim <= 0.2 or (claim <= 0.75 and line["notes"]), "a run that falls short says why"
    crowdopt.compare(instance, ["sequential"], trials=1, breach="difficulty=.3")


@pytest.mark.chance
@pytest.mark.slow
def test_a_broken_model_is_said_and_shows(campaign, tmp_path):
    """With hard tasks the claims no longer hold; without any breach the numbers are those of no option at all.

    Trials are independent: the errors beyond the claims grow in seven of ten or more (of 60 by .03 in 50).
    """
    texts, beyond = ("--policies", "entropy:gold=10", "--trials", 16, "--seed", BASE), {}
    for name, how in (("none", ()), ("zero", ("--breach", "clique=0")), ("hard", ("--breach", "difficulty=.5"))):
        said("compare", campaign, *texts, *how, "-o", tmp_path / name)
        lines = rows(tmp_path / name / "trials.csv")[::2]
        beyond[name] = np.array([float(row["error_realised"]) - float(row["error_claimed"]) for row in lines])
    assert (tmp_path / "none" / "trials.csv").read_bytes() == (tmp_path / "zero" / "trials.csv").read_bytes()
    assert beyond["none"].size == 16 and (beyond["hard"] > beyond["none"]).sum() >= fewest(16, 0.7)
    assert "difficulty=0.5" in (tmp_path / "hard" / "comparison.json").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="unknown word 'colusion'"):
        crowdopt.compare(campaign, ["greedy"], breach="colusion=.2")


def test_labels_of_a_plan_alone_are_compared_too(tmp_path):
    """Two labels a task keep the promise, not the sums that policies go by: there is no bound of these to write."""
    campaign, labels, truth = (tmp_path / name for name in ("birds", "labels.csv", "truth.csv"))
    crowdopt.init(campaign)
    crowdopt.rehearse(campaign, crowdopt.solve(campaign), output=labels, truth=truth)
    best = crowdopt.compare(campaign, ["greedy"], trials=1, labels=labels, truth=truth, output=tmp_path / "out").optimum
    assert best.bound is None and best.found is None and best.promise == "exact-error"


def test_hard_tasks_are_played_and_held_against_the_promise(tmp_path):
    """From a folder as from Python: the promise's optimum is the plan's, no ratio to it is below 1 where nothing is
    missed, and the words say that needs are no proof. The targets are below what hard tasks alone err as guesses.
    """
    accuracy = np.random.default_rng(0).uniform(0.7, 0.95, (1, 30))
    hard = crowdopt.AssignmentInstance(accuracy, np.zeros(20, int), np.full(30, 20), 0.12, difficulty=(0.25, 0.5))
    crowdopt.write_campaign(hard, tmp_path / "c")
    told = said("compare", tmp_path / "c", "--policies", "re-solve", "--trials", 1, "-o", tmp_path / "out")
    assert "needs that are mostly enough where tasks may be hard" in told
    facts = facts_of(tmp_path / "out")
    best, plan = facts["optimum"], crowdopt.solve(hard)
    assert best["promise_bound"] <= plan.objective == best["promise_found"] <= best["bound"] and not best["implied"]
    found = crowdopt.compare(hard, ["re-solve"], trials=1)
    assert json.loads(json.dumps(found.summary)) == facts["policies"]
    for row in found.rows:
        assert row["ratio_promise"] >= 1 or row["missed_share"] > 0
        assert row["error_exact"] <= row["error_bound"]


def test_differences_are_paired_and_notes_are_counted():
    """A constant difference within trials has no width, however much the trials differ; absent figures stay absent.

    The interval is Student's: mean and t-quantile times the standard error; t(.975, 3) = 3.18245.
    """
    rows = [
        {"text": text, "trial": k, "ratio_bound": base + k, "error_realised": None, "cost": k, "notes": [f"{k} gone"]}
        for k in range(4)
        for text, base in (("a", 1.0), ("b", 3.0))
    ]
    first, second = summarise(rows, ["a", "b"], "a")
    assert second["ratio_bound_minus_a"] == pytest.approx(2.0) and second["ratio_bound_minus_a_half"] == 0.0
    assert second["ratio_bound_half"] > 1 and second["error_realised_minus_a"] is None
    assert first["notes"] == ["0 gone (alike in 4 of 4 trials)"]
    mean, half = interval(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3.0 and half == pytest.approx(3.18245 * np.std([1, 2, 3, 6], ddof=1) / 2, rel=1e-5)
    assert interval(np.array([2.0])) == (2.0, None)
