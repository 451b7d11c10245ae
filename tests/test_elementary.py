"""exp, log and their kin: as exact as NumPy's; the same bits alone, in arrays, in compiled loops, on any machine."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import elementary
from crowdopt.compiled_kernels import njit

INF, NAN = np.inf, np.nan
RNG = np.random.default_rng(0)
MAGNITUDES = np.ldexp(RNG.uniform(0.5, 1.0, 2000), RNG.integers(-60, 60, 2000))  # no function of ours or NumPy's in it
INPUTS = {
    "log": np.concatenate([MAGNITUDES, RNG.uniform(0.5, 2.0, 2000), [5e-324, 1e-310, 1.0, 2.0, 1.7e308]]),
    "log1p": np.concatenate([MAGNITUDES, RNG.uniform(-1.0, 1.0, 2000), -MAGNITUDES[MAGNITUDES < 1]]),
    "exp": np.concatenate([RNG.uniform(-708.0, 709.0, 2000), RNG.uniform(-1.0, 1.0, 2000), [0.0, 1.0, -1.0]]),
    "expm1": np.concatenate([RNG.uniform(-60.0, 700.0, 2000), RNG.uniform(-1.0, 1.0, 2000), [0.0, 1e-300]]),
    "tanh": np.concatenate([RNG.uniform(-30.0, 30.0, 2000), RNG.uniform(-1.0, 1.0, 2000), [0.0, 50.0]]),
    "arctanh": np.concatenate([RNG.uniform(-1.0, 1.0, 2000), [0.0, 1e-9, 0.999999]]),
}
# of all the results, on the machine where they were first computed
BITS = "d7f26fe03538564455d907ea2edb3597668ba730b53b8c39772de037e37ef2fb"


@pytest.mark.parametrize("name", INPUTS)
def test_within_four_units_in_the_last_place(name):
    """NumPy's own are within one or two of the truth, so these are as good as any."""
    x = INPUTS[name]
    expected = getattr(np, name)(x)
    off = np.abs(getattr(elementary, name)(x) - expected) / np.spacing(np.abs(expected) + 1e-300)
    assert off.max() <= 4


@pytest.mark.parametrize("name", INPUTS)
def test_compiled_loops_get_the_same_bits(name):
    """One series, written for arrays and for scalars: no term may be added in another order."""
    from crowdopt import elementary_kernels

    one = getattr(elementary_kernels, name)

    @njit()
    def each(x):
        out = np.empty_like(x)
        for k in range(x.size):
            out[k] = one(x[k])
        return out

    x = np.concatenate([INPUTS[name], [INF, -INF, NAN, -2.0, -1.0, 0.0, 1.0, 2.0, 710.0, -746.0]])
    np.testing.assert_array_equal(each(x), getattr(elementary, name)(x))


@pytest.mark.parametrize("name", INPUTS)
def test_an_entry_has_the_same_bits_alone(name):
    """Vector units treat the end of an array otherwise than its middle; nothing may hang on where a number stands."""
    x, function = INPUTS[name][-50:], getattr(elementary, name)
    assert [float(function(one)) for one in x] == function(x).tolist() == function(x[::-1]).tolist()[::-1]


@pytest.mark.parametrize("name", INPUTS)
def test_long_arrays_have_the_bits_of_their_parts(name):
    """They are worked out a part at a time, whatever their shape and order in memory."""
    x, function = np.resize(INPUTS[name], (3, 12_000)), getattr(elementary, name)
    assert x.size > elementary.PART
    each = np.stack([function(row) for row in x])
    np.testing.assert_array_equal(function(x), each)
    np.testing.assert_array_equal(function(np.asfortranarray(x)), each)


def test_every_machine_has_these_bits():
    """A number that another processor, NumPy or C library would change is seen here, wherever the tests are run."""
    every = [getattr(elementary, name)(x).astype("<f8").tobytes() for name, x in INPUTS.items()]
    assert hashlib.sha256(b"".join(every)).hexdigest() == BITS


def test_where_there_is_no_number():
    """As IEEE 754 has it, and without a warning."""
    np.testing.assert_array_equal(elementary.log([0, -1, INF, NAN]), [-INF, NAN, INF, NAN])
    np.testing.assert_array_equal(elementary.exp([INF, -INF, NAN, 800, -800]), [INF, 0, NAN, INF, 0])
    np.testing.assert_array_equal(elementary.log1p([-1, -2, INF]), [-INF, NAN, INF])
    np.testing.assert_array_equal(elementary.logaddexp([-INF, 1, INF], [-INF, -INF, INF]), [-INF, 1, INF])
    np.testing.assert_array_equal(elementary.logsumexp([[-INF, -INF], [0, -INF]], axis=1), [-INF, 0])
    np.testing.assert_array_equal(elementary.tanh([INF, -INF]), [1, -1])
    np.testing.assert_array_equal(elementary.arctanh([1, -1]), [INF, -INF])


def test_numbers_stay_numbers():
    """What has no axes comes back as a number, as from NumPy."""
    assert isinstance(elementary.log(3), float) and elementary.log([3.0]).shape == (1,)
    assert elementary.log(1) == 0 and elementary.exp(0) == 1 and elementary.power(0.5, 0) == 1


@given(st.floats(0, 2, allow_subnormal=False), st.integers(0, 200))
def test_powers(x, n):
    """By squaring, in compiled loops too: within a unit for each factor of what the C library gives."""
    from crowdopt import elementary_kernels

    ours = float(elementary.power(x, n))
    assert elementary_kernels.power.py_func(x, n) == ours
    assert ours == pytest.approx(x**n, rel=1e-13, abs=1e-300)


def test_sums():
    """``logsumexp``, ``dot`` and ``geomspace`` against what they are defined by."""
    x, y = RNG.normal(size=(2, 5, 7))
    np.testing.assert_allclose(elementary.logsumexp(x, axis=0), np.logaddexp.reduce(x, axis=0), rtol=1e-14)
    np.testing.assert_allclose(elementary.dot(x, y), (x * y).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(elementary.geomspace(0.1, 10.0, 41), np.geomspace(0.1, 10.0, 41), rtol=1e-14)
