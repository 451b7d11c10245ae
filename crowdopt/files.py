"""Files that exist whole or not at all: written under a name that no other file has, then given theirs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crowdopt.errors import InputError

PARTIAL = ".partial"  # how the name of an unfinished file ends; it begins with a dot
SHOWN = 40  # letters of the final name in the temporary one, which must stay below 255 bytes


@contextmanager
def draft(path: Path, replace: bool = True) -> Iterator[BinaryIO]:
    """A file that becomes ``path`` when the block ends without an error, and otherwise leaves nothing.

    It is written beside ``path`` under a random name that is created for it alone: two writers never share one, and
    a link that was planted is not followed.
    """
    waiting = _WAITING.get()
    with writing(path):
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(unfinished(path.name))
        try:
            with temporary.open("xb") as file:
                yield file
            if waiting is not None:
                waiting.append(_Finished(temporary, path, replace))
                return
            _name(temporary, path, replace)
        finally:
            if waiting is None or all(one.temporary != temporary for one in waiting):
                temporary.unlink(missing_ok=True)


class _Finished(NamedTuple):
    """A file that is written and waits for its name."""

    temporary: Path
    path: Path
    replace: bool


_WAITING: ContextVar[list[_Finished] | None] = ContextVar("waiting", default=None)


@contextmanager
def together() -> Iterator[None]:
    """All files that are drafted in the block get their names when it ends without an error, or none of them does."""
    waiting: list[_Finished] = []
    before = _WAITING.set(waiting)
    try:
        yield
        _name_all(waiting)
    finally:
        _WAITING.reset(before)
        for one in waiting:
            one.temporary.unlink(missing_ok=True)


@contextmanager
def apart() -> Iterator[None]:
    """Files in the block have their names at once: they stand in a folder that is itself not there yet."""
    before = _WAITING.set(None)
    try:
        yield
    finally:
        _WAITING.reset(before)


def _name_all(waiting: list[_Finished]) -> None:
    """Names that may be taken meanwhile come first, for they can be given back; a replaced file could not."""
    places = [one.path.parent.resolve() / one.path.name for one in waiting]
    double = next((path for k, path in enumerate(places) if path in places[:k]), None)
    if double is not None:
        raise InputError(f"{double.name} is to be written twice, with different content; choose two names")
    given: list[Path] = []
    try:
        for one in sorted(waiting, key=lambda one: one.replace):
            with writing(one.path):
                _name(one.temporary, one.path, one.replace)
            if not one.replace:
                given.append(one.path)
    except BaseException:
        for path in given:
            path.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str, replace: bool = True) -> None:
    """Write a text as UTF-8 with LF, whole or not at all; InputError as for :func:`draft`."""
    with draft(path, replace) as file:
        file.write(text.encode("utf-8"))


def unfinished(name: str) -> str:
    """A temporary name for what will have this one; no two are equal."""
    return f".{name[:SHOWN]}.{secrets.token_hex(6)}{PARTIAL}"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn whatever the system says against writing ``path`` into one sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}; choose another place") from None
    except UnicodeEncodeError as error:
        letter = error.object[error.start]
        raise InputError(f"{path} cannot be written: {letter!r} is no letter of UTF-8; rename what has it") from None


def taken(path: Path) -> InputError:
    """The complaint of the second of two writers."""
    return InputError(f"{path} was written by another command meanwhile; choose another name or pass --force")


def _name(temporary: Path, path: Path, replace: bool) -> None:
    """Give the finished file its name; without ``replace`` only if no file has it, which the system decides."""
    if replace:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise taken(path) from None
    except OSError:  # a file system without hard links: claim the name first
        try:
            path.open("xb").close()
        except FileExistsError:
            raise taken(path) from None
        temporary.replace(path)
