"""Kernels: as they are written they give the same bits as compiled ones; compiled code is kept where it can be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt import kernels, recipe, solve
from crowdopt.core import clock
from crowdopt.core.clock import Clock
from crowdopt.crowd.law import Difficulty
from crowdopt.kernels import njit


@njit(cache=False)
def _inner(x):
    return x * x


@njit(cache=False)
def _outer(values):
    total = 0.0
    for x in values:
        total += _inner(x)
    return total


def _instances(seed):
    yield replace(recipe("R10:8x6", seed=seed), rule="exact-error", epsilon=np.full(8, 0.12))
    yield replace(recipe("U:6x7", seed=seed), rule="exact-error", epsilon=np.linspace(0.1, 0.3, 6))
    hard = replace(recipe("R10:5x6", seed=seed), rule="exact-error", epsilon=np.full(5, 0.2))
    yield hard.with_difficulty(Difficulty(0.1, 0.5))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_plans_are_the_same_to_the_last_bit(compiled, monkeypatch, seed):
    """Pairs, bound and all other numbers, whichever way the loops run."""
    plans = [solve(instance, time_limit=60, gap=0.0) for instance in _instances(seed)]
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: False)  # as on the first day
    monkeypatch.setattr(kernels._state, "spent", {})
    monkeypatch.setattr(kernels, "MOMENT", 1e9)  # no end
    for instance, before in zip(_instances(seed), plans, strict=True):
        written = solve(instance, time_limit=60, gap=0.0)
        for name in ("status", "objective", "bound", "pairs", "duals"):
            assert str(getattr(written, name)) == str(getattr(before, name))


@njit(cache=False)
def _busy(steps):
    x = np.uint64(88172645463325252)
    for _ in range(steps):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return np.full(3, x), np.ones(2)


def test_ctrl_c_in_a_compiled_loop_is_nothing_else():
    """Python says SystemError of a loop that returns while Ctrl-C is pending; the search would end as a fault."""
    _busy(1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                _busy(100_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def first_day(monkeypatch):
    """Nothing is compiled yet."""
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: False)
    return monkeypatch


def test_a_kernel_that_has_taken_its_moment_is_compiled(first_day):
    """And not before; no clock runs meanwhile."""
    first_day.setattr(kernels, "MOMENT", 1e-9)
    values, stood = np.arange(3.0), kernels.paused()
    with kernels.for_small(1, 1):
        assert _outer(values) == 5.0 and not _outer.signatures and not _inner.signatures
        assert _outer(values) == 5.0 and _outer.signatures
    assert kernels.paused() > stood


@njit(cache=True)
def _twice(x):
    return x + x


def test_processes_count_their_seconds_together(first_day):
    """A kernel that no process runs for long is compiled all the same, once all of them have."""
    kernels._spent_at(_twice).unlink(missing_ok=True)
    for told, is_compiled in (("0.0", False), (str(2 * kernels.MOMENT), True)):
        kernels._state.spent.pop(_twice, None)  # as another process begins
        kernels._spent_at(_twice).write_text(told)
        with kernels.for_small(1, 1):
            assert _twice(2) == 4 and bool(_twice.signatures) == is_compiled
        assert is_compiled or 0 < float(kernels._spent_at(_twice).read_text()) < kernels.MOMENT


@pytest.mark.parametrize(("tasks", "workers", "is_plain"), [(1000, 40, True), (1001, 40, False), (1000, 41, False)])
def test_large_campaigns_do_not_wait_for_plain_python(first_day, tasks, workers, is_plain):
    """Few tasks and few workers: votes of so few are exact without long laws."""
    kernel = njit(cache=False)(lambda x: x + 1)
    with kernels.for_small(tasks, workers):
        assert kernel(1) == 2
    assert bool(kernel.signatures) != is_plain


HERE = {**os.environ, "PYTHONPATH": str(Path(crowdopt.__file__).parent.parent)}


def told(*words, **options):
    """What Python prints."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, **{"env": HERE} | options)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
    said = told("-c", WITHOUT_PLACES)
    assert said.startswith("4 6 ['compiled code cannot be kept here") and said.count("NUMBA_CACHE_DIR") == 1


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


def test_two_processes_at_once_keep_each_its_own_code(tmp_path):
    """Both compile for types of their own before either has written: whatever is read later is of the types asked for.

    By numba's own numbering the second one's code was read under the first one's types.
    """
    script = tmp_path / "kernel_of_a_test.py"
    script.write_text(TWICE, encoding="utf-8")
    assert told(script, env={**HERE, "NUMBA_CACHE_DIR": str(tmp_path)}).split() == ["None", "whole"]


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
    environment = {name: value for name, value in HERE.items() if name != "NUMBA_CACHE_DIR"}
    for name in ("Before", "After"):
        (tmp_path / "kept.py").write_text(KEPT.format(name=name))
        assert told("-c", "import kept", env=environment, cwd=tmp_path) == "4.0\n"
