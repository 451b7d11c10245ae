"""Several audits of the same answers share one chance of a false claim."""

from __future__ import annotations

from collections.abc import Sequence

from crowdopt.errors import InputError

SPENT = 1e-12  # of the chance; less than that left is nothing left


def spendable(confidence: float, earlier: Sequence[float] = (), share: float = 1.0) -> float:
    """Delta of the next audit: ``share`` of what earlier ones leave of ``1 - confidence``.

    The chance that any claim is false is at most the sum of all deltas, so with probability at least ``confidence`` all
    of them hold. A longer look at the same draw needs none of this: its claim holds at all times.

    confidence: of all claims together; earlier: deltas of the audits before; share: in (0, 1]; what is kept back is
    left for a later audit. Raises InputError if a number is out of range, or nothing is left.
    """
    if not 0 < confidence < 1:
        raise InputError(f"the confidence must lie strictly between 0 and 1, not {confidence:g}")
    if not 0 < share <= 1:
        raise InputError(f"the share of the chance of error must lie in (0, 1], not {share:g}")
    left = round(1 - confidence - sum(earlier), 14)  # .05, not .050000000000000044
    if share * left <= SPENT:
        raise InputError(
            f"the earlier audits have spent all {1 - confidence:.3g} that a confidence of {confidence:g} leaves (one "
            "that --force replaces counts); go on with the earlier draw, whose claim holds at any time, or state a "
            "lower confidence"
        )
    return share * left
