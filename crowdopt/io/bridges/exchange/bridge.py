"""What a bridge to a labelling tool can do: read the tool's files, write its files, speak with its server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.annotations import Annotations
from crowdopt.io.bridges.exchange.pushed_round import PushedRound
from crowdopt.notebooks import InNotebooks


@dataclass(frozen=True)
class Wishes:
    """What a reader is told beyond the file."""

    field: str | None = None  # the question whose answers are the labels, where the tool asks several
    # the key of a task's own data that holds its id; default: ``task`` where every task has it, else the tool's id
    key: str | None = None


@dataclass(frozen=True)
class Change:
    """One thing that a push changes, in words; ``kind`` counts it in the summary."""

    kind: str
    what: str


@dataclass(frozen=True)
class Changes(InNotebooks):
    """What a push changed, or would change; ``notes`` are sentences for the reader, ``links`` for the workers."""

    changes: tuple[Change, ...]  # in the order of work; none where everything is in place already
    place: str  # where they were made, in words
    notes: tuple[str, ...] = ()  # advice
    links: Mapping[str, str] = field(default_factory=dict)  # worker -> where they label, and nobody else is sent

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind, in the order of work."""
        counts: dict[str, int] = {}
        for change in self.changes:
            counts[change.kind] = counts.get(change.kind, 0) + 1
        return counts


@dataclass(frozen=True)
class Address:
    """A server and a project on it."""

    url: str  # of the server
    project: str | None = None  # title of the project; default: the campaign's title
    insecure: bool = False  # whether plain HTTP may leave this machine


Reader: TypeAlias = Callable[[Path, Wishes], Annotations]
Writer: TypeAlias = Callable[[PushedRound, Path], Mapping[str, str]]


@dataclass(frozen=True)
class Bridge:
    """A tool's name, and what can be done with it."""

    name: str  # as it is typed
    what: str  # what is read and written, in a line
    read: Reader | None = None  # a file or folder of the tool -> its annotations
    write: Writer | None = None  # a round and the folder it goes to -> file name in that folder -> text
    # where the tool has an API: brings a project to the state of a round, without calls that change nothing, or with
    # ``True`` says what it would change; and gets everything that was annotated in a project
    push: Callable[[PushedRound, Address, bool], Changes] | None = None
    pull: Callable[[Address, Wishes], Annotations] | None = None
    advice: tuple[str, ...] = field(default=())  # what to do after files were written

    def reader(self) -> Reader:
        """What reads the tool's files; InputError where nothing does."""
        if self.read is None:
            raise InputError(f"crowdopt reads no labels of {self.name}; there are readers of other tools")
        return self.read
