"""Bad input, said in one sentence; what is doubtful about good input, said as a warning."""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings
from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """What was given cannot be used; the message says what, where and the remedy."""


class OwnFault(RuntimeError):
    """What was made does not keep what it promises, and is not handed out; the message says which promise."""


class GoldWarning(UserWarning):
    """What gold says is doubtful, or lacking; the message says whose, and what it counts for."""


class TableWarning(UserWarning):
    """What a table held beside its rows, or how a cell was read; the message says where, and what it counts for."""


class ProgramWarning(UserWarning):
    """How a program of another's file was read where that is not as it stands; the message says which file."""


def meant(word: str, names: Iterable[str]) -> str | None:
    """The name that a word probably stands for: it differs in case and blanks, or is misspelt; never another number."""
    known = {plain(name): name for name in names if re.findall(r"\d+", name) == re.findall(r"\d+", word)}
    near = get_close_matches(plain(word), known, n=1, cutoff=0.75)  # .75: brid is bird; dan (.67) is not ann
    return known[near[0]] if near else None


def plain(word: str) -> str:
    """A word without blanks and case, composed: what differs in these only looks alike."""
    return "".join(unicodedata.normalize("NFC", word).casefold().split())


def tell(text: str, kind: type[UserWarning] = TableWarning) -> None:
    """Warn at the caller's own line, outside of the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("crowdopt."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)
