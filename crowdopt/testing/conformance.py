"""A check: a name, and a claim that either holds or raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One claim about one subject.

    Parameters
    ----------
    name : str
        Subject, case and claim.
    claim : callable
        Returns where the claim holds; raises AssertionError, with what was seen, where it does not.
    """

    name: str
    claim: Callable[[], None]

    def __call__(self) -> None:
        """Make the claim."""
        self.claim()

    def __str__(self) -> str:
        return self.name


def need(holds: bool, told: str) -> None:
    """Raise AssertionError with what was seen unless the claim holds; also where Python leaves out assertions."""
    if not holds:
        raise AssertionError(told)


def failures(checks: Iterable[Check]) -> dict[str, str]:
    """Run checks one after another.

    Parameters
    ----------
    checks : iterable of Check

    Returns
    -------
    dict
        Name -> what was seen, of those that do not hold; empty where all do.
    """
    found = {}
    for check in checks:
        try:
            check()
        except AssertionError as error:
            found[check.name] = str(error)
    return found
