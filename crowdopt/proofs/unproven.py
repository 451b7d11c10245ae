"""Why there is no file of proof: in a sentence each."""

from __future__ import annotations

from crowdopt.errors import InputError


class Unproven(InputError):
    """No derivation reaches the bound."""


class TooLong(Unproven):
    """A derivation would be longer than any reader wants."""
