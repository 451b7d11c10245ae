"""How many wrong answers each group is predicted to have, before each check: a mixture that learns from the checks."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.audit.audited import ErrorVersions
from crowdopt.arrays import Bools, Floats, Ints

TRUE_TO_CLAIMS = {0.75: 0.09, 1.0: 0.37, 1.5: 0.09, 3.0: 0.05, 6.0: 0.05}
"""Realised over claimed error, where there are claims: weight of each version. Recorded label sets had 1.1 to 46."""
OF_TARGET = {0.125: 0.2, 0.25: 0.2, 0.5: 0.25, 0.75: 0.15, 1.0: 0.08, 1.5: 0.05, 2.5: 0.04, 5.0: 0.03}
"""One error for all groups, in units of the target: weight of each version."""
LEAST, MOST = 1e-4, 0.95


def mixture(claim: Floats, target: float) -> ErrorVersions:
    """Versions that follow the claims (where there is more than one group), and versions of one error for all.

    claim (groups,): mean claimed error; target: share of wrong answers that is hoped for.
    """
    error = np.outer([target * times for times in OF_TARGET], np.ones(claim.size))
    weight = np.array(list(OF_TARGET.values()))
    if claim.size > 1:
        ratio, share = np.array(list(TRUE_TO_CLAIMS)), np.array(list(TRUE_TO_CLAIMS.values()))
        error = np.concatenate([np.outer(ratio, claim), error])
        weight = np.concatenate([share, (1 - share.sum()) * weight])
    return ErrorVersions(weight, np.clip(error, LEAST, MOST))


def predictions(versions: ErrorVersions, stratum: Ints, wrong: Bools) -> Floats:
    """Predicted share of wrong answers of each group before each check, (checks, groups).

    After a check the weight of a version is multiplied by the chance that it gave to what was seen. Any prediction from
    the past is valid: a poor one costs checks.

    stratum, wrong (checks,): group of each checked answer, and whether it was wrong; -> (checks, groups).
    """
    chance = np.where(wrong[:, None], versions.error[:, stratum].T, 1 - versions.error[:, stratum].T)
    before = np.zeros((wrong.size, versions.weight.size))
    before[1:] = np.cumsum(np.log(chance[:-1]), axis=0)
    before += np.log(versions.weight)
    posterior = np.exp(before - before.max(axis=1, keepdims=True, initial=-np.inf))
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior @ versions.error
