"""The grouped knapsack: its set keeps every limit, and all sets looked at one by one are hardly cheaper."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt.assign.grouped.grouped_knapsack import FREE, UNITS, GroupedTask, cheapest_set


def drawn(seed: int) -> tuple[GroupedTask, np.ndarray]:
    """Seven classes of workers in two groups and outside them; values that may be negative."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 7)
    fewest = np.append(rng.integers(0, 2, 2), 0)
    most = np.append(fewest[:2] + rng.integers(0, 3, 2), FREE)
    task = GroupedTask(rng.choice([0.0, 0.3, 0.7, 1.1], 7), rng.integers(0, 3, 7), group, fewest, most, float(seed % 4))
    return task, rng.uniform(-0.2, 1, 7)


def least(task: GroupedTask, value: np.ndarray, need: float) -> float | None:
    """The least value of all choices of labels."""
    best = None
    for count in itertools.product(*(range(copies + 1) for copies in task.copies.tolist())):
        a = np.array(count)
        of_group = np.bincount(task.group, a, 3)
        if task.evidence @ a >= need and (of_group >= task.fewest).all() and (of_group <= task.most).all():
            best = min(float(value @ a), np.inf if best is None else best)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_its_set_keeps_the_limits_and_no_other_is_cheaper_but_for_rounding(seed: int) -> None:
    """Evidence is rounded by half a unit a label, so it costs no more than the least for a need so much larger."""
    task, value = drawn(seed)
    found, lowest = cheapest_set(task, value), least(task, value, task.need)
    if found is None:
        assert least(task, value, task.need * (1 + 14 / 2 / UNITS)) is None
        return
    worth, count = found
    of_group = np.bincount(task.group, count, 3)
    assert worth == pytest.approx(value @ count) and task.evidence @ count >= task.need
    assert (count <= task.copies).all() and (of_group >= task.fewest).all() and (of_group <= task.most).all()
    above = least(task, value, task.need * (1 + 14 / 2 / UNITS))
    assert lowest <= worth + 1e-12 and (above is None or worth <= above + 1e-12)
