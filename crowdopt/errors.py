"""Bad input, said in one sentence; what is doubtful about good input, said as a warning."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache, wraps
from inspect import Parameter, signature, unwrap
from math import inf
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from crowdopt.said import Word

F = TypeVar("F", bound=Callable[..., Any])

IN_WORDS = {Iterable: "a list", Integral: "a whole number", Real: "a number", NoneType: "None", str: "text"}
WIDER = {Path: os.PathLike, int: Integral, float: Real}  # what a call takes that states these
MANY = 10_000  # from which on a number is said with all its digits
LONGEST = 60  # letters of a text that is repeated


class InputError(ValueError):
    """What was given cannot be used; the message says what, where and the remedy."""


class HeaderError(InputError):
    """The header of a table has other columns than the table needs."""


class OwnFault(RuntimeError):
    """What was made does not keep what it promises, and is not handed out; the message says which promise."""


class OutOfReach(InputError):
    """No plan does what was asked for: the input is good, and the answer is no."""


class CallError(InputError, TypeError):
    """A call has no such keyword, lacks an argument, or was given something of another kind; the message names it."""

    def __init__(self, call: str, text: str) -> None:
        super().__init__(call, text)
        self.text = text

    def __str__(self) -> str:
        return "{}(): {}".format(*self.args)


def refuse_unless(tests: Mapping[str, bool]) -> None:
    """InputError with the first sentence whose test fails."""
    for words, fine in tests.items():
        if not fine:
            raise InputError(words)


def public(call: F) -> F:
    """A call, or a class, that users know by its name: where its arguments do not fit, the error says so of it."""

    def named(*given: Any, **options: Any) -> Any:
        places = given[1:] if isinstance(call, type) else given
        _refuse_beyond(call, places, options)
        try:
            return made(*given, **options)
        except (TypeError, AttributeError, ValueError) as error:
            inner = error.text if isinstance(error, CallError) else None
            if isinstance(error, InputError) and inner is None:
                raise
            text = _misuse(call, places, options) or inner
            if text is None:
                raise
            raise CallError(call.__name__, text) from None

    made: Callable[..., Any] = vars(call)["__init__"] if isinstance(call, type) else call
    if not isinstance(call, type):
        return wraps(call)(named)  # type: ignore[return-value]
    setattr(call, "__init__", wraps(made)(named))  # noqa: B010
    return call


def _refuse_beyond(call: Callable[..., Any], places: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """InputError where a number, or a word, lies outside of what its annotation says."""
    numbers, choices = _ranges(call)
    if not (numbers or choices):
        return
    given = {**dict(zip(signature(call).parameters, places, strict=False)), **options}
    for name, (whole, low, high) in numbers.items():
        value = given.get(name)
        if isinstance(value, Real) and whole and not isinstance(value, Integral):
            raise InputError(f"{name} must be a whole number, not {value}")
        if isinstance(value, Real) and not low <= float(value) <= high:
            upper = "" if high == inf else f" and at most {high:g}" if high < MANY else f" and at most {high}"
            raise InputError(f"{name} must be at least {low:g}{upper}, not {value}")
    for name, words in choices.items():
        value = given.get(name)
        if isinstance(value, str) and value not in words:
            raise InputError(f"{name} must be one of {', '.join(words)}, not {value[:LONGEST]!r}")


@lru_cache(maxsize=256)
def _ranges(call: Callable[..., Any]) -> tuple[dict[str, tuple[bool, float, float]], dict[str, tuple[str, ...]]]:
    """Of numbers whether they are whole, and from where to where; of words those there are."""
    numbers, words = {}, {}
    for one in signature(call).parameters.values():
        hint = hint_of(call, one.annotation)
        for part in (hint, *get_args(hint)):
            word = next((meta for meta in get_args(part)[1:] if isinstance(meta, Word)), None)
            if get_origin(part) is Annotated and word is not None and word.low > -inf:
                numbers[one.name] = get_args(part)[0] is int, word.low, word.high
            elif get_origin(part) is Literal:
                words[one.name] = get_args(part)
    return numbers, {name: some for name, some in words.items() if all(isinstance(one, str) for one in some)}


def _misuse(call: Callable[..., Any], given: tuple[Any, ...], options: Mapping[str, Any]) -> str | None:
    """What is wrong with a call's arguments, by its signature; None where they fit."""
    every = signature(call).parameters.values()
    kinds = {one.kind for one in every}
    own = [one for one in every if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    names = [one.name for one in own]
    places = [one.name for one in own if one.kind is not Parameter.KEYWORD_ONLY]
    unknown = [name for name in options if name not in names]
    if unknown and Parameter.VAR_KEYWORD not in kinds:
        near = get_close_matches(unknown[0], names, n=1)
        meant = f"did you mean {near[0]!r}?" if near else f"it takes {_listed(names)}"
        return f"there is no {unknown[0]!r}; {meant}"
    if len(given) > len(places) and Parameter.VAR_POSITIONAL not in kinds:
        return f"only {_listed(places) or 'nothing'} can be given by place; give the others by name"
    bound = dict(zip(places, given, strict=False))
    if bound.keys() & options.keys():
        return f"{_listed(sorted(bound.keys() & options.keys()))} is given twice"
    bound |= options
    missing = [one.name for one in own if one.default is Parameter.empty and one.name not in bound]
    if missing:
        return f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    return next((text for one in own if one.name in bound and (text := _misfit(call, one, bound[one.name]))), None)


def _listed(names: list[str]) -> str:
    return ", ".join(names)


def _misfit(call: Callable[..., Any], one: Parameter, value: Any) -> str | None:
    kinds = _kinds(hint_of(call, one.annotation))
    if kinds is None or isinstance(value, tuple(kinds)):
        return None
    said = [IN_WORDS.get(kind, _with_article(kind)) for kind in kinds if not (kind is str and os.PathLike in kinds)]
    what = repr(value[:LONGEST]) if isinstance(value, str) else _with_article(type(value))
    *first, last = dict.fromkeys(said)
    return f"{one.name} must be {_listed(first)}{' or ' * bool(first)}{last}, not {what}"


def _with_article(kind: type) -> str:
    name = {os.PathLike: "path", NoneType: "None", bool: "True or False"}.get(kind, kind.__name__)
    return name if kind in (NoneType, bool) else f"{'an' if name[0] in 'AEIOUaeio' else 'a'} {name}"


def hint_of(call: Callable[..., Any], annotation: Any) -> Any:
    """The annotation as the modules understand it that may have stated it; None where none does."""
    homes = [call, *getattr(getattr(call, "options", call), "__mro__", ())]
    for module in dict.fromkeys(unwrap(home).__module__ for home in homes):
        try:
            hints = SimpleNamespace(__annotations__={"": annotation})
            return get_type_hints(hints, vars(sys.modules[module]), include_extras=True)[""]
        except (NameError, KeyError, TypeError):  # a name that is imported for type checkers alone
            continue
    return None


def _kinds(hint: Any) -> list[type] | None:
    """The classes of what fits an annotation; None where classes do not tell."""
    hint = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        parts = [_kinds(part) for part in get_args(hint)]
        return None if None in parts else [kind for part in parts if part for kind in part]
    if isinstance(get_origin(hint), type) and issubclass(get_origin(hint), Iterable):
        return [Iterable]
    if not isinstance(hint, type) or hint in (object, Any) or getattr(hint, "_is_protocol", False):
        return None
    return [WIDER.get(hint, hint)]


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
