"""What no policy can beat: the bound of the crowd that came, with the skills that are believed of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.subset import of_workers
from crowdopt.online.limits.least_cost import least
from tests.live.people import campaign, in_turn, small


def test_told_skills_give_the_bound_of_those_who_came():
    """Of the workers who came, in their order of arrival; labels that are in are not taken off."""
    live, people, _ = campaign("greedy")
    in_turn(live, people)
    met = np.array([int(row.worker) for row in live.workers() if row.skill is not None])
    crowd = of_workers(replace(small()[0], forbidden=np.zeros((0, 2), np.int64)), met)
    assert live.limits().cost == pytest.approx(least(crowd, crowdopt.solve).cost)


def test_without_skills_there_is_no_bound():
    """Nobody came, or tasks do."""
    for policy in ("greedy", "ls-ol"):
        with pytest.raises(crowdopt.InputError, match="bound on policies"):
            crowdopt.live(small()[0], policy=policy).limits()


def test_stated_hard_tasks_are_refused():
    """A live campaign's claims are of beliefs that look for hard tasks themselves: a stated share would go unheard."""
    hard = replace(small()[0], rule="exact-error", difficulty=(0.1, 0.5))
    with pytest.raises(crowdopt.InputError, match="look for hard tasks themselves"):
        crowdopt.live(hard, policy="greedy")
