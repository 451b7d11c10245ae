"""Small instances of few skills, and their least costs by exact errors over all sets of pairs."""

from __future__ import annotations

import numpy as np

from crowdopt import AssignmentInstance
from crowdopt.crowd.instance import UNLIMITED
from tests.models.pooled import RULES
from tests.small import brute_force


def drawn(seed: int) -> AssignmentInstance:
    """A few tasks of some kinds, workers of few skills, priors and prices, room to spare or not."""
    rng = np.random.default_rng(seed)
    n, m, kinds = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
    share = float(rng.choice([0.5, 0.5, 0.3, 0.8]))
    fewest = rng.integers(0, 2, n) * int(rng.random() < 0.3)
    return AssignmentInstance(
        accuracy=rng.choice([0.6, 0.7, 0.9, 0.3, 0.5, 0.8], (kinds, m)),
        task_type=rng.integers(0, kinds, n),
        capacity=rng.integers(0, n + 1, m),
        epsilon=rng.choice([0.1, 0.2, 0.3, 0.35], n),
        rule=str(rng.choice(RULES)),
        cost=rng.integers(1, 4, m).astype(float) if rng.random() < 0.4 else 1.0,
        prior=[1 - share, share],
        min_labels=fewest,
        max_labels=np.where(rng.random(n) < 0.3, fewest + 2, UNLIMITED),
        budget=float(rng.integers(1, 12)) if rng.random() < 0.2 else None,
    )


least = brute_force
