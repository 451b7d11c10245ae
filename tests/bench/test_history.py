"""Two benchmarks held against each other: planted slowdowns are seen, and none where there is none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from crowdopt.bench import run
from crowdopt.bench.figures.history import (
    FASTER,
    SAME_SPEED,
    SLOWER,
    UNKNOWN,
    Benchmarked,
    changes,
    mean_ratio,
    word_for,
)
from crowdopt.bench.harness.results import EMPTY, Result
from crowdopt.bench.harness.subject import Limits, Subject
from crowdopt.cli import main
from crowdopt.report import charts
from tests.chance import fewest, rng

KNOWN = {"limits": {"seconds": 60.0}, "versions": {"crowdopt": "1", "highs": "1.15"}}
RUN = {"libraries": {"numpy": "2"}, "processor": "one", "cores": 2}


def benchmark(seconds: dict[str, list[float | None]], value: float = 3.0) -> Benchmarked:
    """Rows of methods by cases; None is a case left open."""
    results = []
    for method, times in seconds.items():
        for seed, total in enumerate(times):
            facts = {**EMPTY, "timings": {"total": total or 60.0}, "value": None if total is None else value}
            subject = Subject("R1:8x20", "ip", method, seed, Limits())
            results.append(Result(subject, "nothing" if total is None else "proven", "", facts))
    return Benchmarked(KNOWN, RUN, results)


def test_a_table_by_hand():
    """Ratios 2, 2, 2 and 8: their geometric mean is 2 * 4^(1/4); Student's interval in logarithms."""
    mean, low, high = mean_ratio(np.array([2.0, 2.0, 2.0, 8.0]))
    assert mean == pytest.approx(2 * 4**0.25)
    half = 3.182446305 * np.log([2, 2, 2, 8]).std(ddof=1) / 2
    assert (np.log(low), np.log(high)) == pytest.approx((np.log(mean) - half, np.log(mean) + half))
    assert mean_ratio(np.array([])) == (None, None, None)
    assert mean_ratio(np.array([4.0, 1.0])) == (pytest.approx(2.0), None, None)


@pytest.mark.chance
def test_a_planted_slowdown_of_a_fifth_is_found_and_none_in_equal_runs():
    """Thirty cases from .1 to 30 s, each run with noise of 5 %.

    Pairs of benchmarks are independent: 99 of 100 or more have the right word (of 20,000 all but 4).
    """
    draws = rng()
    times = np.geomspace(0.1, 30.0, 30)
    words = {1.0: [], 1.2: [], 1 / 1.2: []}
    for _ in range(200):
        for factor, said in words.items():
            old, new = times * draws.lognormal(0, 0.05, 30), factor * times * draws.lognormal(0, 0.05, 30)
            said.append(word_for(*mean_ratio((new + 0.01) / (old + 0.01))))
    for factor, word in ((1.0, SAME_SPEED), (1.2, SLOWER), (1 / 1.2, FASTER)):
        assert words[factor].count(word) >= fewest(200, 0.99), factor


def test_cases_lost_and_won_and_another_optimum():
    """Ratios are of cases settled both times; what is settled once only is named, and so is a change of value."""
    old = benchmark({"highs": [1.0, 2.0, None, 4.0, 5.0]})
    new = benchmark({"highs": [1.0, 2.0, 3.0, None, 5.0]})
    row = changes(old, new)["methods"][0]
    assert (row["compared"], row["won"], row["lost"], row["verdict"]) == (3, 1, 1, SAME_SPEED)
    assert row["ratio"] == pytest.approx(1.0)
    moved = changes(old, benchmark({"highs": [1.0, 2.0, None, 4.0, 5.0]}, value=4.0))
    assert moved["methods"][0]["other optimum"] == 4
    assert any("settled at another value" in said for said in moved["verdict"])


def test_what_cannot_be_compared_is_said():
    """Methods in one of the two only, too few cases, other versions and machines."""
    old, new = benchmark({"highs": [1.0, 1.0], "scip": [1.0]}), benchmark({"highs": [2.0, 2.0], "cbc": [1.0]})
    found = changes(old, replace(new, run={**RUN, "processor": "two", "libraries": {"numpy": "3"}}))
    assert [row["verdict"] for row in found["methods"]] == [UNKNOWN]
    assert found["circumstances"] == ["processor: one before, two now", "numpy: 2 before, 3 now"]
    assert any("Only in the old one: 1 rows; only in the new one: 1." in said for said in found["verdict"])
    assert changes(old, benchmark({"cbc": [1.0]}))["verdict"][0] == "The two have no case and method in common."


@pytest.mark.slow
def test_the_verb(tmp_path, monkeypatch):
    """A benchmark beside itself: no difference; what is no benchmark is refused in a sentence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(charts, "can_draw", lambda: False)
    run = CliRunner().invoke
    words = "R1:8x20 --program lp --seeds 2 --permutations 2 --backends highs --time-limit 5"
    assert run(main, ["bench", *words.split(), "-o", "old"]).exit_code == 0
    done = run(main, ["bench", "compare", "old", "old", "--json"])
    found = json.loads(done.stdout)
    assert done.exit_code == 0 and not found["circumstances"]
    assert [(row["compared"], row["ratio"], row["verdict"]) for row in found["methods"]] == [(4, 1.0, SAME_SPEED)]
    assert {row["permutation"] for row in found["cases"]} == {0, 1}
    assert "1.00 times the seconds" in run(main, ["bench", "compare", "old", "old"]).stdout
    (tmp_path / "else").mkdir()
    done = run(main, ["bench", "compare", "old", "else"])
    assert done.exit_code == 2 and "no benchmark" in done.stderr
    assert run(main, ["bench", "R1:8x20"]).exit_code == 2


def test_a_slower_method_ends_with_a_status_of_its_own_if_asked(monkeypatch):
    """A pipeline stops on 3; without the option, and for what is not slower, it goes on."""
    old = benchmark({"highs": [1.0, 2.0, 3.0, 4.0]})
    folders = {"old": old, "slow": benchmark({"highs": [2.0, 4.0, 6.0, 8.0]})}
    monkeypatch.setattr(run, "benchmarked", lambda folder: folders[folder.name])

    def status(*words: str) -> int:
        return CliRunner().invoke(main, ["bench", "compare", *words]).exit_code

    assert status("old", "slow", "--fail-if-slower") == 3
    assert status("old", "slow") == status("slow", "old", "--fail-if-slower") == 0
