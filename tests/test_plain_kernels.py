"""Kernels run as they are written: the same bits as compiled ones, for a few seconds only."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy as np
import pytest

from crowdopt import kernels, recipe, solve
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
        known = before.status, before.objective, before.bound
        assert known == (written.status, written.objective, written.bound)
        assert np.array_equal(written.pairs, before.pairs)
        assert str(written.duals) == str(before.duals)


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

    def pressed(*_):
        raise KeyboardInterrupt

    _busy(1)
    before = signal.signal(signal.SIGALRM, pressed)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                _busy(100_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_kernel_that_has_taken_its_moment_is_compiled(monkeypatch):
    """And not before; no clock runs meanwhile."""
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: False)
    monkeypatch.setattr(kernels, "MOMENT", 1e-9)
    values, stood = np.arange(3.0), kernels.paused()
    with kernels.for_small(1, 1):
        assert _outer(values) == 5.0 and not _outer.signatures and not _inner.signatures
        assert _outer(values) == 5.0 and _outer.signatures
    assert kernels.paused() > stood


@njit(cache=True)
def _twice(x):
    return x + x


def test_processes_count_their_seconds_together(monkeypatch):
    """A kernel that no process runs for long is compiled all the same, once all of them have."""
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: False)
    kernels._spent_at(_twice).unlink(missing_ok=True)
    for told, is_compiled in (("0.0", False), (str(2 * kernels.MOMENT), True)):
        kernels._state.spent.pop(_twice, None)  # as another process begins
        kernels._spent_at(_twice).write_text(told)
        with kernels.for_small(1, 1):
            assert _twice(2) == 4 and bool(_twice.signatures) == is_compiled
        assert is_compiled or 0 < float(kernels._spent_at(_twice).read_text()) < kernels.MOMENT


@pytest.mark.parametrize(("tasks", "workers", "is_plain"), [(1000, 40, True), (1001, 40, False), (1000, 41, False)])
def test_large_campaigns_do_not_wait_for_plain_python(monkeypatch, tasks, workers, is_plain):
    """Few tasks and few workers: votes of so few are exact without long laws."""
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: False)
    kernel = njit(cache=False)(lambda x: x + 1)
    with kernels.for_small(tasks, workers):
        assert kernel(1) == 2
    assert bool(kernel.signatures) != is_plain
