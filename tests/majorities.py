"""What a plain majority of two classes is worth: the reference for votes, policies and papers' tables."""

from __future__ import annotations

from typing import Any

import numpy as np


def poisson_binomial(accuracy: Any) -> np.ndarray:
    """``P(c of the labels are right)``, (k + 1,), by convolution label by label; accuracy (k,)."""
    law = np.ones(1)
    for right in accuracy:
        law = np.append(law * (1 - right), 0.0) + np.append(0.0, law * right)
    return law


def majority_accuracy(accuracy: Any) -> float:
    """``P(more than half of the labels are right)``, ties counted half; without labels a fair guess."""
    law = poisson_binomial(accuracy)
    lead = 2 * np.arange(law.size) - (law.size - 1)
    return float(law[lead > 0].sum() + 0.5 * law[lead == 0].sum())
