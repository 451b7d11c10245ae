"""What a policy compares has one order of adding up, compiled or not."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt.online.beliefs import belief_kernels
from crowdopt.plain_kernels import as_written

KERNELS = sorted((Path(crowdopt.__file__).parent / "online" / "beliefs").glob("*kernels.py"))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_of_beliefs_add_up_one_by_one(path):
    """NumPy adds in pairs, compiled loops one by one; loops of small campaigns run as plain Python first."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert not [one for one in calls if isinstance(one, ast.Attribute) and one.attr in ("sum", "mean", "dot", "prod")]


def test_the_prior_is_the_same_bits_compiled_and_as_written():
    """Loops may run as plain Python first: sums have one order in both."""
    rng = np.random.default_rng(0)
    likelihood, start = rng.random((30, 40)), np.full(40, 1 / 40)
    compiled = belief_kernels.fit(likelihood, start, 3.0, 20)
    np.testing.assert_array_equal(as_written(belief_kernels.fit)(likelihood, start, 3.0, 20), compiled)
