"""How accurate each backend is: the one table that every judgement in this folder uses.

Relative to ``max(1, |optimum|)`` for values and bounds, absolute for rows. Simplex and branch and bound are good for
1e-6; text files cost CBC digits; interior points and first-order methods stop at tolerances of their own.
"""

EXACT = 1e-6
ACCURACY = {
    "highs-pdlp": 1e-5,  # first order; stops at a relative gap of 1e-7 of scaled data
    "cvxpy-scs": 1e-5,  # first order; asked for residuals of 1e-8 of scaled data
    "cvxpy-osqp": 1e-4,  # first order; asked for residuals of 1e-6, which a box of FREE multiplies
    "ortools-pdlp": 1e-5,  # first order; asked for 1e-8 of the sides' norm
}


def accuracy(backend: str) -> float:
    """What a backend's optimum may be off by."""
    return ACCURACY.get(backend, EXACT)
