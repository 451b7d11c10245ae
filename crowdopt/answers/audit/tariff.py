"""What an audit costs and how sure it is to be: the words of an option."""

from __future__ import annotations

from dataclasses import dataclass

from crowdopt.core.named_numbers import named_numbers
from crowdopt.errors import InputError


@dataclass(frozen=True)
class Tariff:
    """An audit in terms of money."""

    price: float = 20.0  # of one look by the expert, in units of the labels' cost
    confidence: float = 0.95  # of the claim
    checks: float = 100.0  # answers looked at, where their number is given
    ratio: float = 1.5  # realised over claimed error; recorded label sets had 1.1 to 1.9

    def __post_init__(self) -> None:
        if self.price < 0:
            raise InputError(f"an expert's price must be at least 0, not {self.price:g}")
        if not 0 < self.confidence < 1:
            raise InputError(f"the confidence must lie strictly between 0 and 1, not {self.confidence:g}")
        if self.checks < 1 or self.checks != int(self.checks):
            raise InputError(f"checks must be a whole number of at least 1, not {self.checks:g}")
        if self.ratio <= 0:
            raise InputError(f"the ratio of realised to claimed error must lie above 0, not {self.ratio:g}")

    @property
    def delta(self) -> float:
        """Chance of a false claim."""
        return round(1 - self.confidence, 14)


def tariff(text: str) -> Tariff:
    """A tariff as it is written: ``price=20,confidence=.95``, ``checks=100,price=20``, or nothing for the defaults."""
    return Tariff(**named_numbers(text, Tariff, "an audit", "price=20"))
