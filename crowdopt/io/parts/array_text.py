"""Arrays as short texts, bit for bit: what travels between a coordinator and parts."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOATS, COUNTS = "<f8", "<i4"


def text_of(array: NDArray[Any], kind: str) -> str:
    """An array as text; array array: of any shape; the shape is not kept; kind: FLOATS, or COUNTS below 2^31."""
    return b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def array_of(text: str, kind: str) -> NDArray[Any]:
    """The array of a text, as float64 or int64; text: by :func:`text_of`; kind: of which it was made; -> (entries,)."""
    return np.frombuffer(b64decode(text), dtype=kind).astype(np.float64 if kind == FLOATS else np.int64)
