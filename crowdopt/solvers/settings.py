"""A solver's own options by name: ``highs[presolve=off,threads=2]``, checked against what the library knows."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from crowdopt.core.solution import Settings
from crowdopt.errors import InputError

BRACKETED = re.compile(r"([^\[\]]+)\[([^\[\]]*)\]")
YES_OR_NO = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
SHOWN = 5  # near names in a complaint


def taken_apart(name: str) -> tuple[str, Settings]:
    """A backend's name, and the options in brackets behind it."""
    if "[" not in name and "]" not in name:
        return name, ()
    match = BRACKETED.fullmatch(name.strip())
    if match is None:
        raise InputError(f"{name!r} is no backend with options; write them as in highs[presolve=off,threads=2]")
    return match[1].strip(), pairs_of(tuple(filter(None, (part.strip() for part in match[2].split(",")))))


def pairs_of(texts: tuple[str, ...]) -> Settings:
    """Options from texts ``key=value``; InputError where one is none, or a key is there twice."""
    found: list[tuple[str, str]] = []
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not key or not equals or not value:
            raise InputError(f"{text!r} is no option; write key=value, as in presolve=off")
        if key in dict(found):
            raise InputError(f"the option {key} is given twice")
        found.append((key, value))
    return tuple(found)


def checked(backend: str, settings: Settings, known: Mapping[str, Any]) -> dict[str, Any]:
    """The options with values of the kinds that the library's own have.

    settings tuple of (str, str); known: name -> its value now, or any value of its kind; None where the kind is not
    known. Raises InputError if the library has no such option (the near ones are listed) or the value is of another
    kind.
    """
    found = {}
    for key, value in settings:
        if key not in known:
            raise InputError(f"{backend} has no option {key!r}; {_near(key, known)}")
        found[key] = _as(backend, key, value, known[key])
    return found


def _near(key: str, known: Mapping[str, Any]) -> str:
    lower = {name.lower(): name for name in known}
    near = [lower[name] for name in get_close_matches(key.lower(), lower, n=SHOWN, cutoff=0.5)]
    near += [name for name in known if key.lower() in name.lower() and name not in near][: SHOWN - len(near)]
    if near:
        return f"near ones are {', '.join(near)}"
    return f"it has {len(known)}, such as {', '.join(list(known)[:SHOWN])}" if known else "it takes none"


def _as(backend: str, key: str, text: str, example: Any) -> Any:
    if isinstance(example, bool):
        if text.lower() not in YES_OR_NO:
            raise InputError(f"{backend}: option {key} is yes or no, not {text!r}")
        return YES_OR_NO[text.lower()]
    if isinstance(example, int | float):
        try:
            value = float(text)
            whole = int(value) if value == value and abs(value) < 2**63 and value == int(value) else None
        except (ValueError, OverflowError):
            value, whole = float("nan"), None
        if value != value or (isinstance(example, int) and whole is None):
            raise InputError(f"{backend}: option {key} is a number like {example}, not {text!r}")
        return whole if isinstance(example, int) else value
    return text if isinstance(example, str) else plain(text)


def plain(text: str) -> Any:
    """A text as the number, or the yes or no, that it says; else itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def attributes(thing: Any) -> dict[str, Any]:
    """An object's fields and their values: how many libraries hold their options."""
    names = [name for name in dir(thing) if not name.startswith("_")]
    return {name: value for name in names if not callable(value := getattr(thing, name, None))}


def highs_options() -> dict[str, Any]:
    """HiGHS' options, where a library above it has loaded it."""
    highspy = sys.modules.get("highspy")
    return {} if highspy is None else attributes(highspy.HighsOptions())


def gurobi_options() -> dict[str, Any]:
    """Gurobi's options, where a library above it has loaded it; their kinds are not told."""
    gurobipy = sys.modules.get("gurobipy")
    return {} if gurobipy is None else dict.fromkeys(name for name in dir(gurobipy.GRB.Param) if name[0] != "_")


def scip_options() -> dict[str, Any]:
    """SCIP's options, where a library above it has loaded it."""
    pyscipopt = sys.modules.get("pyscipopt")
    return {} if pyscipopt is None else pyscipopt.Model().getParams()
