"""Calls take the fields of their options as keywords; a frozen type states names, defaults and meanings once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from crowdopt.errors import public

A = TypeVar("A")
Options = TypeVar("Options")
R = TypeVar("R")
S = TypeVar("S")
First = TypeVar("First", contravariant=True)
Found = TypeVar("Found", covariant=True)
Other = TypeVar("Other", covariant=True)
P = ParamSpec("P")
Q = ParamSpec("Q")

ENTRIES, RETURNS, RAISES = "Parameters\n----------\n", "\n\nReturns\n", "\n\nRaises\n"
CAMPAIGN = "campaign : AssignmentInstance or path\n    An instance, or the folder of a campaign."


class TwoWays(Protocol[First, P, Found, Q, Other]):
    """A verb whose result is of another kind where an option says so."""

    @overload
    def __call__(self, first: First, /, *given: P.args, **named: P.kwargs) -> Found: ...

    @overload
    def __call__(self, first: First, /, *given: Q.args, **named: Q.kwargs) -> Other: ...


def keywords(options: Callable[P, Options]) -> Callable[[Callable[[A, Options], R]], Callable[Concatenate[A, P], R]]:
    """A verb of one thing and its options takes the fields of these as arguments, and their descriptions as its own."""

    def dressed(verb: Callable[[A, Options], R]) -> Callable[Concatenate[A, P], R]:
        call: Callable[Concatenate[A, P], R] = _dressed(verb, options)
        return call

    return dressed


def keywords_alone(options: Callable[P, Options]) -> Callable[[Callable[[Options], R]], Callable[P, R]]:
    """As :func:`keywords`, for a verb of options alone."""

    def dressed(verb: Callable[[Options], R]) -> Callable[P, R]:
        call: Callable[P, R] = _dressed(verb, options)
        return call

    return dressed


def two_ways(
    special: Callable[P, Any], found: type[R], options: Callable[Q, Options], other: type[S]
) -> Callable[[Callable[[A, Options], R | S]], TwoWays[A, P, R, Q, S]]:
    """As :func:`keywords`; arguments that make ``special`` give what ``found`` says, others ``other``."""

    def dressed(verb: Callable[[A, Options], R | S]) -> TwoWays[A, P, R, Q, S]:
        call: TwoWays[A, P, R, Q, S] = _dressed(verb, options)
        return call

    return dressed


def _dressed(verb: Callable[..., Any], options: Callable[..., Any]) -> Any:
    own = inspect.signature(verb)
    *first, _options = own.parameters.values()
    face = own.replace(parameters=[*first, *inspect.signature(options).parameters.values()])

    @wraps(verb)
    def call(*given: Any, **named: Any) -> Any:
        bound = face.bind(*given, **named).arguments
        places = [bound.pop(one.name) for one in first]
        return verb(*places, options(**bound))

    vars(call).update(__signature__=face, options=options)  # what inspect, help, notebooks and errors look for
    text = inspect.getdoc(verb) or ""
    if RETURNS not in text:
        text = text.replace(RAISES, f"{RETURNS}-------\n{own.return_annotation}{RAISES}")
    takes = [CAMPAIGN] if ENTRIES not in text and "campaign" in own.parameters else []
    call.__doc__ = _described(text, takes, options)
    return public(call)


def _described(text: str, takes: list[str], options: Any) -> str:
    entries = takes + [
        document.partition(ENTRIES)[2].rstrip()
        for kind in options.__mro__
        if ENTRIES in (document := inspect.cleandoc(kind.__dict__.get("__doc__") or ""))
    ]
    end = min(at for mark in (RETURNS, RAISES) if (at := text.find(mark)) >= 0)
    head = text[:end] if ENTRIES in text else f"{text[:end]}\n\n{ENTRIES.strip()}"
    return "\n".join([head, *entries]) + text[end:]
