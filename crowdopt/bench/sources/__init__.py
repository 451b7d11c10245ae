"""Where problems come from: a file each, ending in ``SOURCE``; a name finds the first source that knows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from crowdopt.core.program import Program, relax
from crowdopt.core.registry import discover
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance

IP, LP = "ip", "lp"
PROGRAMS = (IP, LP)


@dataclass(frozen=True, eq=False)
class Problem:
    """Something to be solved."""

    name: str
    whole: Callable[[], Program]  # its program
    instance: AssignmentInstance | None = None
    selection: SelectionInstance | None = None  # what methods of our own start from
    about: str = ""  # by which rule its programs are written, where that is not the instance's own
    family: str = "assignment"  # what kind of question it is; only answers to one kind of question are compared

    def build(self, program: str) -> Program:
        """The whole program, ``ip``, or its linear relaxation, ``lp``."""
        return relax(self.whole()) if program == LP else self.whole()


@dataclass(frozen=True)
class Source:
    """A family of problems: whether it knows a name, and what name and seed mean.

    ``form`` says how its names are written; ``own`` which methods of our own can take part in a problem.
    """

    form: str
    knows: Callable[[str], bool]
    open: Callable[[str, int], Problem]
    own: Callable[[str], Sequence[str]] = lambda _: ("exact",)


@cache
def sources() -> tuple[Source, ...]:
    """Every source, ours and those of other packages."""
    return tuple(discover(sys.modules[__name__], "SOURCE", "knows"))


def source_of(name: str) -> Source:
    """The source that knows a name."""
    found = next((source for source in sources() if source.knows(name)), None)
    if found is None:
        raise InputError(f"unknown problem {name!r}; write {', or '.join(source.form for source in sources())}")
    return found


def open_problem(name: str, seed: int) -> Problem:
    """The problem that a name and a seed mean."""
    return source_of(name).open(name, seed)
