"""What a verb is: a call, what its answer says, and what its help adds; and words that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias


@dataclass(frozen=True)
class Word:
    """How an argument of a call is typed, where its name and type do not tell.

    Parameters
    ----------
    typed : str
        The option, such as ``--from``; default: the argument's name.
    low, high : float
        Between which a number lies; in Python too.
    listed : bool
        Whether several stand in one text, with commas between; else each has an option of its own.
    place : str
        What help calls an argument that is given by its place, whatever the call allows.
    """

    typed: str = ""
    low: float = -float("inf")
    high: float = float("inf")
    listed: bool = False
    place: str = ""


Seed: TypeAlias = Annotated[int, Word(low=0, high=2**31 - 1)]
Draw: TypeAlias = Annotated[int, Word(low=0, high=2**63 - 1)]  # a seed of what is drawn by numpy alone
Processes: TypeAlias = Annotated[int, Word(low=0, high=1024)]
Threads: TypeAlias = Annotated[int, Word(low=1, high=1024)]
Positive: TypeAlias = Annotated[int, Word(low=1)]
Listed: TypeAlias = Annotated[Sequence[str], Word(listed=True)]


@dataclass(frozen=True)
class Said:
    """What an answer says: facts for programs, lines for readers, and whether the answer is no (1)."""

    facts: Mapping[str, Any]
    lines: Sequence[str]
    status: int = 0


@dataclass(frozen=True)
class Verb:
    """A call as a command.

    Parameters
    ----------
    name : str
        As it is typed.
    call : callable
        Its signature has the options, its docstring the help, with the sections Reads, Writes, and Examples: commands
        to paste, one after another, after ``crowdopt init my-campaign``, of which the last one shows the verb.
    said : callable
        ``said(answer, **options)``: what the answer says, by the options that it names.
    needs : tuple of str
        Options that a command must have, and a call in Python need not.
    follows : bool
        Whether a line on the terminal follows the call.
    prepared : callable, optional
        ``prepared(as_json, **typed)``: the arguments, where something is asked for or changed before the call.
    """

    name: str
    call: Callable[..., Any]
    said: Callable[..., Said]
    needs: tuple[str, ...] = ()
    follows: bool = False
    prepared: Callable[..., dict[str, Any]] | None = None
