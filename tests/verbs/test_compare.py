"""The verb compare: the same streams for all, the same bytes for any number of processes, nothing lost or hidden."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.pages import charts
from crowdopt.verbs import compare
from tests.chance import BASE, fewest
from tests.typed import rows, run

POLICIES = "re-solve,kos,main-algorithm:gold=5"


@pytest.fixture
def campaign(tmp_path):
    run("generate", "HS:90x60", "--seed", 3, "-o", tmp_path / "campaign")
    return tmp_path / "campaign"


def test_tables_and_page(campaign, tmp_path, monkeypatch):
    """All of it is there; greedy stands beside; kos takes as many labels as the first policy."""
    out = tmp_path / "out"
    done = run("compare", campaign, "--policies", POLICIES, "--trials", 3, "-o", out)
    assert done.exit_code == 0, done.output
    names = {"trials.csv", "summary.csv", "timings.csv", "comparison.json"}
    assert names <= {path.name for path in out.iterdir()}
    lines = rows(out / "trials.csv")
    assert [row["text"] for row in lines[:4]] == [*POLICIES.split(","), "greedy"]
    total = {(row["text"], row["trial"]): int(row["labels"]) for row in lines}
    assert all(total["kos", k] == total["re-solve", k] for k in "012")
    facts = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    assert facts["optimum"]["proof"] == "certificate"
    assert facts["optimum"]["bound"] >= facts["optimum"]["lp"] - 1e-6
    for line in facts["policies"]:
        assert line["ratio_bound"] == pytest.approx(line["cost"] / facts["optimum"]["bound"])
        assert line["short_share"] > 0 or line["ratio_bound"] >= 1 - 1e-9
    monkeypatch.setattr(charts, "_converted", lambda jobs: [b"<svg></svg>" for _ in jobs])
    page = crowdopt.report(out).read_text(encoding="utf-8")
    assert "<td>greedy</td>" in page and "<li>Offline optimum" in page and page.count('class="chart"') == 3


def test_ctrl_c_during_the_offline_plan_ends_it(campaign, tmp_path, monkeypatch):
    """A plan cut short proves less: what is held against it would differ from run to run, and nothing would tell."""
    out, whole = tmp_path / "out", compare.solve
    monkeypatch.setattr(compare, "solve", lambda *one, **more: replace(whole(*one, **more), interrupted=True))
    done = run("compare", campaign, "--policies", "re-solve", "--trials", 1, "-o", out)
    assert done.exit_code == 130 and done.stderr == "crowdopt: interrupted\n" and not done.stdout
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_equal_bytes_for_any_number_of_processes(campaign, tmp_path):
    """Timings apart, a run agrees to the byte with one whose rows are another process's; of several see test_jobs."""
    for name, processes in (("here", 0), ("there", 1)):
        more = ("--trials", 2, "--processes", processes, "-o", tmp_path / name)
        done = run("compare", campaign, "--policies", "re-solve,kos", *more)
        assert done.exit_code == 0, done.output
    for name in ("trials.csv", "summary.csv", "comparison.json"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


@pytest.mark.usefixtures("undrawn")
def test_finished_rows_are_kept_and_a_comparison_is_not_overwritten(campaign, tmp_path):
    """Interrupted before the end it goes on; finished it is replaced only by force, and more trials add to it."""
    out = tmp_path / "out"
    assert run("compare", campaign, "--policies", "re-solve", "--trials", 2, "-o", out).exit_code == 0
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "work" / "rows").iterdir()}
    assert run("compare", campaign, "--policies", "re-solve", "--trials", 2, "-o", out).exit_code == 2
    (out / "comparison.json").unlink()  # as if stopped before the last file
    assert run("compare", campaign, "--policies", "re-solve", "--trials", 3, "-o", out).exit_code == 0
    now = {path.name: path.stat().st_mtime_ns for path in (out / "work" / "rows").iterdir()}
    assert kept.items() <= now.items() and len(now) > len(kept)
    assert run("compare", campaign, "--policies", "greedy", "--trials", 1, "-o", out, "--force").exit_code == 0


@pytest.mark.usefixtures("undrawn")
def test_a_failed_policy_is_a_row_and_the_others_stay(tmp_path):
    """Without prices the first policy fails: it is a line that says so, and kos, which by default takes as many labels
    as the first policy, takes those of the first that works. One that names the failed policy says so too.
    """
    texts = ["primal-approximation", "re-solve", "kos", "kos:equal=primal-approximation"]
    found = crowdopt.compare(crowdopt.recipe("B5:20x20"), texts, trials=1, output=tmp_path / "out")
    lines = {line["policy"]: line for line in found.summary}
    assert list(lines) == [*texts, "greedy"]
    assert [lines[text]["trials"] for text in texts] == [0, 1, 1, 0]
    assert [lines[text]["failed"] for text in texts] == [1, 0, 0, 1]
    total = {row["text"]: row["labels"] for row in found.rows}
    assert total["kos"] == total["re-solve"] > 0
    assert sum("whose labels it was to equal" in said for said in found.failed) == 1


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_four_classes_are_compared_like_two(tmp_path):
    """Beliefs, claims, breaches and the bound by information are for any number of classes."""
    instance = crowdopt.AssignmentInstance(
        np.full((1, 40), 0.75), np.zeros(60, int), np.full(40, 50), 0.2, classes=4, rule="bhattacharyya"
    )
    crowdopt.write_campaign(instance, tmp_path / "four")
    done = run(
        "compare",
        tmp_path / "four",
        "--policies",
        "sequential,adaptive:gold=5,re-solve:gold=5",
        "--trials",
        2,
        "-o",
        tmp_path / "out",
    )
    assert done.exit_code == 0, done.output
    bound = crowdopt.verbs.compare.least(instance, crowdopt.solve_program).information
    assert f"below cost {bound:.0f} even if skills are known" in done.output
    for line in rows(tmp_path / "out" / "trials.csv"):
        claim = line["policy"] == "greedy" or float(line["error_claimed"])
        assert claim is True or 0 < claim <= 0.2 or (claim <= 0.75 and line["notes"]), "a run that falls short says why"
    texts = ("--policies", "sequential", "--trials", 1, "--breach", "difficulty=.3", "-o", tmp_path / "broken")
    broken = run("compare", tmp_path / "four", *texts)
    assert broken.exit_code == 0, broken.output


@pytest.mark.usefixtures("undrawn")
@pytest.mark.chance
@pytest.mark.slow
def test_a_broken_model_is_said_and_shows(campaign, tmp_path):
    """With hard tasks the claims no longer hold; without any breach the numbers are those of no option at all.

    Trials are independent: the errors beyond the claims grow in seven of ten or more (of 60 by .03 in 50).
    """
    texts = ("--policies", "entropy:gold=10", "--trials", 16, "--seed", BASE)
    for name, how in (("none", ()), ("zero", ("--breach", "clique=0")), ("hard", ("--breach", "difficulty=.5"))):
        assert run("compare", campaign, *texts, *how, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "none" / "trials.csv").read_bytes() == (tmp_path / "zero" / "trials.csv").read_bytes()
    plain, hard = (
        np.array(
            [
                float(row["error_realised"]) - float(row["error_claimed"])
                for row in rows(tmp_path / name / "trials.csv")[::2]
            ]
        )
        for name in ("none", "hard")
    )
    assert plain.size == 16 and (hard > plain).sum() >= fewest(16, 0.7)
    assert "difficulty=0.5" in (tmp_path / "hard" / "comparison.json").read_text(encoding="utf-8")
    done = run("compare", campaign, *texts, "--breach", "colusion=.2", "-o", tmp_path / "bad")
    assert done.exit_code == 2 and "unknown word 'colusion'" in done.output and not (tmp_path / "bad").exists()


@pytest.mark.usefixtures("undrawn")
def test_real_labels(real_data, tmp_path):
    """Recorded labels of bluebirds: an imported campaign, gold from held-out photos, everything from the tables."""
    labels, truth = (real_data / "bluebird" / name for name in ("labels.csv", "truth.csv"))
    assert run("import", labels, "--truth", truth, "--epsilon", 0.1, "-o", tmp_path / "birds").exit_code == 0
    done = run(
        *("compare", tmp_path / "birds", "--policies", "re-solve,re-solve:gold=8,entropy", "--labels", labels),
        *("--truth", truth, "--trials", 3, "-o", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.output
    assert "the commonest answer is wrong 0." in done.output  # 48 % of the photos show the rarer bird
    for row in rows(tmp_path / "out" / "trials.csv"):
        assert row.get("ratio_possible", "") == ""  # people follow no model: no bound is claimed for them
        assert float(row["error_realised"]) < 0.35 and row["refused"] == "0"
    with pytest.raises(InputError, match="unknown task"):
        compare.read_record(crowdopt.recipe("HS:108x60"), labels)


def test_labels_of_a_plan_alone_are_compared_too(tmp_path):
    """Two labels a task keep the promise, not the sums that policies go by: there is no bound of these to write."""
    campaign, plan = tmp_path / "birds", tmp_path / "plan"
    crowdopt.init(campaign)
    crowdopt.solve(campaign, output=plan)
    labels, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    crowdopt.rehearse(campaign, plan, output=labels, truth=truth)
    options = {"trials": 1, "labels": labels, "truth": truth, "output": tmp_path / "out"}
    best = crowdopt.compare(campaign, ["greedy"], **options).optimum
    assert best.bound is None and best.found is None and best.promise == "exact-error"


@pytest.mark.usefixtures("undrawn")
def test_hard_tasks_are_played_and_held_against_the_promise(tmp_path):
    """From a folder as from Python: the promise's optimum is the plan's, no ratio to it is below 1 where nothing is
    missed, and the words say that needs are no proof. The targets are below what hard tasks alone err as guesses.
    """
    accuracy = np.random.default_rng(0).uniform(0.7, 0.95, (1, 30))
    hard = crowdopt.AssignmentInstance(accuracy, np.zeros(20, int), np.full(30, 20), 0.12, difficulty=(0.25, 0.5))
    crowdopt.write_campaign(hard, tmp_path / "c")
    done = run("compare", tmp_path / "c", "--policies", "re-solve", "--trials", 2, "-o", tmp_path / "out")
    assert done.exit_code == 0 and "needs that are mostly enough where tasks may be hard" in done.output
    facts = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    best, plan = facts["optimum"], crowdopt.solve(hard)
    assert best["promise_bound"] <= plan.objective == best["promise_found"] <= best["bound"] and not best["implied"]
    found = crowdopt.compare(hard, ["re-solve"], trials=2)
    assert json.loads(json.dumps(found.summary)) == facts["policies"]
    for row in found.rows:
        assert row["ratio_promise"] >= 1 or row["missed_share"] > 0
        assert row["error_exact"] <= row["error_bound"]
