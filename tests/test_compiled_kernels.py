"""Compiled kernels where there is no place for a cache: a read-only installation without a home folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crowdopt

WITHOUT_PLACES = """
import warnings
from numba.core import caching
for kind in vars(caching).values():
    if isinstance(kind, type) and issubclass(kind, caching.CacheImpl):
        kind._locator_classes = []
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    from crowdopt.compiled_kernels import njit
    double = njit(cache=True)(lambda x: 2 * x)
    triple = njit(cache=True, nogil=True)(lambda x: 3 * x)
print(double(2), triple(2), [str(one.message) for one in heard if "NUMBA_CACHE_DIR" in str(one.message)])
"""


@pytest.mark.slow
def test_without_a_cache_kernels_compile_all_the_same():
    """And that it happens in every process, and what would change it, is said once."""
    environment = {**os.environ, "PYTHONPATH": str(Path(crowdopt.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", WITHOUT_PLACES], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.startswith("4 6 ['compiled code cannot be kept here") and done.stdout.count("NUMBA_CACHE_DIR") == 1
    )
