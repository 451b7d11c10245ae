"""File names of the workers' queues: every file system takes them, and no two are one file on any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from urllib.parse import quote

LONGEST = 120  # letters of an id in a file name
SHOWN = 80  # of them where it is cut
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}  # on Windows


def queue_files(workers: Sequence[str]) -> list[str]:
    """One file name for each of a campaign's workers: the id, percent-encoded where a file system may object.

    An id that is long, that differs from another's in case only, or that Windows reserves for a device gets a part of
    its hash.
    """
    names = [quote(worker, safe=" +,=@()[]").replace(".", "%2E") for worker in workers]
    alike = Counter(name.casefold() for name in names)
    return [
        f"{_marked(name, worker) if len(name) > LONGEST or alike[low] > 1 or low in RESERVED else name}.csv"
        for name, worker in zip(names, workers, strict=True)
        for low in [name.casefold()]
    ]


def _marked(name: str, worker: str) -> str:
    return f"{name if len(name) <= LONGEST else name[:SHOWN]}-{sha256(worker.encode()).hexdigest()[:16]}"
