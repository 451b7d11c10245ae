"""What a method is worth beside others: penalised means, the virtual best, primal integrals, growth with size.

Seconds are an array (cases, methods) with NaN where a method did not settle a case.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

Moments = list[list[float | None]]  # [seconds, value, bound], in the order of time
ENOUGH = 3  # different sizes that a growth is fitted to


def penalised(seconds: Floats, limit: float, factor: float) -> Floats:
    """PAR-k: mean seconds, where a case that was not settled counts ``factor`` times the limit.

    Parameters
    ----------
    seconds : (cases, methods) float
        NaN where a method did not settle a case.
    limit : float
        Seconds allowed.
    factor : float
        2 for PAR-2, 10 for PAR-10.

    Returns
    -------
    (methods,) float
    """
    means: Floats = np.where(np.isnan(seconds), factor * limit, np.minimum(seconds, limit)).mean(axis=0)
    return means


def virtual_best(seconds: Floats) -> Floats:
    """The seconds of whoever was fastest, case by case.

    Parameters
    ----------
    seconds : (cases, methods) float
        NaN where a method did not settle a case.

    Returns
    -------
    (cases, 1) float
        NaN where nobody settled it.
    """
    least = np.where(np.isnan(seconds), np.inf, seconds).min(axis=1, keepdims=True, initial=np.inf)
    best: Floats = np.where(np.isinf(least), np.nan, least)
    return best


def contributions(seconds: Floats, limit: float, factor: float = 10.0) -> Floats:
    """By how many seconds PAR-k of the virtual best rises when a method is taken away (Xu et al. 2012).

    Parameters
    ----------
    seconds : (cases, methods) float
        NaN where a method did not settle a case.
    limit : float
        Seconds allowed.
    factor : float
        Of the penalty.

    Returns
    -------
    (methods,) float
        Zero for a method that is nowhere the fastest.
    """
    everybody = penalised(virtual_best(seconds), limit, factor)[0]
    others = [np.delete(seconds, k, axis=1) for k in range(seconds.shape[1])]
    rises: Floats = np.array([penalised(virtual_best(rest), limit, factor)[0] - everybody for rest in others])
    return rises


def alone(seconds: Floats) -> Ints:
    """How many cases a method settled and no other did.

    Parameters
    ----------
    seconds : (cases, methods) float
        NaN where a method did not settle a case.

    Returns
    -------
    (methods,) int
    """
    settled = np.isfinite(seconds)
    counts: Ints = (settled & (settled.sum(axis=1, keepdims=True) == 1)).sum(axis=0)
    return counts


def common(seconds: Floats) -> Bools:
    """Which cases everybody settled who settled any.

    Parameters
    ----------
    seconds : (cases, methods) float
        NaN where a method did not settle a case.

    Returns
    -------
    (cases,) bool
    """
    settled = np.isfinite(seconds)
    able = settled.any(axis=0)
    shared: Bools = np.asarray((settled | ~able).all(axis=1))
    return shared if able.any() else np.zeros_like(shared)


def primal_integral(moments: Moments, best: float, limit: float) -> float:
    """``1/T int_0^T |value(t) - best| / max(|value(t)|, |best|) dt``, 1 before the first plan (Berthold 2013).

    Parameters
    ----------
    moments : list of [seconds, value, bound]
        In the order of time, the end of the search among them.
    best : float
        The best value known.
    limit : float
        T, in seconds.

    Returns
    -------
    float
        In [0, 1]; the smaller the better.
    """
    known = [(min(at, limit), value) for at, value, _ in moments if at is not None and value is not None]
    times = np.array([0.0, *(at for at, _ in known), limit])
    gaps = np.array([1.0, *(distance(value, best) for _, value in known)])
    return float((np.diff(times) * gaps).sum() / limit)


def distance(value: float, best: float) -> float:
    """``|value - best| / max(|value|, |best|)``, at most 1.

    Parameters
    ----------
    value, best : float
    """
    size = max(abs(value), abs(best))
    return 0.0 if size == 0.0 else min(1.0, abs(value - best) / size)


def time_to(moments: Moments, gap: float) -> float:
    """Seconds until ``(value - bound) / max(|value|, |bound|)`` is at most the gap; NaN if it never was.

    Parameters
    ----------
    moments : list of [seconds, value, bound]
        In the order of time, the end of the search among them.
    gap : float
        As a share.

    Returns
    -------
    float
    """
    for at, value, bound in moments:
        if at is None or value is None or bound is None:
            continue
        if value - bound <= gap * max(abs(value), abs(bound)):
            return at
    return float("nan")


def growth(sizes: Floats, seconds: Floats) -> tuple[float, float]:
    """``b`` and its standard error in ``log seconds = a + b log size``, by least squares; NaN below three sizes.

    Parameters
    ----------
    sizes : (cases,) float
        Such as entries of the program.
    seconds : (cases,) float
        NaN where the case was not settled: left out, so that ``b`` is that of what could be settled.

    Returns
    -------
    exponent, error : float
    """
    there = np.isfinite(seconds) & (seconds > 0) & (sizes > 0)
    x, y = np.log(sizes[there]), np.log(seconds[there])
    if np.unique(x).size < ENOUGH:
        return float("nan"), float("nan")
    spread = ((x - x.mean()) ** 2).sum()
    exponent = float(((x - x.mean()) * (y - y.mean())).sum() / spread)
    left = y - y.mean() - exponent * (x - x.mean())
    return exponent, float(np.sqrt((left**2).sum() / (x.size - 2) / spread))
