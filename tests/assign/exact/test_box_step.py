"""Boxes against the LP itself; equal runs, equal bytes; few skills proven by multipliers."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Options, assign, recipe, solve, write_plan
from crowdopt.assign.exact import boxstep
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated
from tests.sampled import first_of


@pytest.mark.parametrize(
    ("name", "seed"), [("R10:300x300", 0), ("B5:300x200", 1), ("R10:400x150", 2), ("L3:300x100", 0)]
)
@pytest.mark.parametrize("priced", [False, True], ids=["", "priced"])
def test_the_box_step_is_the_lp(name, seed, priced, monkeypatch):
    """From nested samples and boxes to the same optimum, with a dual that proves it, as simplex on the whole LP."""
    monkeypatch.setattr(boxstep, "SAMPLE", 60)
    monkeypatch.setattr(boxstep, "GROWTH", 2)
    classes = classes_of(recipe(name, seed, priced=priced))
    step = boxstep.box_step(classes, 0.0, solve, Options())
    whole = solve(aggregated.of_classes(classes), "highs-simplex")
    assert step is not None and step.value == pytest.approx(whole.claimed_bound, rel=1e-8)
    assert (step.amounts.sum(axis=1) <= classes.workers_in * classes.capacity + 1e-6).all()
    assert ((classes.evidence * step.amounts.T).sum(axis=1) >= classes.tasks_in * classes.floor - 1e-5).all()


@pytest.mark.parametrize("name", first_of(["L3:80x40", "R10:60x40", "B5:200x60"], 2))
def test_equal_runs_write_equal_bytes(name, tmp_path):
    """The same seed and node limit: every file but run.json."""
    for place in ("a", "b"):
        write_plan(assign(recipe(name), nodes=4, time_limit=300, seed=3, gap=0.0), tmp_path / place)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert files
    for file in files:
        if file.name != "run.json":
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


@pytest.mark.parametrize("skills", [(0.9, 0.75, 0.6), (0.85, 0.65), (0.8, 0.7, 0.6, 0.55)])
@pytest.mark.parametrize("epsilon", first_of([0.02, 0.1]))
def test_few_skills_are_proven_by_certificate(skills, epsilon):
    """Many workers alike make many equal sets; a search that looks at twins once still finds the cheapest."""
    accuracy = np.resize(skills, (1, 60))
    instance = AssignmentInstance(accuracy, np.zeros(100, int), np.full(60, 60), epsilon, rule="hoeffding")
    plan = assign(instance, time_limit=60, nodes=10, gap=0.0)
    assert plan.proven and plan.proof == "certificate"
