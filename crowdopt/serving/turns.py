"""Arrivals who are here at once share one policy: what it holds of one of them is taken off, and put back later."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

ABSENT = object()


class Turns:
    """Whose turn it is with the policy.

    A policy says which of its attributes are about the arrival that is here (``of_one_arrival``); all others are shared
    by all arrivals. The five methods are called as if each arrival had the policy for itself.
    """

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.names: tuple[str, ...] = policy.of_one_arrival or ()
        self.fresh = self._taken()
        self.here: dict[str, Any] | None = None  # where the attributes of the present turn go when it ends

    def enter(self, own: dict[str, Any]) -> None:
        """It is the turn of the arrival whose attributes are in ``own``; empty: one that is new."""
        if self.here is own:
            return
        self.leave()
        self._put(own or self.fresh)
        self.here = own

    def leave(self) -> None:
        """No arrival has its turn: all attributes are where they belong."""
        if self.here is not None:
            self.here.clear()
            self.here.update(self._taken())
            self._put(self.fresh)
            self.here = None

    def _taken(self) -> dict[str, Any]:
        return {name: self._get(name) for name in self.names if self._get(name) is not ABSENT}

    def _get(self, name: str) -> Any:
        owner, _, last = name.rpartition(".")
        return getattr(attrgetter(owner)(self.policy) if owner else self.policy, last, ABSENT)

    def _put(self, values: dict[str, Any]) -> None:
        for name in self.names:
            owner, _, last = name.rpartition(".")
            holder = attrgetter(owner)(self.policy) if owner else self.policy
            if name in values:
                setattr(holder, last, values[name])
            elif last in holder.__dict__:
                delattr(holder, last)
