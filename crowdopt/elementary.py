"""exp, log and their kin with the same bits on every processor: from + - * / alone, whose results IEEE 754 fixes.

NumPy's and the C library's own differ in the last bit with the vector unit and with fused multiplication. A policy that
compares what they give then takes another turn, and the same seed gives another run. Here each is a series whose terms
are added in one order, within two units in the last place; ``elementary_kernels`` has the same for compiled loops.

``log(x) = e ln 2 + 2 artanh s`` with x = m 2^e, m about 1, s = (m - 1)/(m + 1); ``exp(x) = 2^k e^r``, k ln 2 nearest
to x. ln 2 is a sum of two numbers of which the first has so few digits that its multiples are exact.

No function warns: 0 has the logarithm -inf, a negative number NaN, and what is too large is inf.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Floats

LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # 32 bits: its multiples by exponents are exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
LN2 = LN2_HIGH + LN2_LOW
ROOT_HALF = 0.7071067811865476
PART = 16_384  # entries that are worked out together: a dozen such arrays fit into a processor's cache
LARGEST, LEAST = 709.782712893384, -745.1332191019412  # beyond, exp is inf or 0
ODD = tuple(2.0 / (2 * k + 1) for k in range(10, 0, -1))  # of 2 artanh s / s - 2, by powers of s^2, the last first
SERIES = tuple(1.0 / float(n) for n in np.cumprod(np.arange(1.0, 15.0))[:0:-1].tolist())  # 1/14!, ..., 1/2!


def _in_parts(function: Callable[[ArrayLike], Floats]) -> Callable[[ArrayLike], Floats]:
    """The function of a long array, a part at a time: what it needs beside it then stays small, and near."""

    @wraps(function)
    def parted(x: ArrayLike) -> Floats:
        number = np.asarray(x, np.float64)
        if number.size <= PART:
            return function(number)
        flat, result = number.reshape(-1), np.empty(number.size)
        for start in range(0, flat.size, PART):
            result[start : start + PART] = function(flat[start : start + PART])
        return result.reshape(number.shape)

    return parted


def _plain(result: Any) -> Floats:
    plain: Floats = np.asarray(result)[()]
    return plain


@_in_parts
def log(x: ArrayLike) -> Floats:
    """Natural logarithm; entry by entry."""
    number = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(number)
        small = mantissa < ROOT_HALF
        f = np.where(small, 2.0 * mantissa, mantissa) - 1.0
        e = (exponent - small).astype(np.float64)
        s = f / (2.0 + f)
        z = s * s
        tail = np.full_like(z, ODD[0])
        for term in ODD[1:]:
            tail *= z
            tail += term
        half = 0.5 * f * f
        result = e * LN2_HIGH - ((half - (s * (half + z * tail) + e * LN2_LOW)) - f)
        odd = ~((number > 0) & (number < np.inf))
        if odd.any():
            result = np.where(odd, _beyond(number), result)
    return _plain(result)


def _beyond(number: Floats) -> Floats:
    """The logarithm where there is none that a series gives."""
    return np.where(number == 0, -np.inf, np.where(number == np.inf, np.inf, np.nan))


@_in_parts
def log1p(x: ArrayLike) -> Floats:
    """``ln(1 + x)``; entry by entry."""
    number = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        whole = 1.0 + number
        lost = (number - (whole - 1.0)) / whole  # what 1 + x was rounded by
        result = log(whole) + np.where(np.isfinite(lost), lost, 0.0)
    return _plain(result)


def _reduced(number: Floats) -> tuple[Floats, Floats]:
    """``(e^r - 1, k)`` for x = k ln 2 + r."""
    k = np.rint(np.clip(number, LEAST - 1, LARGEST + 1) / LN2)
    high, low = number - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    tail = np.full_like(r, SERIES[0])
    for term in SERIES[1:]:
        tail *= r
        tail += term
    return high - (low - r * r * tail), k


@_in_parts
def exp(x: ArrayLike) -> Floats:
    """``e^x``; entry by entry."""
    number = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        rest, k = _reduced(number)
        half = np.floor(k / 2)  # 2^1024 is no float64
        result = np.ldexp(np.ldexp(1.0 + rest, half.astype(np.int32)), (k - half).astype(np.int32))
        result = np.where(number > LARGEST, np.inf, np.where(number < LEAST, 0.0, result))
    return _plain(np.where(np.isnan(number), np.nan, result))


@_in_parts
def expm1(x: ArrayLike) -> Floats:
    """``e^x - 1``; entry by entry."""
    number = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        rest, k = _reduced(number)
        scale = np.ldexp(1.0, np.clip(k, -1000, 1000).astype(np.int32))
        near = scale * rest + (scale - 1.0)
        result = np.where(np.abs(k) > 60, exp(number) - 1.0, near)
    return _plain(result)


@_in_parts
def tanh(x: ArrayLike) -> Floats:
    """Hyperbolic tangent; entry by entry."""
    number = np.asarray(x, np.float64)
    lost = expm1(-2.0 * np.abs(number))
    return _plain(np.copysign(-lost / (lost + 2.0), number))


@_in_parts
def arctanh(x: ArrayLike) -> Floats:
    """``ln((1 + x)/(1 - x)) / 2``; entry by entry."""
    number = np.asarray(x, np.float64)
    size = np.abs(number)
    with np.errstate(all="ignore"):
        return _plain(np.copysign(0.5 * log1p(2.0 * size / (1.0 - size)), number))


def logaddexp(x: ArrayLike, y: ArrayLike) -> Floats:
    """``ln(e^x + e^y)``, entry by entry; -> the shape that both fit."""
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    return _plain(np.maximum(a, b) + log1p(exp(-np.where(a == b, 0.0, apart))))


def logsumexp(x: ArrayLike, axis: int | None = None) -> Floats:
    """``ln sum e^x`` along an axis, or of all; -> without the axis."""
    number = np.asarray(x, np.float64)
    top = number.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return _plain(np.squeeze(top, axis) + log(exp(number - top).sum(axis=axis)))


def geomspace(start: float, stop: float, count: int) -> Floats:
    """Numbers of which each is the same multiple of the one before, (count,), both positive ends among them."""
    logs = np.linspace(log(start), log(stop), count)
    numbers = np.array(exp(logs))
    numbers[0], numbers[-1] = start, stop
    return numbers


def power(x: ArrayLike, exponent: ArrayLike) -> Floats:
    """``x^n`` for whole n of at least 0, by squaring. exponent: n, of a shape that fits that of x."""
    base, left = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(exponent, np.int64))
    result = np.ones(base.shape)
    while True:
        result = np.where(left & 1, result * base, result)
        left = left >> 1
        if not left.any():
            return _plain(result)
        base = base * base


def interpolated(x: ArrayLike, places: Floats, values: Floats) -> Floats:
    """Values on the line between two ascending places, beyond the ends as there; a library may fuse steps."""
    number = np.clip(np.asarray(x, np.float64), places[0], places[-1])
    after = np.clip(np.searchsorted(places, number, side="right"), 1, places.size - 1)
    slope = (values[after] - values[after - 1]) / (places[after] - places[after - 1])
    return _plain(slope * (number - places[after - 1]) + values[after - 1])


def dot(x: Any, y: Any) -> Floats:
    """``sum x y`` along the last axis, added in one order; a matrix product's order depends on the processor."""
    return _plain(np.add.reduce(np.multiply(x, y), axis=-1))
