"""JSON that others wrote: taken as generously as it can be, checked where we look at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from crowdopt.documents import DIGITS, Each, Shape, Value, is_number, misfit, shown
from crowdopt.errors import InputError

ID = Value("an id: text or a whole number", lambda value: type(value) in (str, int) and str(value).strip() != "")
BYTES = 2**31  # of a file; what is larger is not read into memory


def read_text(path: Path) -> str:
    """A file's text; InputError if it is missing, unreadable, too large or not UTF-8."""
    try:
        if path.stat().st_size > BYTES:
            raise InputError(f"{path.name} is larger than {BYTES >> 30} GiB; export it in parts")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        where = "the current folder" if path.parent == Path() else path.parent
        raise InputError(f"{path.name}: there is no such file in {where}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}); export it again") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}") from None


def parsed(text: str, source: str, remedy: str = "export it again") -> Any:
    """The value of a JSON text; whole numbers beyond 64 bits stay text."""
    try:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= DIGITS else digits)
    except RecursionError:
        raise InputError(f"{source} is nested too deeply; no tool writes such a file") from None
    except ValueError as error:
        raise InputError(f"{source} is not JSON: {' '.join(str(error).split())[:200]}; {remedy}") from None


def read_json(path: Path, shape: Shape, remedy: str) -> Any:
    """A JSON file of a shape that is known as far as we look."""
    value = parsed(read_text(path), path.name, remedy)
    check(value, shape, path.name, remedy)
    return value


def read_lines(path: Path, shape: Shape, remedy: str) -> Iterator[tuple[str, Any]]:
    """Each line of a JSONL file: its place, in words, and its value."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            place = f"{path.name}, line {number}"
            value = parsed(line, place, remedy)
            check(value, shape, place, remedy)
            yield f"line {number}", value


def read_rows(
    path: Path, shape: Shape, remedy: str, inside: Callable[[Any], tuple[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """Each line of a JSONL file, or each item of the list that ``inside`` finds, with its name, in any other."""
    if path.suffix == ".jsonl":
        yield from read_lines(path, shape, remedy)
        return
    name, found = inside(parsed(read_text(path), path.name, remedy))
    check(found, Each(shape), path.name, remedy)
    yield from ((f"{name}[{k}]", one) for k, one in enumerate(found))


def check(value: Any, shape: Shape, source: str, remedy: str) -> None:
    """Refuse a value that is not of a shape, as far as we look; the complaint says where it stands, and what to do."""
    complaint = misfit(value, shape)
    if complaint is not None:
        raise InputError(f"{source}: {complaint}; {remedy}")


def scalar(value: Any) -> str | None:
    """A label as text: words as they are, whole numbers without a point; None for what is no single value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return (str(int(value)) if value.is_integer() else repr(value)) if isfinite(value) else None
    return str(value).strip() if isinstance(value, str | int) else None


def seconds(value: Any) -> float | None:
    """A duration, where it is a number of at least 0."""
    return float(value) if is_number(value) and value >= 0 else None


def refuse(source: str, place: str, what: str, value: Any, remedy: str) -> InputError:
    """The complaint about one value; source, place: file, and where in it; what: what the value must be."""
    return InputError(f"{source}, {place}: {what}, not {shown(value)}; {remedy}")
