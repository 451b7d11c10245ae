"""Of what every plan's cost is a multiple: a proof may be rounded up to it."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats

DIGITS = 12  # behind the point, at most
LARGEST = 1 << 53  # whole numbers up to which floats are exact


def price_step(cost: Floats) -> tuple[int, int] | None:
    """Whole numbers (a, 10^d) such that every price, as it is written in decimals, is a multiple of a / 10^d.

    -> None where they have more digits, or cost nothing.
    """
    written = [format(float(one), f".{DIGITS}f") for one in np.unique(cost).tolist()]
    if any(float(text) != one for text, one in zip(written, np.unique(cost).tolist(), strict=True)):
        return None
    digits = max(len(text.rstrip("0").partition(".")[2]) for text in written)
    whole = [int(text.replace(".", "")[: len(text) - 1 - (DIGITS - digits)]) for text in written]
    largest = int(np.gcd.reduce(np.array(whole, dtype=object)))
    return (largest, 10**digits) if largest > 0 and max(whole) < LARGEST else None
