"""The arrays of the house, named once: floats, whole numbers, truth values, all of 64 bits but the last."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64, np.bool_)


def sealed(array: NDArray[Number]) -> NDArray[Number]:
    """A contiguous view that cannot be written: kernels are compiled anew for every other sort of array."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
