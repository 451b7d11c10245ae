"""Numbers by name, as an option has them: ``price=20,confidence=.95``."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from typing import Any

from crowdopt.errors import InputError


def named_numbers(text: str, kind: type[Any], owner: str, example: str) -> dict[str, float]:
    """The numbers by name; nothing where the text is empty.

    kind: a dataclass, its fields the names; example: ``price=20``. Raises InputError for a name that the class does not
    have, and for what is no finite number.
    """
    known = [field.name for field in fields(kind)]
    given: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in known:
            raise InputError(f"unknown word {name!r} of {owner}; there are {', '.join(known)}, as in {example}")
        try:
            given[name] = float(value)
        except ValueError:
            like = example.partition("=")[2]
            raise InputError(f"{name} of {owner} needs a number, as in {name}={like}, not {value!r}") from None
        if not isfinite(given[name]):
            raise InputError(f"{name} of {owner} needs a finite number, not {value!r}")
    return given
