"""The state of a campaign as bytes, without code in them: plain values as JSON, arrays beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.labelers.task_arrivals import Ask
from crowdopt.live.live_rows import Lease
from crowdopt.live.seat import Seat
from crowdopt.live.tasks_course import TaskSlot
from crowdopt.online.arrivals import Arrival, Decision
from crowdopt.online.beliefs.dismissal import DismissalRule
from crowdopt.online.beliefs.worker_session import SessionOptions, WorkerSession

LENGTH = 8  # bytes that tell how long the JSON is
OF_ARRIVALS = (Arrival, Decision, DismissalRule, SessionOptions, WorkerSession)
KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Seat, TaskSlot, Ask, Lease, *OF_ARRIVALS)}


class Packer:
    """Values into JSON; an array that two of them hold stays one.

    root: what is kept elsewhere, by its own ``snapshot``: the policy. Its parts that arrivals refer to (``shared``) are
    named by their paths.
    """

    def __init__(self, root: object) -> None:
        self.paths = {id(attrgetter(path)(root)): path for path in getattr(root, "shared", ())}
        self.arrays: dict[str, NDArray[Any]] = {}
        self.known: dict[int, str] = {}
        self.alive: list[object] = []  # ids are unique among objects that are alive

    def pack(self, value: Any) -> Any:
        """A value as JSON; arrays go to ``arrays``."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if id(value) in self.paths:
            return {"of": self.paths[id(value)]}
        if isinstance(value, np.generic):
            return {"number": self._array(np.asarray(value))}
        if isinstance(value, np.ndarray):
            if id(value) not in self.known:
                self.known[id(value)] = self._array(value)
            return {"array": self.known[id(value)]}
        if isinstance(value, list | tuple):
            return {"list" if isinstance(value, list) else "tuple": [self.pack(one) for one in value]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(key), self.pack(one)] for key, one in value.items()]}
        if isinstance(value, np.random.Generator):
            return {"generator": value.bit_generator.state}
        kind = type(value).__name__
        if KINDS.get(kind) is not type(value):
            raise TypeError(f"a policy holds a {kind} of an arrival, which no snapshot can keep")
        names = value.__dict__ if hasattr(value, "__dict__") else value.__slots__
        return {"kind": kind, "fields": {name: self.pack(getattr(value, name)) for name in names}}

    def _array(self, value: NDArray[Any]) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = value
        self.alive.append(value)
        return name


class Unpacker:
    """Values from JSON. root: in the state in which it was packed; arrays: by name."""

    def __init__(self, root: object, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.root, self.arrays = root, arrays
        self.made: dict[str, NDArray[Any]] = {}

    def unpack(self, packed: Any) -> Any:
        """The value that was packed."""
        if not isinstance(packed, dict):
            return packed
        (sort, held), *_ = packed.items()
        return getattr(self, f"_{sort}")(held, packed)

    def _of(self, path: str, _: Any) -> Any:
        return attrgetter(path)(self.root)

    def _number(self, name: str, _: Any) -> Any:
        return self.arrays[name][()]

    def _array(self, name: str, _: Any) -> Any:
        return self.made.setdefault(name, np.array(self.arrays[name]))

    def _list(self, held: list[Any], _: Any) -> Any:
        return [self.unpack(one) for one in held]

    def _tuple(self, held: list[Any], _: Any) -> Any:
        return tuple(self.unpack(one) for one in held)

    def _dict(self, held: list[Any], _: Any) -> Any:
        return {self.unpack(key): self.unpack(one) for key, one in held}

    def _generator(self, state: dict[str, Any], _: Any) -> Any:
        rng = np.random.default_rng()
        rng.bit_generator.state = state
        return rng

    def _kind(self, kind: str, packed: Any) -> Any:
        made = object.__new__(KINDS[kind])
        for name, value in packed["fields"].items():
            object.__setattr__(made, name, self.unpack(value))
        return made


def packed(value: Any, root: object, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """How long the JSON of a value is, that, and its arrays' bytes in the JSON's order; root: see :class:`Packer`."""
    packer = Packer(root)
    value = packer.pack(value)
    named = packer.arrays | {f"own.{name}": array for name, array in arrays.items()}
    shapes = {name: (array.dtype.str, array.shape) for name, array in named.items()}
    text = json.dumps({"value": value, "shapes": shapes}).encode()
    return b"".join([len(text).to_bytes(LENGTH, "little"), text, *(array.tobytes() for array in named.values())])


def opened(content: bytes) -> tuple[Any, dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """What :func:`packed` made: JSON, its arrays, and the arrays beside it."""
    begin = LENGTH + int.from_bytes(content[:LENGTH], "little")
    held = json.loads(content[LENGTH:begin])
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape) in held["shapes"].items():
        flat = np.frombuffer(content, kind, prod(shape), begin)
        arrays[name], begin = flat.reshape(shape).copy(), begin + flat.nbytes
    own = {name[4:]: arrays.pop(name) for name in list(arrays) if name.startswith("own.")}
    return held["value"], arrays, own
