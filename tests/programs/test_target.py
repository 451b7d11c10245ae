"""The target LP: more money never buys less slack, and the LP's own optimum buys none beyond need."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import recipe
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, target
from tests.programs.optima import optimum


@pytest.mark.parametrize("name", ["R10:60x40", "L3:100x40", "R1:30x20"])
def test_slack_grows_with_money_and_pays_off(name):
    """Concave in the money; and the slack that money buys, as more need, costs that money."""
    instance = recipe(name, 1)
    classes, least = classes_of(instance), optimum(aggregated.build(instance, whole=True))
    slack = [-optimum(target.of_classes(classes, least * part)) for part in (1.0 + 1e-9, 1.05, 1.1)]
    assert 0 <= slack[0] <= slack[1] <= slack[2]
    assert slack[1] >= (slack[0] + slack[2]) / 2 - 1e-7
    assert np.isfinite(slack).all()
