"""Which kind of LP method suits which size: decided here, and only here."""

from __future__ import annotations

from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, BY_SIZE, INTERIOR, WARM

SIMPLEX = {  # entries of the matrix up to which simplex was the faster of the two, by the program's name
    "aggregated": 50_000,
    "cascade": 50_000_000,  # interior point took thirty times as long on nine judges
    "target": 500_000,  # its optimum is near the aggregated LP's, which simplex reaches soon
}
OTHERS = 20_000  # entries, of any other program


ROLES = {WARM: "highs-simplex", INTERIOR: "highs-ipm", BRANCHING: "highs"}


def played_by(role: str, program: Program) -> str:
    """The backend that plays a role for a program; a backend's own name stays."""
    return suited(program) if role == BY_SIZE else ROLES.get(role, role)


def suited(program: Program) -> str:
    """The backend for a program: simplex for a small LP, interior point for a large one, a search for integers."""
    if program.integer.any():
        return ROLES[BRANCHING]
    return ROLES[WARM if program.matrix.nnz <= SIMPLEX.get(program.name, OTHERS) else INTERIOR]
