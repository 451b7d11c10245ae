"""JSON and TOML documents of known shape: every complaint names the file, the key, and what belongs there."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import inf, isfinite
from pathlib import Path
from typing import Any, TypeAlias

from crowdopt.errors import InputError
from crowdopt.files import write_text

DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)  # what wrong values make code raise
DIGITS = 18  # of a whole number, at most: it then fits 64 bits
LARGEST = sys.float_info.max  # a whole number beyond it is no float, and cannot be made one
LONGEST = 60  # letters of a value that a complaint repeats


@dataclass(frozen=True)
class Value:
    """A single value: ``wanted`` says in words what ``fits`` tests."""

    wanted: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Each:
    """A list, or a table of any keys, whose every entry has one shape."""

    of: Shape
    kind: type[list[Any]] | type[dict[str, Any]] = list


@dataclass(frozen=True)
class Keys:
    """A table of known keys; others are refused unless ``open``."""

    required: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)
    open: bool = False


@dataclass(frozen=True)
class Maybe:
    """A shape, or null."""

    of: Shape


Shape: TypeAlias = Value | Each | Keys | Maybe


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def number(wanted: str = "a number", low: float = -inf, high: float = inf) -> Value:
    """A finite number from ``low`` to ``high``."""
    return Value(wanted, lambda value: is_number(value) and low <= value <= high)


def whole(wanted: str = "a whole number", low: float = -inf, high: float = inf) -> Value:
    """A whole number from ``low`` to ``high``, of 18 digits at most."""
    return Value(wanted, lambda value: type(value) is int and abs(value) < 10**DIGITS and low <= value <= high)


def one_of(*names: str) -> Value:
    """One of some words."""
    return Value(f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names)


def each_of(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """Keys that share a shape, written side by side: ``{"seed checks": COUNT}``."""
    return {key: shape for keys, shape in shapes.items() for key in keys.split()}


TEXT = Value("text in quotes", lambda value: isinstance(value, str))
FLAG = Value("true or false", lambda value: isinstance(value, bool))
NUMBER, COUNT = number(), whole("a whole number of at least 0", low=0)


def read_json(path: Path, shape: Shape, what: str = "file") -> Any:
    """Read a JSON document.

    what: what the folder would be if the document were there, for the complaint when it is not.
    """
    return fitting(path, shape, _parsed(path, what, _strict_json))


def write_json(path: Path, content: Any) -> None:
    """Write a JSON document, whole or not at all: keys in the order given, null for what is no finite number."""
    write_text(path, json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n")


def quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def read_toml(path: Path, shape: Shape) -> Any:
    """Read a TOML document; InputError as for :func:`read_json`."""
    return fitting(path, shape, _parsed(path, "file", tomllib.loads))


@contextmanager
def from_disk(folder: Path) -> Iterator[None]:
    """What a page or a summary stumbles over in a folder of results, as a sentence: a file in it is damaged."""
    try:
        yield
    except InputError:
        raise
    except DAMAGE as error:
        said = _one_line(error)
        raise InputError(
            f"{folder} does not hold what is to be shown of it ({type(error).__name__}: {said}): a file in it is "
            "damaged; run the command that wrote it again"
        ) from None


def misfit(value: Any, shape: Shape, where: str = "") -> str | None:
    """What is wrong with a value, in words, or None: ``policies[3].cost must be a number, not 'x'``."""
    if isinstance(shape, Maybe):
        return None if value is None else misfit(value, shape.of, where)
    if isinstance(shape, Value):
        return None if shape.fits(value) else _must(where, shape.wanted, value)
    if isinstance(shape, Each):
        return _misfit_in_each(value, shape, where)
    return _misfit_in_keys(value, shape, where)


def shown(value: Any) -> str:
    """A value as a complaint repeats it: on one line, and cut where it is long."""
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'table'} of {len(value)} entries"
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _must(where: str, wanted: str, value: Any) -> str:
    return f"{where or 'the whole'} must be {wanted}, not {shown(value)}"


def _misfit_in_each(value: Any, shape: Each, where: str) -> str | None:
    if not isinstance(value, shape.kind):
        return _must(where, "a list" if shape.kind is list else "a table", value)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = (misfit(entry, shape.of, _inside(where, key)) for key, entry in items)
    return next((complaint for complaint in found if complaint is not None), None)


def _misfit_in_keys(value: Any, shape: Keys, where: str) -> str | None:
    if not isinstance(value, dict):
        return _must(where, "a table of keys and values", value)
    lacking = next((key for key in shape.required if key not in value), None)
    if lacking is not None:
        return f"{_inside(where, lacking)} is missing"
    known = {**shape.required, **shape.optional}
    for key, entry in value.items():
        if key not in known and not shape.open:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}"
            return f"unknown key {shown(_inside(where, key))}; {hint}"
        complaint = misfit(entry, known[key], _inside(where, key)) if key in known else None
        if complaint is not None:
            return complaint
    return None


def _inside(where: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{where}[{key}]"
    return f"{where}.{key}" if where else key


def _parsed(path: Path, what: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"there is no {what} in {path.parent}: {path.name} is missing") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"{path.name} is nested too deeply; no such file is written by this program") from None
    except ValueError as error:  # what the parsers raise, and what a number beyond all digits is
        kind = path.suffix.lstrip(".").upper()
        raise InputError(f"{path.name} is not {kind}: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def fitting(path: Path, shape: Shape, value: Any) -> Any:
    """The value, where it is of the shape; InputError says what in the file is not."""
    complaint = misfit(value, shape)
    if complaint is not None:
        raise InputError(f"{path.name}: {complaint}")
    return value


def _strict_json(text: str) -> Any:
    return json.loads(
        text, parse_constant=_no_number, parse_int=_small, parse_float=_finite, object_pairs_hook=_once_each
    )


def finite(value: Any) -> Any:
    """What JSON can hold of a value: a number that is infinite or none is null, in lists and tables too."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _no_number(name: str) -> Any:
    raise ValueError(f"it says {name}, which is no number")


def _small(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"it says {text[:20]}, which no float holds")
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("it has a key twice in one table")
    return table
