"""State that can be kept and gone on from: what every policy owns, as named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from numpy.typing import NDArray

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


def part_of(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with the prefix, under their names without it; prefix: of the part."""
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
