"""A large synthetic instance as one ``.npz`` file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import FIELDS, AssignmentInstance, Field
from crowdopt.crowd.law import NONE, Law
from crowdopt.documents import misfit
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.io.campaign.campaign_settings import DIFFICULTY, stated_difficulty
from crowdopt.io.campaign.joint_record import GROUPS, ROWS, recorded_groups, recorded_rows, written_groups, written_rows
from crowdopt.io.tables.folder import check_target

FORMAT = 1
HARD = ("hard_share", "hard_left")  # entries of a difficulty, where there is one
ROUNDED = 1e-9  # of shares that add up to 1
LAW = ("law_name", "law_share", "law_accuracy")  # entries of a law of votes, where there is one
APART = ("difficulty", "vote_law")
JOINT = {  # entries that are text: how each is written and read, and its shape
    "groups": (written_groups, recorded_groups, GROUPS),
    "own_rows": (written_rows, recorded_rows, ROWS),
}
ENTRIES = {one.name: one for one in FIELDS if one.name not in APART}
LETTERS: dict[type, tuple[str, str]] = {str: ("U", "text"), int: ("iuf", "whole number"), bool: ("b", "truth value")}


def write_archive(instance: AssignmentInstance, path: Path, force: bool = False) -> None:
    """Write every field of the instance; absent ids are left out, shared prices kept once."""
    check_target(path, None, force)
    with draft(path, replace=force) as file:
        np.savez_compressed(file, **arrays_of(instance))


def arrays_of(instance: AssignmentInstance) -> dict[str, Any]:
    """The entries of an archive: every field that is there."""
    arrays: dict[str, Any] = {"format": FORMAT}
    for name in ENTRIES:
        value = getattr(instance, name)
        if name in JOINT:
            if value:
                arrays[name] = np.asarray(json.dumps(JOINT[name][0](instance)))
        elif value is not None:
            arrays[name] = np.asarray(value)
    if instance.difficulty.share:
        arrays |= dict(zip(HARD, (instance.difficulty.share, instance.difficulty.left), strict=True))
    law = instance.vote_law
    if law is not None:
        arrays |= dict(zip(LAW, (np.asarray(law.name), law.share, law.accuracy), strict=True))
    if (instance.cost == instance.cost[0]).all():
        arrays["cost"] = instance.cost[0]
    return arrays


def read_archive(path: Path) -> AssignmentInstance:
    """Read what :func:`write_archive` wrote; nothing in it is executed."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except Exception as error:  # damage surfaces as whatever zip, zlib or numpy stumble over first
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{path.name} is not an archive of arrays: {said}") from None
    if arrays.pop("format", np.int64(0)).tolist() != FORMAT:
        raise InputError(f"{path.name} is no campaign of format {FORMAT}; write it anew with this version")
    _check_entries(path, arrays)
    hard = {key: arrays.pop(name).item() for key, name in zip(("share", "left"), HARD, strict=True) if name in arrays}
    wrong = misfit(hard, DIFFICULTY, "hard") if hard else None
    if wrong is not None:
        raise InputError(f"{path.name}: {wrong}")
    law = _law_of(path, {name: arrays.pop(name) for name in LAW if name in arrays})
    joint = {name: str(arrays.pop(name).item()) for name in JOINT if name in arrays}
    instance = AssignmentInstance(
        **{name: _restored(array) for name, array in arrays.items()},
        difficulty=stated_difficulty(hard) if hard else NONE,
        vote_law=law,
    )
    return replace(instance, **{name: _parsed(path, instance, name, text) for name, text in joint.items()})


def _check_entries(path: Path, arrays: dict[str, Any]) -> None:
    strange = sorted(set(arrays) - {*ENTRIES, *HARD, *LAW})
    if strange:
        raise InputError(f"{path.name} has the unknown entry {strange[0]!r}")
    missing = {"accuracy", "task_type", "capacity", "epsilon"} - set(arrays)
    if missing:
        raise InputError(f"{path.name} lacks the entry {sorted(missing)[0]!r}")
    for name, array in arrays.items():
        entry = ENTRIES.get(name, Field("" if name in (*HARD, LAW[0]) else "law", float))
        kinds, wanted = LETTERS[str] if name in (*JOINT, LAW[0]) else LETTERS.get(entry.kind, ("iuf", "number"))
        if array.dtype.kind not in kinds or (not entry.of and array.ndim > 0):
            many = f"{wanted}s" if entry.of else f"one {wanted}"
            raise InputError(f"{path.name}: the entry {name} must be {many}, not {array.dtype} of shape {array.shape}")


def _parsed(path: Path, instance: AssignmentInstance, name: str, text: str) -> Any:
    _, read, shape = JOINT[name]
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    wrong = misfit(value, shape, name)
    if wrong is not None:
        raise InputError(f"{path.name}: {wrong}")
    return read(instance, value)


def _law_of(path: Path, given: dict[str, Any]) -> Law | None:
    if not given:
        return None
    share, accuracy = (given.get(name, np.zeros(0)) for name in LAW[1:])
    is_law = set(given) == set(LAW) and share.ndim == 1 and accuracy.ndim == 2 and share.size == len(accuracy)
    within = bool(((accuracy >= 0) & (accuracy <= 1)).all() and (share >= 0).all())
    if not is_law or not within or abs(share.sum() - 1) > ROUNDED:
        raise InputError(f"{path.name}: {', '.join(LAW)} are no law of votes; write the archive anew")
    return Law.votes(str(given[LAW[0]].item()), share, accuracy)


def _restored(array: np.ndarray[Any, Any]) -> Any:
    return array.item() if array.ndim == 0 else array
