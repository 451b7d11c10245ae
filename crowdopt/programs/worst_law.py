"""The worst joint law of a family's errors, given how often each member errs."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats
from crowdopt.core.program import Program, stack
from crowdopt.programs import Formulation


def of_marginals(wrong: Bools, loss: Floats, error: Floats) -> Program:
    """``max sum_x g(x) P(x)  s.t.  sum over x with x_j wrong of P(x) = e_j,  sum_x P(x) = 1,  P >= 0``, as a minimum.

    x says which members of a family are wrong; g(x) is the chance that the vote then errs, the others' errors being
    what they are. Its dual bounds the error of the vote under every law with these marginals.

    Columns: ``law`` (patterns,). Rows: ``marginal`` (members,), ``one`` (1,).

    wrong (patterns, members): every pattern x; loss (patterns,): g; error (members,): e.
    """
    patterns, members = wrong.shape
    sides = np.append(error, 1.0)
    return Program(
        name="worst-law",
        cost=-loss,
        matrix=sparse.csc_array(np.vstack([wrong.T.astype(np.float64), np.ones(patterns)])),
        row_lower=sides.copy(),
        row_upper=sides,
        lower=np.zeros(patterns),
        upper=np.ones(patterns),
        integer=np.zeros(patterns, bool),
        columns=stack([("law", (patterns,))]),
        rows=stack([("marginal", (members,)), ("one", (1,))]),
    )


PROGRAM = Formulation(
    "worst-law",
    "the joint law of a family's errors under which a vote errs most",
    "own",
)
