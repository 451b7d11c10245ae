"""Votes, sets of askers and classes in the cells of policy.csv: ``large=yes small=no*2``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

SAFE = "+-_.,:;/()[]@#!?&"  # beside letters and digits; anything else of an id is percent-encoded
TIMES, IS = "*", "="


def plain(name: str) -> str:
    """An id or a class as it stands in a cell: without blanks, ``=``, ``*`` and ``%``."""
    return quote(name, safe=SAFE)


def named(text: str) -> str:
    """The id or class that a cell names."""
    return unquote(text)


def counted(name: str, number: int) -> str:
    """``large``, ``small*2``; name: as :func:`plain` gives it."""
    return name if number == 1 else f"{name}{TIMES}{number}"


def votes_text(votes: Iterable[tuple[str, str, int]]) -> str:
    """Asker, class and number of votes, one after another."""
    return " ".join(counted(f"{plain(asker)}{IS}{plain(label)}", number) for asker, label, number in votes)


def read_counted(text: str) -> list[tuple[str, int]]:
    """The words of a cell and how many of each; ValueError where one is no number."""
    found = []
    for word in text.split():
        name, times, number = word.partition(TIMES)
        if times and not (number.isascii() and number.isdigit() and 1 <= int(number) <= 10**6):
            raise ValueError(f"{word} has no number of votes")
        found.append((name, int(number) if times else 1))
    return found


def read_votes(text: str, asker: Mapping[str, int], label: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Asker, class and number of votes by their places; ValueError where one is unknown."""
    found = []
    for word, number in read_counted(text):
        name, sign, said = word.partition(IS)
        if not sign or named(name) not in asker or named(said) not in label:
            raise ValueError(f"{word} is no vote of an asker of this plan")
        found.append((asker[named(name)], label[named(said)], number))
    return found
