"""Every program that reaches a solver, one file each, which ends in its PROGRAM.

``build(instance)`` or ``of_...(...)`` makes a program; ``index()`` lists them all; models/README.md states each in
LaTeX. Elsewhere nothing is formulated: methods only move the sides and the box of a program, or drop integrality.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from crowdopt.core.registry import discover


@dataclass(frozen=True)
class Formulation:
    """A program that a file formulates: its name, what it finds, its source and its model.

    Parameters
    ----------
    name : str
        The file's own name, with ``-`` for ``_``.
    what : str
        What is chosen, and what for, in a line.
    source : str
        Where it comes from; ``own`` where it is ours.
    model : str, optional
        Its text in models/, where there is one.
    """

    name: str
    what: str
    source: str
    model: str | None = None


def index() -> list[Formulation]:
    """Every program here, and those of third parties (entry points ``crowdopt.programs``), by name."""
    every: list[Formulation] = discover(sys.modules[__name__], "PROGRAM")
    return sorted(every, key=lambda one: one.name)
