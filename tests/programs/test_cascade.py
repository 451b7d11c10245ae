"""Programs of cascades and of potentials: certified, the same as their text, and what their rows say."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from crowdopt import AssignmentInstance, certify, solve_program
from crowdopt.assign.cascade.panels import vote_panel
from crowdopt.assign.cascade.policy import Cascade
from crowdopt.crowd.law import Difficulty
from crowdopt.programs import potential
from crowdopt.programs.potential import Potential
from tests.models.reading import MODELS, read_by
from tests.programs.optima import optimum


def built(one: AssignmentInstance, **terms):
    return Cascade(vote_panel(one), **terms).program


@pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")
def test_the_text_has_the_same_optimum(tmp_path):
    """models/judges.dat by GLPK, and the builder's program of the same judges; also where each answer is sure."""
    one = AssignmentInstance([[0.95, 0.8, 0.75]], [0] * 10, [6, 10**6, 10**6], 0.1, cost=[5, 1, 0.5])
    data = (MODELS / "judges.dat").read_text(encoding="utf-8")
    (tmp_path / "sure.dat").write_text(data.replace("\nend;", "\nparam surest := 1 0.1;\n\nend;"), encoding="utf-8")
    programs = built(one), built(one, given_votes=True)
    for file, program in zip((MODELS / "judges.dat", tmp_path / "sure.dat"), programs, strict=True):
        assert read_by("glpk", "mod", MODELS / "cascade.mod", file)["lp"] == pytest.approx(optimum(program))
    assert optimum(programs[1]) > 1.01 * optimum(programs[0])


def test_six_judges_of_whom_a_share_of_items_is_hard():
    """What the programme of work says of them: 3,968."""
    skills, prices = [0.95, 0.93, 0.9, 0.86, 0.8, 0.76], [10, 6, 3, 1, 0.4, 0.2]
    hard = {"difficulty": Difficulty(share=0.15, hard=0.5)}
    one = AssignmentInstance([skills], [0] * 1000, [1000] * 6, 0.05, cost=prices, **hard)
    found = certify(solve_program(built(one), "highs-simplex"))
    assert found.proves_optimal(1e-9) and found.value == pytest.approx(3968, rel=1e-3)


def crowd(accuracy, tasks: int = 30) -> AssignmentInstance:
    skill = np.atleast_2d(accuracy)
    return AssignmentInstance(skill, np.arange(tasks) % len(skill), np.full(skill.shape[1], 20), 0.1)


def test_a_potential_made_by_hand_is_a_point_and_its_value_what_it_proves():
    """``V = mu min(b, 1 - b)`` itself: gains as computed for the continuum satisfy every row, and no less does."""
    instance = crowd([0.6, 0.8, 0.8])
    program = potential.build(instance)
    target, level = potential.error_target(instance, 24)
    one = Potential(target.knots, 5.0 * (1 - target.knots))
    rules, most = potential.everything(instance, level), one.most_gained(target.level_accuracy)
    earn = np.zeros(rules.size.size)
    np.maximum.at(earn, rules.group, rules.labels @ most - rules.paid)

    def activity(gain):
        parts = {"potential": one.value, "mu": [5.0], "gain": gain, "earn": earn}
        point = np.concatenate([np.ravel(parts[block.name]) for block in program.columns])
        return point, program.matrix @ point

    point, rows = activity(most)
    assert (rows <= program.row_upper + 1e-9).all() and (rows >= program.row_lower - 1e-9).all()
    assert -program.cost @ point == pytest.approx(30 * 2.5 - 5.0 * 3.0 - rules.size @ earn)
    assert (activity(0.99 * most)[1] > program.row_upper + 1e-6).any()


@pytest.mark.parametrize("accuracy", [[0.5, 0.6, 0.9] * 3, [[0.7, 0.5] * 4, [0.5, 0.8] * 4]])
def test_multipliers_certify_the_potentials_optimum(accuracy):
    """Weak duality closes the gap, as for every program of the house."""
    certificate = certify(solve_program(potential.build(crowd(accuracy))))
    assert certificate.proof == "certificate" and certificate.proves_optimal(1e-5)
