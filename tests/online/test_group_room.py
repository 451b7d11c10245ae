"""Groups online: no policy gives a task more labels of a group than it may have, repairs included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, InputError, solve_program
from crowdopt.crowd.labels import REFUSED
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay

GROUPS = (Group("few", range(20), max_per_task=1), Group("family", range(20, 60), max_per_task=1, dependent=True))


def crowd(**change: object) -> AssignmentInstance:
    """Forty tasks, sixty workers who arrive, one label already in."""
    base = replace(crowdopt.recipe("R10:40x60", seed=1), rule="hoeffding", groups=GROUPS, collected=[[0, 3]])
    return replace(base.with_epsilon(0.45), **change)


@pytest.mark.parametrize("policy", ["greedy", "random", "main-algorithm:gold=20:gamma=.3", "re-solve"])
def test_no_policy_goes_beyond_a_group(policy: str) -> None:
    """Counted on the run itself."""
    chosen = named(policy)
    stream = simulated_stream(crowd(), (0, 1), chosen.preliminary(60))
    run = replay(chosen, stream, 0, solve_program)
    came = run.label != REFUSED
    pairs = np.concatenate([stream.instance.collected, np.column_stack([run.task, run.worker])[came]])
    assert came.sum() > 40
    for group in stream.instance.groups:
        mine = np.isin(pairs[:, 1], group.members)
        assert np.bincount(pairs[mine, 0]).max() == 1


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"groups": (Group("g", [0], min_per_task=1),)}, "fewest labels of a group"),
        ({"groups": (Group("g", [0], max_share=0.5),)}, "share"),
        ({"groups": (Group("g", [0, 1], max_per_task=2, dependent=True),)}, "err together"),
    ],
)
def test_what_cannot_be_kept_online_is_refused(change: dict[str, object], word: str) -> None:
    """What is decided cannot be taken back, so only limits from above can be kept by the way."""
    with pytest.raises(InputError, match=word):
        simulated_stream(crowd(**change), (0, 1))
