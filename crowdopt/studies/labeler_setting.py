"""What all rows of a study of asking share: where labelers and labels come from; one archive, named by its content."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.labelers.arrivals import Labelers, LabelTable, TaskStream, drawn_labelers, recorded_tasks, simulated_tasks


@dataclass(frozen=True, eq=False)
class DrawnLabelers:
    """Fresh labelers in every trial: skills uniform on [low, high] given that the majority of all beats a guess."""

    count: int  # M
    # range of skills
    low: float
    high: float
    cost: float  # of a label

    @staticmethod
    def of(count: int, low: float = 0.0, high: float = 1.0, cost: float = 0.0) -> DrawnLabelers:
        """A draw of so many labelers, skills in [low, high]; refused at once where nothing can be drawn."""
        drawn = DrawnLabelers(count, low, high, cost)
        stream_of(drawn, 1, 0, 0)
        return drawn


@dataclass(frozen=True, eq=False)
class RecordedLabels(LabelTable):
    """Labels that people once gave, and what is known of the truth."""

    def __post_init__(self) -> None:
        if len(self.label) < 2:
            raise InputError("the label table has one task only; a run needs one to start from and one to judge")
        if (self.truth < 0).all():
            raise InputError("the truth of no task is known; give --truth, or nothing can be judged")


Setting: TypeAlias = Labelers | DrawnLabelers | RecordedLabels
SOURCES: dict[str, type[Any]] = {kind.__name__: kind for kind in (Labelers, DrawnLabelers, RecordedLabels)}


def stream_of(setting: Setting, horizon: int, seed: int, trial: int) -> TaskStream:
    """The tasks of a trial, labels simulated or recorded."""
    if isinstance(setting, RecordedLabels):
        return recorded_tasks(setting, horizon, (seed, trial))
    if isinstance(setting, DrawnLabelers):
        setting = drawn_labelers(setting.count, (seed, trial), setting.low, setting.high, setting.cost)
    return simulated_tasks(setting, horizon, (seed, trial))


def write_setting(setting: Setting, folder: Path) -> str:
    """Write it as one archive, named by its content; returns the path."""
    values = {field.name: getattr(setting, field.name) for field in fields(setting)}
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in values.items() if value is not None}
    kind = type(setting).__name__
    digest = sha256(kind.encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    path = folder / f"{kind}-{digest.hexdigest()[:16]}.npz"
    with draft(path) as file:
        np.savez_compressed(file, **arrays)
    return str(path)


@lru_cache(maxsize=4)
def read_setting(path: str) -> Setting:
    """What :func:`write_setting` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        values = {name: stored[name] if stored[name].ndim else stored[name].item() for name in stored.files}
    if "names" in values:
        values["names"] = tuple(values["names"].tolist())
    setting: Setting = SOURCES[Path(path).name.partition("-")[0]](**values)
    return setting
