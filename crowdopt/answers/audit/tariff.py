"""What an audit may spend of the chance of a false claim, and the prices of an escalation as an option says them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdopt.core.program import named_numbers
from crowdopt.errors import refuse_unless

SPENT = 1e-12  # of the chance of a false claim; less than that left is nothing left


def spendable(confidence: float, earlier: Sequence[float] = (), share: float = 1.0) -> float:
    """Delta of the next audit: ``share`` of what earlier ones leave of ``1 - confidence``.

    The chance that any claim is false is at most the sum of all deltas, so with probability at least ``confidence`` all
    of them hold. A longer look at the same draw needs none of this: its claim holds at all times.

    confidence: of all claims together; earlier: deltas of the audits before; share: in (0, 1]; what is kept back is
    left for a later audit. Raises InputError if a number is out of range, or nothing is left.
    """
    left = round(1 - confidence - sum(earlier), 14)  # .05, not .050000000000000044
    tests = {
        f"the confidence must lie strictly between 0 and 1, not {confidence:g}": 0 < confidence < 1,
        f"the share of the chance of error must lie in (0, 1], not {share:g}": 0 < share <= 1,
        f"the earlier audits have spent all {1 - confidence:.3g} that a confidence of {confidence:g} leaves (one that "
        "--force replaces counts); go on with the earlier draw, whose claim holds at any time, or state a lower "
        "confidence": share * left > SPENT,
    }
    refuse_unless(tests)
    return share * left


@dataclass(frozen=True)
class Tiers:
    """Prices, and how many tiers there are before the expert."""

    expert: float = 1.0  # price of one look by the expert
    next: float = 1.0  # price of one answer that goes up; as the expert's unless given
    tiers: float = 1  # whose answers are held against the expert's, this one included

    def __post_init__(self) -> None:
        tests = {
            f"the price expert must lie above 0 and be finite, not {self.expert:g}": self.expert > 0,
            f"the price next must lie above 0 and be finite, not {self.next:g}": self.next > 0,
            f"tiers must be a whole number of at least 1, not {self.tiers:g}": self.tiers == max(1, int(self.tiers)),
        }
        refuse_unless(tests)


def tiers(text: str) -> Tiers:
    """Words as they are written: ``expert=40``, ``expert=40,next=3,tiers=2``, or nothing for the defaults."""
    given = named_numbers(text, Tiers, "an escalation", "expert=40")
    return Tiers(**{"next": given.get("expert", 1.0), **given})
