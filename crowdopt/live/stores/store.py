"""What a store is: an append-only history that one writer at a time may lengthen, and what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from crowdopt.errors import InputError
from crowdopt.live.stores.event import Event


class Unwritten(InputError):
    """The place did not keep what was to be kept, as a full disk does: nothing has happened; try again."""


class Ledgerbook(Protocol):
    """A store while it is held: no other process can write, and nothing is kept unless the block ends well."""

    def last(self) -> int:
        """Number of the last event; 0: there is none."""
        ...

    def after(self, number: int, most: int | None = None) -> list[Event]:
        """Events that come after the one of that number, in order, so many at most."""
        ...

    def append(self, events: Sequence[Event]) -> None:
        """Add events; their numbers go on from the last one."""
        ...

    def snapshot(self) -> tuple[int, bytes] | None:
        """The newest snapshot of the state and the number of the event it follows; None: there is none."""
        ...

    def keep(self, number: int, state: bytes) -> None:
        """Keep a snapshot in place of older ones."""
        ...

    def reply(self, key: str) -> str | None:
        """What was answered to a request of that key; None: there was none."""
        ...

    def remember(self, key: str, reply: str) -> None:
        """Keep an answer for a request that is repeated."""
        ...

    def owner(self, digest: str) -> str | None:
        """Whose token has this digest; None: it is no token, or no longer one."""
        ...

    def entitled(self, owner: str) -> bool:
        """Whether the owner has a token."""
        ...

    def entitle(self, digest: str, owner: str) -> None:
        """Give a token of this digest; tokens that its owner had before end."""
        ...


class Store(Protocol):
    """A place where the history of one campaign is kept."""

    def hold(self) -> AbstractContextManager[Ledgerbook]:
        """Hold the store alone; when the block ends without an error all is kept, durably, and otherwise nothing."""
        ...

    def close(self) -> None:
        """Let go of the place."""
        ...
