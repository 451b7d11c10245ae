"""Questions asked in a session have the answers of cold ones, and build far fewer programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import crowdopt
from crowdopt.api.assign import probe
from crowdopt.assign.error_targets import least_target
from crowdopt.assign.explain.margins import margins
from crowdopt.backends.session import Session


def test_a_session_answers_what_cold_solves_do() -> None:
    """Prices solved again and a bisection, warm and cold: the optimum of an LP does not depend on where one began."""
    instance = replace(crowdopt.recipe("R10:60x40", seed=2), prior=np.full((60, 2), 0.5))
    opened: list[Session] = []

    def opening(program, options):
        opened.append(Session(program, "highs-simplex", options))
        return opened[-1]

    answers = []
    for warm in (True, False):
        asked = replace(probe(60), open_session=opening if warm else None)
        found = margins(instance, asked)
        answers.append(
            (found.capacity_saving, found.task_saving, least_target(instance, asked.lacks_shares, asked.clock))
        )
    for one, other in zip(*answers, strict=True):
        assert np.allclose(one, other, rtol=1e-7, atol=1e-7, equal_nan=True)
    solved = sum(one.solves for one in opened)
    assert solved > 40 and sum(one.builds for one in opened) == len(opened) <= 4
