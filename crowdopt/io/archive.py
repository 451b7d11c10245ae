"""A large synthetic instance as one ``.npz`` file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.folder import check_target

FORMAT = 1
FIELDS = tuple(field.name for field in fields(AssignmentInstance) if field.name != "origin")


def write_archive(instance: AssignmentInstance, path: Path, force: bool = False) -> None:
    """Write every field of the instance; absent ids are left out, shared prices kept once."""
    check_target(path, None, force)
    arrays: dict[str, Any] = {"format": FORMAT}
    for name in FIELDS:
        value = getattr(instance, name)
        if value is not None:
            arrays[name] = np.asarray(value)
    if (instance.cost == instance.cost[0]).all():
        arrays["cost"] = instance.cost[0]
    temporary = path.with_name(f".{path.name}.partial.npz")
    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    try:
        np.savez_compressed(temporary, **arrays)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def read_archive(path: Path) -> AssignmentInstance:
    """Read what :func:`write_archive` wrote; nothing in it is executed.

    Raises
    ------
    InputError
        If the file is no such archive, or its instance is not valid.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except Exception as error:  # damage surfaces as whatever zip, zlib or numpy stumble over first
        raise InputError(f"{path.name} is not an archive of arrays: {error}") from None
    if int(arrays.pop("format", np.int64(0))) != FORMAT:
        raise InputError(f"{path.name} is no campaign of format {FORMAT}; write it anew with this version")
    strange = sorted(set(arrays) - set(FIELDS))
    if strange:
        raise InputError(f"{path.name} has the unknown entry {strange[0]!r}")
    missing = {"accuracy", "task_type", "capacity", "epsilon"} - set(arrays)
    if missing:
        raise InputError(f"{path.name} lacks the entry {sorted(missing)[0]!r}")
    return AssignmentInstance(**{name: _restored(array) for name, array in arrays.items()})


def _restored(array: np.ndarray[Any, Any]) -> Any:
    return array.item() if array.ndim == 0 else array
