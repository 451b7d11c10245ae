"""Compiled kernels where there is no place for a cache: a read-only installation without a home folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crowdopt
from crowdopt import kernels
from crowdopt.core import clock
from crowdopt.core.clock import Clock
from crowdopt.kernels import njit

WITHOUT_PLACES = """
import warnings
from numba.core import caching
for kind in vars(caching).values():
    if isinstance(kind, type) and issubclass(kind, caching.CacheImpl):
        kind._locator_classes = []
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    from crowdopt.kernels import njit
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


def test_no_clock_runs_while_something_is_compiled(monkeypatch):
    """Compiling is done once on a machine; ten seconds allowed for a plan do not mean it."""
    before = kernels.paused()
    assert njit()(lambda x: x + 1)(1) == 2
    assert kernels.paused() > before
    now = [0.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])
    monkeypatch.setattr(kernels, "perf_counter", lambda: now[0])
    limit = Clock(10.0, started=0.0)
    now[0] = 4.0
    kernels.pause()
    kernels.pause()  # a loop that is compiled for another one's sake, or in another thread
    now[0] = 50.0
    assert limit.left == 6.0
    kernels.go_on()
    kernels.go_on()
    assert limit.left == 6.0
    now[0] = 56.0
    assert limit.over


def test_two_processes_at_once_keep_each_its_own_code(monkeypatch, tmp_path):
    """Both compile for types of their own before either has written: whatever is read later is of the types asked for.

    By numba's own numbering the second one's code was read under the first one's types.
    """
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    script = tmp_path / "kernel_of_a_test.py"
    script.write_text(TWICE, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout.split() == ["None", "whole"], done.stderr


TWICE = """
from crowdopt.kernels import njit


@njit(cache=True)
def same(x):
    return x


kept = same._cache._cache_file
kept.save(("floats",), "float")
other = njit(cache=True)(same.py_func)._cache._cache_file
load, other._load_index = other._load_index, dict
other.save(("whole",), "whole")  # that process has read the index before anything stood in it
kept._save_data(kept._data_name(1), "float")  # what numba's first process would write now
other._load_index = load
print(other.load(("floats",)), other.load(("whole",)))
"""


KEPT = """
from typing import NamedTuple
import numpy as np
from crowdopt.kernels import njit

class {name}(NamedTuple):
    size: float

@njit(cache=True)
def doubled(one):
    return 2 * one.size

print(doubled({name}(2.0)))
"""


@pytest.mark.slow
def test_code_kept_for_a_type_that_has_gone_is_compiled_anew(tmp_path):
    """An installation that is brought up to date finds what the older version kept, under names that are no more."""
    module = tmp_path / "kept.py"
    environment = {**os.environ, "PYTHONPATH": str(Path(crowdopt.__file__).parent.parent)}
    environment.pop("NUMBA_CACHE_DIR", None)
    for name in ("Before", "After"):
        module.write_text(KEPT.format(name=name))
        done = subprocess.run(
            [sys.executable, "-c", "import kept"], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, "4.0\n"), done.stderr
