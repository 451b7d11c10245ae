"""Folders and files that exist whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdopt.errors import InputError

CAMPAIGN, PLAN = "campaign.toml", "plan.json"  # the files that tell a folder of ours


def check_target(path: Path, mark: str | None, force: bool) -> None:
    """Refuse a target that may not be written, before any work is done.

    Parameters
    ----------
    mark : str, optional
        CAMPAIGN or PLAN for a folder, None for a file. Only a folder that is empty or has that file in it is ever
        replaced, and only a file by a file.
    force : bool
        Whether what is there may be replaced at all.

    Raises
    ------
    InputError
        If something is there and not to be replaced, or the place cannot be written.
    """
    if not path.name:
        raise InputError(f"{str(path)!r} is no name for something new; choose another one")
    if (path.exists() or path.is_symlink()) and not force:
        raise InputError(f"{path} already exists; choose another name or pass --force to replace it")
    if path.exists() and not _replaceable(path, mark):
        what = "a file" if mark is None else f"an empty folder or one with a {mark}"
        raise InputError(f"{path} is not replaced, because it is not {what}; choose another name")
    parent = path.absolute().parent
    existing = next(folder for folder in (parent, *parent.parents) if folder.exists())
    if not existing.is_dir():
        raise InputError(f"{path} cannot be written: {existing} is not a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: no permission in {existing}; choose another place")


def _replaceable(path: Path, mark: str | None) -> bool:
    if mark is None:
        return path.is_file()
    return path.is_dir() and ((path / mark).exists() or not any(path.iterdir()))


@contextmanager
def new_folder(path: Path, mark: str, force: bool = False) -> Iterator[Path]:
    """A temporary folder beside ``path`` that takes its name when the block ends without an error.

    Raises
    ------
    InputError
        If the target exists and is not forced, or cannot be written.
    """
    path = path.resolve()
    check_target(path, mark, force)
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.absolute().parent))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; choose another place") from None
    try:
        temporary.chmod(0o777 & ~_umask())
        yield temporary
        _replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; choose another place") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _replace(temporary: Path, path: Path) -> None:
    """Move into place; what stood there is moved aside first and comes back if the move fails."""
    if not path.exists():
        temporary.rename(path)
        return
    aside = temporary.with_name(f"{temporary.name}-old")
    path.rename(aside)
    try:
        temporary.rename(path)
    except OSError:
        aside.rename(path)
        raise
    shutil.rmtree(aside)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename it."""
    temporary = path.with_name(f".{path.name}.partial")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
