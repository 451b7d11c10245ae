"""Which kind of LP method suits which size: decided here, and only here."""

from __future__ import annotations

from crowdopt.core.program import Program

SIMPLEX = {  # entries of the matrix up to which simplex was the faster of the two, by the program's name
    "aggregated": 50_000,
    "cascade": 50_000_000,  # interior point took thirty times as long on nine judges
    "target": 500_000,  # its optimum is near the aggregated LP's, which simplex reaches soon
}
OTHERS = 20_000  # entries, of any other program


def suited(program: Program) -> str:
    """The backend for a program: simplex for a small LP, interior point for a large one, a search for integers."""
    if program.integer.any():
        return "highs"
    return "highs-simplex" if program.matrix.nnz <= SIMPLEX.get(program.name, OTHERS) else "highs-ipm"
