"""Campaigns in parts: one plan whatever computes it and whatever is killed, and a check that finds what is wrong."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL

import numpy as np
import pytest

import crowdopt
from crowdopt.core.clock import Clock
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError
from crowdopt.verbs.parts import PartsAtWork, assign_parts, generate_parts, take_apart
from crowdopt.verbs.verify import verify_parts
from tests.recheck.forged import Forged

pq = pytest.importorskip("pyarrow.parquet", reason="the extra frames is not installed")


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a plan but run.json."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "run.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A campaign of 900 tasks in three parts, and its plan."""
    place = tmp_path_factory.mktemp("parts")
    generate_parts("I2:900x8", 1, parts=3, output=place / "campaign")
    plan = assign_parts(place / "campaign", output=place / "plan")
    assert plan.found
    return place / "campaign", place / "plan", plan.facts


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(solved, tmp_path):
    """Sums go in the order of the parts and every part's chance is its own."""
    campaign, plan, _ = solved
    assign_parts(campaign, output=tmp_path / "plan", processes=2)
    assert contents(tmp_path / "plan") == contents(plan)
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


@pytest.mark.slow
def test_parts_bound_what_memory_plans_and_the_other_way_round(tmp_path):
    """Own targets, forbidden and fixed pairs: the same instance taken whole, and each one's bound holds for both."""
    rng = np.random.default_rng(4)
    instance = recipe("I2:600x8", seed=4)
    forbidden = np.unique(np.column_stack([rng.integers(0, 600, 300), rng.integers(0, 7, 300)]), axis=0)
    instance = replace(
        instance, epsilon=rng.uniform(0.2, 0.4, 600), forbidden=forbidden, fixed=np.array([[3, 7], [500, 7]])
    )
    take_apart(instance, parts=4, output=tmp_path / "campaign")
    plan = assign_parts(tmp_path / "campaign", output=tmp_path / "plan")
    report = verify_parts(tmp_path / "campaign", tmp_path / "plan")
    assert report.holds, report.problems
    whole = crowdopt.solve(instance, time_limit=60, gap=0.01)
    assert report.certified_bound <= whole.objective + 1e-6 and whole.bound <= plan.facts["objective"] + 1e-6
    assert plan.facts["gap"] < 0.01


def test_exact_errors_are_promised_by_the_rule_that_implies_them(solved, tmp_path):
    """The same plan and bound as by that rule, named beside the rule stated; a plan that names another is refused."""
    campaign, plan, facts = solved
    shutil.copytree(campaign, tmp_path / "campaign")
    shutil.copytree(plan, tmp_path / "plain")
    toml = tmp_path / "campaign" / "campaign.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("bhattacharyya", "exact-error"), encoding="utf-8")
    found = assign_parts(tmp_path / "campaign", output=tmp_path / "plan")
    assert found.facts == {**facts, "promise": "exact-error"}
    report = verify_parts(tmp_path / "campaign", tmp_path / "plan")
    assert report.holds and report.overrides == {"rule": "bhattacharyya"}
    assert not verify_parts(tmp_path / "campaign", tmp_path / "plain").holds
    assert not verify_parts(campaign, tmp_path / "plan").holds


class Late(Clock):
    """A clock that is over once so many questions were asked."""

    questions = 0

    @property
    def left(self) -> float:
        """Little more than planning takes, and nothing when it is over."""
        return float("-inf") if Late.questions <= 0 else 1e9


def test_where_time_is_up_the_bound_is_known_and_the_run_goes_on(solved, tmp_path, monkeypatch):
    """Over before or in the middle of any question: no plan folder, a bound once all parts have said theirs."""
    campaign, plan, facts = solved
    ask = PartsAtWork.ask

    def counted(self, *arguments, **options):
        answers = ask(self, *arguments, **options)
        Late.questions -= 1
        return answers

    monkeypatch.setattr(PartsAtWork, "ask", counted)
    monkeypatch.setattr("crowdopt.verbs.parts.Clock", Late)
    for questions in (0, 1, 2):
        Late.questions = questions
        late = assign_parts(campaign, output=tmp_path / "plan", time_limit=1.0)
        assert late.status == "undecided" and "time is up" in late.why
        assert ("bound" in late.facts) == (questions > 1) and late.facts.get("bound", 0) <= facts["bound"]
        assert not (tmp_path / "plan").exists() and (tmp_path / ".plan.work").exists()
    Late.questions = 1000
    assert assign_parts(campaign, output=tmp_path / "plan", time_limit=1.0).found
    assert contents(tmp_path / "plan") == contents(plan)


@pytest.mark.slow
def test_tasks_of_types_share_their_skills(tmp_path):
    """Three types without prices: whole classes of sets cost the same, and no worker has too much for it."""
    take_apart(recipe("L3:300x30", seed=2), parts=3, output=tmp_path / "campaign")
    plan = assign_parts(tmp_path / "campaign", output=tmp_path / "plan")
    report = verify_parts(tmp_path / "campaign", tmp_path / "plan")
    assert plan.found and report.holds, report.problems
    assert plan.facts["gap"] < 0.1


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(solved, tmp_path, monkeypatch):
    """Stopped before each question in turn: what was answered before is not asked again."""
    campaign, plan, _ = solved
    ask, left = PartsAtWork.ask, [0]

    def stopping(self, *arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return ask(self, *arguments, **options)

    monkeypatch.setattr(PartsAtWork, "ask", stopping)
    for questions in range(10):
        left[0] = questions
        try:
            assign_parts(campaign, output=tmp_path / "plan")
            break
        except KeyboardInterrupt:
            assert not (tmp_path / "plan").exists()
    assert questions >= 3 and contents(tmp_path / "plan") == contents(plan)


def test_what_another_run_left_is_not_taken_up(solved, tmp_path, monkeypatch):
    """A campaign that was changed, or another one, begins anew: no file of the run before is in its plan."""
    campaign, plan, _ = solved
    generate_parts("I2:300x8", 2, parts=4, output=tmp_path / "other")
    with monkeypatch.context() as patch:
        patch.setattr("crowdopt.verbs.parts.write_numbers", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            assign_parts(tmp_path / "other", output=tmp_path / "plan")
    assert (tmp_path / ".plan.work" / "plan" / "assignment" / "part-3.parquet").exists()
    assign_parts(campaign, output=tmp_path / "plan")
    assert contents(tmp_path / "plan") == contents(plan)


def rows(forged: Forged, change, parts: int = 1) -> None:
    """Change the labels of the first parts."""
    import pyarrow

    for path in sorted((forged.place / "assignment").iterdir())[:parts]:
        pq.write_table(pyarrow.Table.from_pylist(change(pq.read_table(path).to_pylist())), path)


FORGERIES = {  # what verify says, and what was done; plan.json alone may be wrong too
    "bound says": lambda plan: plan.says(bound=1.01 * plan.claims["bound"]),
    "objective says": lambda plan: plan.says(objective=0.99 * plan.claims["objective"]),
    "labels says": lambda plan: rows(plan, lambda labels: labels[1:]),
    "lacks evidence": lambda plan: rows(plan, lambda labels: labels[1:]),
    "is in the plan twice": lambda plan: rows(plan, lambda labels: [*labels, labels[-1]]),
    "another load": lambda plan: rows(plan, lambda labels: [{**labels[0], "worker": "7"}, *labels[1:]]),
    "more labels than their": lambda plan: rows(plan, lambda labels: [{**one, "worker": "0"} for one in labels], 3),
    "999999": lambda plan: plan.cell("workers", 1, "capacity", lambda _: 999999),
    "rule says": lambda plan: plan.says(rule="hoeffding"),
    "proven says True": lambda plan: plan.says(proven=True, bound=0.0),
    "status says 'optimal'": lambda plan: plan.says(status="optimal", bound=0.0),
    "proof says 'solver'": lambda plan: plan.says(proof="solver"),
    "workers says": lambda plan: plan.says(workers=7),
    "no more than": lambda plan: plan.says(bound=1e300, gap=-1e300),
}


@pytest.mark.parametrize("sentence", FORGERIES)
def test_a_forged_plan_is_found_out(solved, tmp_path, sentence):
    """Every number of a plan, every claim and every label is counted again."""
    forged = Forged(solved[0].parent, tmp_path)
    FORGERIES[sentence](forged)
    assert any(sentence in problem for problem in forged.problems())


@pytest.mark.parametrize("multiplier", [-1e308, -4503599627370496.0])
def test_a_huge_multiplier_proves_nothing(solved, tmp_path, multiplier):
    """Five labels too many and a multiplier beyond float64 are no optimum: no bound above the cost is one."""
    forged = Forged(solved[0].parent, tmp_path).cell("workers", 1, "dual", lambda _: multiplier)
    report = forged.says(bound=1e9 * forged.claims["bound"]).report()
    assert not report.holds and not report.proven
    assert report.certified_bound is None or report.certified_bound <= solved[2]["objective"]


def test_what_cannot_be_is_said_of_a_task(tmp_path):
    """A task that no worker can answer well enough has a part and a row; crowds too small are infeasible as a whole."""
    instance = recipe("I2:60x4", seed=0)
    take_apart(replace(instance, epsilon=np.where(np.arange(60) == 41, 1e-6, 0.3)), parts=2, output=tmp_path / "hard")
    plan = assign_parts(tmp_path / "hard", output=tmp_path / "plan")
    assert plan.status == "infeasible" and "part-1.parquet, row 12, task 41" in plan.why
    take_apart(replace(instance, capacity=np.full(4, 10)), parts=2, output=tmp_path / "small")
    assert assign_parts(tmp_path / "small", output=tmp_path / "plan").status == "infeasible"
    assert not (tmp_path / "plan").exists()


def test_a_limit_is_kept_where_one_is_named(solved, monkeypatch):
    """Without one parts take the time that they need; one that is the default of other campaigns is one as well.

    No campaign is solved part by part unasked: it would write a folder.
    """
    seen = []
    monkeypatch.setattr(crowdopt.verbs.solve, "assign_parts", lambda *_, **words: seen.append(words["time_limit"]))
    for words in ({}, {"time_limit": 60.0}, {"time_limit": 5}):
        crowdopt.solve(solved[0], output="nowhere", **words)
    assert seen == [None, 60.0, 5]
    with pytest.raises(InputError, match="in parts, whose plan is written"):
        crowdopt.solve(solved[0])


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_bytes(solved, tmp_path):
    """By kill -9 of the coordinator, later and later; the last one is left alone."""
    campaign, plan, _ = solved
    command = [sys.executable, "-m", "crowdopt.cli", "solve", str(campaign), "-o", str(tmp_path / "plan")]
    for moment in (2.0, 3.0, 4.0, 6.0, 8.0, None):
        process = subprocess.Popen([*command, "--processes", "2"], stdout=DEVNULL, stderr=DEVNULL)
        try:
            process.wait(moment)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert contents(tmp_path / "plan") == contents(plan)
