"""The program of cascades: certified, the same as its text, and small enough where judges are few."""

from __future__ import annotations

from importlib.util import find_spec
from time import perf_counter

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, certify, solve
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.states.told_tasks import told_tasks
from crowdopt.programs import cascade
from crowdopt.programs.cascade import Cascade
from tests.models.reading import MODELS, read_by

PRICES = [10, 6, 5, 3, 2.5, 2, 1, 0.4, 0.2]
SKILLS = [0.95, 0.93, 0.92, 0.9, 0.89, 0.88, 0.86, 0.8, 0.76]


def test_multipliers_certify_its_optimum():
    """Weak duality closes the gap, as for every program of the house."""
    one = AssignmentInstance([[0.9, 0.8, 0.7], [0.8, 0.8, 0.6]], [0, 0, 1], [3, 3, 2], 0.2)
    assert certify(solve(cascade.build(one), "highs-simplex")).proves_optimal(1e-9)


@pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")
def test_the_text_has_the_same_optimum():
    """models/judges.dat by GLPK, and the builder's program of the same judges."""
    one = AssignmentInstance([[0.95, 0.8, 0.75]], [0] * 10, [6, 10**6, 10**6], 0.1, cost=[5, 1, 0.5])
    found = read_by("glpk", "mod", MODELS / "cascade.mod", MODELS / "judges.dat")
    assert found["lp"] == pytest.approx(certify(solve(cascade.build(one), "highs-simplex")).value)


@pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")
def test_the_text_has_the_same_optimum_given_the_votes(tmp_path):
    """The same judges where each answer keeps the target: ``surest`` in the text."""
    one = AssignmentInstance([[0.95, 0.8, 0.75]], [0] * 10, [6, 10**6, 10**6], 0.1, cost=[5, 1, 0.5])
    data = (MODELS / "judges.dat").read_text(encoding="utf-8")
    (tmp_path / "sure.dat").write_text(data.replace("\nend;", "\nparam surest := 1 0.1;\n\nend;"), encoding="utf-8")
    found = read_by("glpk", "mod", MODELS / "cascade.mod", tmp_path / "sure.dat")
    sure = Cascade(told_tasks(one), given_votes=True).program
    assert found["lp"] == pytest.approx(certify(solve(sure, "highs-simplex")).value)
    assert found["lp"] > 1.01 * certify(solve(cascade.build(one), "highs-simplex")).value


def test_probabilities_leave_each_state_as_they_come():
    """Every column that asks moves a whole task: the chances of its outcomes add up to 1, in rounds too."""
    one = AssignmentInstance([[0.9, 0.8, 0.8]], [0] * 4, [4, 4, 4], 0.1, classes=3, rule="exact-error")
    for rounds in (None, 2):
        for asking in Cascade(told_tasks(one), None, rounds).askings:
            assert asking.chance.sum(axis=1) == pytest.approx(1.0)


def six_hard(judges: list[int]) -> AssignmentInstance:
    skills, prices = [SKILLS[k] for k in judges], [PRICES[k] for k in judges]
    hard = Difficulty(share=0.15, hard=0.5)
    return AssignmentInstance([skills], [0] * 1000, [1000] * len(judges), 0.05, cost=prices, difficulty=hard)


def test_six_judges_of_whom_a_share_of_items_is_hard():
    """What the programme of work says of them: 3,968."""
    found = certify(solve(cascade.build(six_hard([0, 1, 3, 6, 7, 8])), "highs-simplex"))
    assert found.proves_optimal(1e-9) and found.value == pytest.approx(3968, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("judges", "seconds"), [([0, 1, 2, 3, 5, 6, 7, 8], 5.0), (list(range(9)), 15.0)])
def test_eight_and_nine_judges_take_seconds(judges, seconds):
    """All included, states and matrix too."""
    started = perf_counter()
    assert certify(solve(cascade.build(six_hard(judges)), "by-size")).proves_optimal(1e-8)
    assert perf_counter() - started < seconds


def test_too_many_states_are_refused_in_a_sentence():
    skills = np.linspace(0.55, 0.95, 14)
    with pytest.raises(InputError, match="plan with fewer judges"):
        cascade.build(AssignmentInstance([skills], [0] * 9, np.full(14, 9), 0.1))
