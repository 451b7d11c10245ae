"""What an escalation is told: the words of an option."""

from __future__ import annotations

from dataclasses import dataclass

from crowdopt.core.named_numbers import named_numbers
from crowdopt.errors import InputError


@dataclass(frozen=True)
class Tiers:
    """Prices, and how many tiers there are before the expert."""

    expert: float = 1.0  # price of one look by the expert
    next: float | None = None  # price of one answer that goes up; as the expert's unless given
    tiers: int = 1  # whose answers are held against the expert's, this one included

    def __post_init__(self) -> None:
        for name, price in (("expert", self.expert), ("next", self.next_price)):
            if not 0 < price < float("inf"):
                raise InputError(f"the price {name} must lie above 0 and be finite, not {price:g}")
        if self.tiers < 1 or self.tiers != int(self.tiers):
            raise InputError(f"tiers must be a whole number of at least 1, not {self.tiers:g}")

    @property
    def next_price(self) -> float:
        """Price of one answer that goes up."""
        return self.expert if self.next is None else self.next


def tiers(text: str) -> Tiers:
    """Words as they are written: ``expert=40``, ``expert=40,next=3,tiers=2``, or nothing for the defaults."""
    given = named_numbers(text, Tiers, "an escalation", "expert=40")
    count = given.pop("tiers", 1.0)
    if count != int(count):
        raise InputError(f"tiers must be a whole number of at least 1, not {count:g}")
    return Tiers(**given, tiers=int(count))
