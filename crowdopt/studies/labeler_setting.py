"""What all rows of a study of asking share: where labelers and labels come from; one archive, named by its content."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labelers import Labelers
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.labelers.task_arrivals import TaskStream
from crowdopt.labelers.task_streams import LabelTable, drawn_labelers, recorded_tasks, simulated_tasks


@dataclass(frozen=True, eq=False)
class GivenLabelers:
    """Labelers of known skills; labels are simulated.

    classes (1,): L; at (kinds,): contexts at which skills are given; empty: kinds of task.
    """

    accuracy: Floats  # (kinds, labelers): p of each kind of task
    cost: Floats  # (labelers,): of a label
    classes: Ints  # one number
    at: Floats  # empty: kinds of task
    names: NDArray[np.str_]  # (labelers,): of the labelers

    @staticmethod
    def of(people: Labelers) -> GivenLabelers:
        """Arrays of some labelers."""
        at = np.zeros(0) if people.at is None else people.at
        return GivenLabelers(people.accuracy, people.cost, np.array([people.classes]), at, np.array(people.names))

    def stream(self, horizon: int, seed: int, trial: int) -> TaskStream:
        """The tasks of a trial."""
        at = self.at if self.at.size else None
        names = tuple(map(str, self.names))
        people = Labelers(self.accuracy, self.cost, int(self.classes[0]), at, names)
        return simulated_tasks(people, horizon, (seed, trial))


@dataclass(frozen=True, eq=False)
class DrawnLabelers:
    """Fresh labelers in every trial: skills uniform on [low, high] given that the majority of all beats a guess.

    count (1,): M.
    """

    count: Ints  # one number each
    # range of skills
    low: Floats  # (1,)
    high: Floats  # (1,)
    cost: Floats  # (1,): of a label

    @staticmethod
    def of(count: int, low: float = 0.0, high: float = 1.0, cost: float = 0.0) -> DrawnLabelers:
        """Arrays of a draw of so many labelers, skills in [low, high]; refused at once where nothing can be drawn."""
        drawn = DrawnLabelers(np.array([count]), np.array([low]), np.array([high]), np.array([cost]))
        drawn.stream(1, 0, 0)  # refuses what cannot be drawn
        return drawn

    def stream(self, horizon: int, seed: int, trial: int) -> TaskStream:
        """A trial's labelers, drawn anew, and its tasks."""
        low, high, cost = float(self.low[0]), float(self.high[0]), float(self.cost[0])
        people = drawn_labelers(int(self.count[0]), (seed, trial), low, high, cost)
        return simulated_tasks(people, horizon, (seed, trial))


@dataclass(frozen=True, eq=False)
class RecordedLabels:
    """Labels that people once gave, and what is known of the truth; classes (1,): L."""

    label: Ints  # (tasks, labelers): class of each label, -1 where there is none
    # true class, -1 where unknown, and kind of each task
    truth: Ints  # (tasks,)
    context: Ints  # (tasks,)
    cost: Floats  # (labelers,): of a label
    classes: Ints  # one number
    names: NDArray[np.str_]  # (labelers,): of the labelers

    def __post_init__(self) -> None:
        if len(self.label) < 2:
            raise InputError("the label table has one task only; a run needs one to start from and one to judge")
        if (self.truth < 0).all():
            raise InputError("the truth of no task is known; give --truth, or nothing can be judged")

    def stream(self, horizon: int, seed: int, trial: int) -> TaskStream:
        """Trial's order of tasks and labelers."""
        names = tuple(map(str, self.names))
        table = LabelTable(self.label, self.truth, self.context, self.cost, int(self.classes[0]), names)
        return recorded_tasks(table, horizon, (seed, trial))


Setting: TypeAlias = GivenLabelers | DrawnLabelers | RecordedLabels
SOURCES: dict[str, type[Any]] = {kind.__name__: kind for kind in (GivenLabelers, DrawnLabelers, RecordedLabels)}


def write_setting(setting: Setting, folder: Path) -> str:
    """Write it as one archive, named by its content; returns the path."""
    arrays = {field.name: getattr(setting, field.name) for field in fields(setting)}
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
        kind = SOURCES[Path(path).name.partition("-")[0]]
        setting: Setting = kind(**{name: stored[name] for name in stored.files})
    return setting
