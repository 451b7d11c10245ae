"""The functions of crowdopt.elementary for compiled loops: the same terms in the same order, so the same bits."""

from math import frexp, ldexp

from crowdopt.compiled_kernels import njit
from crowdopt.elementary import LARGEST, LEAST, LN2, LN2_HIGH, LN2_LOW, ODD, ROOT_HALF, SERIES

INFINITY = float("inf")


@njit(cache=True, nogil=True)
def log(x):
    """Natural logarithm."""
    if not 0.0 < x < INFINITY:
        return -INFINITY if x == 0.0 else (x if x == INFINITY else x * float("nan"))
    mantissa, exponent = frexp(x)
    if mantissa < ROOT_HALF:
        mantissa, exponent = 2.0 * mantissa, exponent - 1
    f, e = mantissa - 1.0, float(exponent)
    s = f / (2.0 + f)
    z = s * s
    tail = ODD[0]
    for term in ODD[1:]:
        tail = tail * z + term
    half = 0.5 * f * f
    return e * LN2_HIGH - ((half - (s * (half + z * tail) + e * LN2_LOW)) - f)


@njit(cache=True, nogil=True)
def log1p(x):
    """``ln(1 + x)``."""
    whole = 1.0 + x
    if not 0.0 < whole < INFINITY:
        return log(whole)
    return log(whole) + (x - (whole - 1.0)) / whole


@njit(cache=True, nogil=True)
def _reduced(x):
    """``(e^r - 1, k)`` for x = k ln 2 + r."""
    k = round(x / LN2)
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    tail = SERIES[0]
    for term in SERIES[1:]:
        tail = tail * r + term
    return high - (low - r * r * tail), int(k)


@njit(cache=True, nogil=True)
def exp(x):
    """``e^x``."""
    if x != x or x > LARGEST:
        return x if x != x else INFINITY
    if x < LEAST:
        return 0.0
    rest, k = _reduced(x)
    half = k // 2
    return ldexp(ldexp(1.0 + rest, half), k - half)


@njit(cache=True, nogil=True)
def expm1(x):
    """``e^x - 1``."""
    if not -40.0 < x < 40.0:
        return exp(x) - 1.0
    rest, k = _reduced(x)
    scale = ldexp(1.0, k)
    return scale * rest + (scale - 1.0)


@njit(cache=True, nogil=True)
def tanh(x):
    """Hyperbolic tangent."""
    lost = expm1(-2.0 * abs(x))
    size = -lost / (lost + 2.0)
    return size if x >= 0.0 else -size


@njit(cache=True, nogil=True)
def arctanh(x):
    """``ln((1 + x)/(1 - x)) / 2``."""
    size = abs(x)
    if size >= 1.0:
        return x * INFINITY if size == 1.0 else x * float("nan")
    size = 0.5 * log1p(2.0 * size / (1.0 - size))
    return size if x >= 0.0 else -size


@njit(cache=True, nogil=True)
def power(x, exponent):
    """``x^n`` for whole n of at least 0, by squaring."""
    result = 1.0
    while True:
        if exponent & 1:
            result *= x
        exponent >>= 1
        if exponent == 0:
            return result
        x *= x
