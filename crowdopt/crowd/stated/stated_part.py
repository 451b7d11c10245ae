"""What the parts of an instance share: arrays that cannot be written, and sentences on what is out of range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints
from crowdopt.errors import InputError

Owner: TypeAlias = tuple[str, Callable[[int], str]]  # a worker or a task, and the id of each
UNLIMITED = np.iinfo(np.int64).max  # a task's largest number of labels where none is set


class StatedPart:
    """A part of an instance; the instance calls each part's ``_check_...`` once."""

    def _keep(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(self, name, value)


def filled(value: Any, default: int) -> Any:
    """The value, or what stands for one that was not given."""
    return default if value is None else value


def refuse_entries(values: NDArray[Any], name: str, bad: Bools, wanted: str, owner: Owner) -> None:
    """Refuse the first bad entry of a list."""
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise InputError(f"{name} {wanted}; it is {values[where]} for {owner[0]} {owner[1](where)}")


def refuse_excess(low: Ints, high: Ints, what: str, limit: str, owner: Owner) -> None:
    """Refuse the first owner who has more than there is room for."""
    if (low > high).any():
        where = int(np.flatnonzero(low > high)[0])
        who = f"{owner[0]} {owner[1](where)}"
        raise InputError(f"{who} has {low[where]} {what} but {limit} {high[where]}; change one of them")
