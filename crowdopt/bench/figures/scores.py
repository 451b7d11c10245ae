"""What a method is worth beside others: penalised means, the virtual best, primal integrals, growth with size.

Seconds are an array (cases, methods) with NaN where a method did not settle a case.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

Moments = list[list[float | None]]  # [seconds, value, bound], in the order of time
ENOUGH = 3  # different sizes that a growth is fitted to


def penalised(seconds: Floats, limit: float, factor: float) -> Floats:
    """PAR-k, (methods,): mean seconds; a case that was not settled (NaN) counts ``factor`` = k times the limit."""
    means: Floats = np.where(np.isnan(seconds), factor * limit, np.minimum(seconds, limit)).mean(axis=0)
    return means


def virtual_best(seconds: Floats) -> Floats:
    """The seconds of the fastest method, case by case; -> (cases, 1), NaN where none settled the case."""
    least = np.where(np.isnan(seconds), np.inf, seconds).min(axis=1, keepdims=True, initial=np.inf)
    best: Floats = np.where(np.isinf(least), np.nan, least)
    return best


def contributions(seconds: Floats, limit: float, factor: float = 10.0) -> Floats:
    """Seconds by which PAR-k of the virtual best rises without a method (Xu et al. 2012), (methods,)."""
    best = penalised(virtual_best(seconds), limit, factor)[0]
    others = [np.delete(seconds, k, axis=1) for k in range(seconds.shape[1])]
    rises: Floats = np.array([penalised(virtual_best(rest), limit, factor)[0] - best for rest in others])
    return rises


def alone(seconds: Floats) -> Ints:
    """How many cases a method settled and no other did; seconds (cases, methods) -> (methods,)."""
    settled = np.isfinite(seconds)
    counts: Ints = (settled & (settled.sum(axis=1, keepdims=True) == 1)).sum(axis=0)
    return counts


def common(seconds: Floats) -> Bools:
    """Which cases all methods settled that settled any; seconds (cases, methods) -> (cases,)."""
    settled = np.isfinite(seconds)
    able = settled.any(axis=0)
    shared: Bools = np.asarray((settled | ~able).all(axis=1))
    return shared if able.any() else np.zeros_like(shared)


def primal_integral(moments: Moments, best: float, limit: float) -> float:
    """``1/T int_0^T |value(t) - best| / max(|value(t)|, |best|) dt``, 1 before the first plan (Berthold 2013).

    moments: in the order of time, the end of the search among them; best: the best value known; limit: T, in seconds;
    -> in [0, 1]; the smaller the better.
    """
    known = [(min(at, limit), value) for at, value, _ in moments if at is not None and value is not None]
    times = np.array([0.0, *(at for at, _ in known), limit])
    gaps = np.array([1.0, *(distance(value, best) for _, value in known)])
    return float((np.diff(times) * gaps).sum() / limit)


def distance(value: float, best: float) -> float:
    """``|value - best| / max(|value|, |best|)``, at most 1."""
    size = max(abs(value), abs(best))
    return 0.0 if size == 0.0 else min(1.0, abs(value - best) / size)


def time_to(moments: Moments, gap: float) -> float:
    """Seconds until ``(value - bound) / max(|value|, |bound|)`` is at most the gap; NaN if it never was."""
    for at, value, bound in moments:
        if at is None or value is None or bound is None:
            continue
        if value - bound <= gap * max(abs(value), abs(bound)):
            return at
    return float("nan")


def growth(sizes: Floats, seconds: Floats) -> tuple[float, float]:
    """``b`` and its standard error in ``log seconds = a + b log size``, by least squares; NaN below three sizes.

    sizes (cases,): such as entries of the program; seconds (cases,): NaN where the case was not settled: left out, so
    that ``b`` is that of what could be settled.
    """
    there = np.isfinite(seconds) & (seconds > 0) & (sizes > 0)
    x, y = np.log(sizes[there]), np.log(seconds[there])
    if np.unique(x).size < ENOUGH:
        return float("nan"), float("nan")
    spread = ((x - x.mean()) ** 2).sum()
    exponent = float(((x - x.mean()) * (y - y.mean())).sum() / spread)
    left = y - y.mean() - exponent * (x - x.mean())
    return exponent, float(np.sqrt((left**2).sum() / (x.size - 2) / spread))
