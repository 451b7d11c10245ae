"""Which worker of a cluster has which part in memory: a part goes to the same one in every sweep."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any


class AtHome(Executor):
    """An executor of Dask that sends each part to its home, or to any worker if that one is lost or has too much to do.

    cluster: of ``crowdopt.jobs.cluster``; parts: all of them.
    """

    def __init__(self, cluster: Any, parts: Sequence[str]) -> None:
        self.cluster, self.parts = cluster, parts
        self._client = cluster._client
        self.homes: dict[str, str] = {}

    def settle(self) -> None:
        """Deal parts to the workers that are there now."""
        self.homes = deal(self.homes, self.parts, sorted(self._client.nthreads()))

    def submit(self, call: Any, /, *row: Any, **options: Any) -> Future[Any]:
        """A row of ``crowdopt.jobs``: its function's name, and its arguments, which name the part."""
        home = self.homes.get(row[1]["part"])
        if home is not None:
            options |= {"workers": [home], "allow_other_workers": True}
        return self.cluster.submit(call, *row, **options)  # type: ignore[no-any-return]


def deal(homes: dict[str, str], parts: Sequence[str], workers: Sequence[str]) -> dict[str, str]:
    """A home for each part: the one it has, unless lost or two parts ahead of another; empty without workers."""
    if not workers:
        return {}
    held: dict[str, list[str]] = {worker: [] for worker in workers}
    for part in parts:
        if homes.get(part) in held:
            held[homes[part]].append(part)
    most, more = divmod(len(parts), len(workers))
    free = [part for part in parts if homes.get(part) not in held]
    for place, worker in enumerate(sorted(workers, key=lambda worker: -len(held[worker]))):
        room = most + (place < more)
        free += held[worker][room:]
        del held[worker][room:]
    for place, worker in enumerate(sorted(workers, key=lambda worker: -len(held[worker]))):
        room = most + (place < more) - len(held[worker])
        held[worker] += free[:room]
        del free[:room]
    return {part: worker for worker, own in held.items() for part in own}
