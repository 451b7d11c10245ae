"""What CBC says of an integer program when its time is over before it branches."""

from __future__ import annotations

import pytest

from crowdopt.core.solution import Options, Status
from crowdopt.solvers import pulp
from crowdopt.testing.backend_contract import program

INF = float("inf")


def said(word, values, seconds, integer=True):
    """The program min x + y with x + y >= 1 in the unit box, of which CBC says a word after some seconds of one."""
    square = program([1, 1], [(1, [1, 1], INF)], upper=1, integer=integer)
    built = pulp.build(square)
    for variable, value in zip(built.variables, values, strict=True):
        variable.varValue = value
    cbc = pulp.OFFERS["cbc"]
    return pulp._read_back(built, square, "pulp-cbc", cbc, word, None, Options(time_limit=1.0), seconds)


@pytest.mark.parametrize(("word", "values"), [("Infeasible", [None, None]), ("Optimal", [0.5, 0.5])])
def test_once_time_is_over_its_words_are_about_the_relaxation(word, values):
    """CBC 2.10 calls programs with points infeasible then, and CBC 3 calls the relaxation's optimum optimal."""
    answer = said(word, values, seconds=1.01)
    assert (answer.status, answer.primal, answer.claimed_bound) == (Status.UNDECIDED, None, None)
    assert word in answer.raw


def test_in_time_its_words_count():
    """A proof is one, a false claim is left for the certificate to find, and a linear program is its own relaxation."""
    assert said("Infeasible", [None, None], seconds=0.9).status is Status.INFEASIBLE
    assert said("Optimal", [0.5, 0.5], seconds=0.9).status is Status.OPTIMAL
    assert said("Optimal", [1.0, 0.0], seconds=1.01).status is Status.OPTIMAL
    assert said("Optimal", [0.5, 0.5], seconds=1.01, integer=False).status is Status.OPTIMAL
