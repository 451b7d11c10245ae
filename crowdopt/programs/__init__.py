"""Every program that reaches a solver, one file each.

``build(instance)`` or ``of_...(...)`` makes a program; models/README.md states each in LaTeX. Elsewhere nothing is
formulated: methods only move the sides and the box of a program, or drop integrality.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from crowdopt.programs import assignment as assignment
