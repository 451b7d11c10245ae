"""Where a library, as it is, decides nothing. It may stay silent there; it may not say anything false."""

SILENT = {
    ("cvxpy-osqp", "assignment-priced"): "does not converge on this linear program within the limit",
    ("ortools-pdlp", "unbounded"): "knows dual infeasible only, which is unbounded or infeasible",
    ("pulp-glpk", "assignment-integer"): "needs minutes",
    ("pulp-glpk", "assignment-integer-priced"): "needs minutes",
    ("pulp-glpk", "badly-scaled-integer"): "needs minutes",
}
