"""The arrays of the house, named once: floats, whole numbers, truth values, all of 64 bits but the last."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Array = TypeVar("Array", bound=NDArray[Any])


def sealed(array: Array) -> Array:
    """A view that cannot be written, contiguous: a kernel is compiled anew for every other sort of array it is given."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
