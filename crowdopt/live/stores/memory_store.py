"""A history in memory: for simulations and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

from crowdopt.live.stores.event import Event


class MemoryStore:
    """Everything is gone when the process ends."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.replies: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.kept: tuple[int, bytes] | None = None
        self._lock = RLock()

    @contextmanager
    def hold(self) -> Iterator[MemoryStore]:
        """Hold it alone; what was written is taken back if the block ends with an error."""
        with self._lock:
            count, answered = len(self.events), len(self.replies)
            tokens, kept = self.tokens, self.kept
            try:
                yield self
            except BaseException:
                del self.events[count:]
                for key in list(self.replies)[answered:]:
                    del self.replies[key]
                self.tokens, self.kept = tokens, kept
                raise

    def close(self) -> None:
        """Nothing to let go of."""

    def last(self) -> int:
        """Number of the last event."""
        return len(self.events)

    def after(self, number: int, most: int | None = None) -> list[Event]:
        """Events after that one."""
        return self.events[number : None if most is None else number + most]

    def append(self, events: Sequence[Event]) -> None:
        """Add events."""
        self.events.extend(events)

    def snapshot(self) -> tuple[int, bytes] | None:
        """The newest snapshot."""
        return self.kept

    def keep(self, number: int, state: bytes) -> None:
        """Keep a snapshot."""
        self.kept = (number, state)

    def reply(self, key: str) -> str | None:
        """An earlier answer."""
        return self.replies.get(key)

    def remember(self, key: str, reply: str) -> None:
        """Keep an answer."""
        self.replies[key] = reply

    def owner(self, digest: str) -> str | None:
        """Whose token it is."""
        return self.tokens.get(digest)

    def entitled(self, owner: str) -> bool:
        """Whether the owner has a token."""
        return owner in self.tokens.values()

    def entitle(self, digest: str, owner: str) -> None:
        """Give a token."""
        self.tokens = {old: who for old, who in self.tokens.items() if who != owner} | {digest: owner}
