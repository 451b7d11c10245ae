"""Folders that exist whole or not at all (files: crowdopt.files)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdopt import documents
from crowdopt.errors import InputError
from crowdopt.files import apart, taken, unfinished, writing

CAMPAIGN, PLAN = "campaign.toml", "plan.json"  # the files that tell a folder of ours


def check_target(path: Path, mark: str | None, force: bool) -> None:
    """Refuse a target that may not be written, before any work is done.

    mark: CAMPAIGN or PLAN for a folder, None for a file. Only a folder that is empty or has that file in it is ever
    replaced, and only a file by a file.
    force: whether what is there may be replaced at all.
    """
    if not path.name or path.name == "..":
        raise InputError(f"{str(path)!r} is no name for something new; choose another one")
    if _is_there(path) and not force:
        raise InputError(f"{path} already exists; choose another name or pass --force to replace it")
    if os.path.exists(path) and not _replaceable(path, mark):
        what = "a file" if mark is None else f"an empty folder or one with a {mark}"
        raise InputError(f"{path} is not replaced, because it is not {what}; choose another name")
    parent = path.absolute().parent
    existing = next(folder for folder in (parent, *parent.parents) if os.path.exists(folder))
    if not existing.is_dir():
        raise InputError(f"{path} cannot be written: {existing} is not a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: no permission in {existing}; choose another place")


def _is_there(path: Path) -> bool:
    """Whether anything has this name, be it a link to nowhere; a name that no file system takes is refused."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        name = documents.shown(path.name)
        raise InputError(f"{name} cannot be written: {error.strerror}; choose another name") from None
    return True


def _replaceable(path: Path, mark: str | None) -> bool:
    if mark is None:
        return path.is_file()
    return path.is_dir() and ((path / mark).exists() or not any(path.iterdir()))


@contextmanager
def new_folder(path: Path, mark: str, force: bool = False) -> Iterator[Path]:
    """A temporary folder beside ``path`` that takes its name when the block ends without an error."""
    path = path.resolve()
    check_target(path, mark, force)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(unfinished(path.name))
        try:
            temporary.mkdir()
            with apart():
                yield temporary
            name_folder(temporary, path, mark, force)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def name_folder(temporary: Path, path: Path, mark: str, force: bool) -> None:
    """Give a finished folder its name; what stood there is moved aside first and comes back if that fails.

    temporary, path: on one file system; mark: the file that tells a folder of ours.
    """
    if not force or not path.exists():
        try:
            temporary.rename(path)  # the system refuses where another folder with something in it is
        except OSError as error:
            if path.exists():
                raise taken(path) from None
            raise error
        return
    check_target(path, mark, force)
    aside = path.with_name(unfinished(path.name))
    path.rename(aside)
    try:
        temporary.rename(path)
    except BaseException:
        aside.rename(path)
        raise
    shutil.rmtree(aside)
