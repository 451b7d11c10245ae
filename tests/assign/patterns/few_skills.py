"""Small instances of few skills, and their least costs by exact errors over all sets of pairs."""

from __future__ import annotations

from itertools import product

import numpy as np

from crowdopt import AssignmentInstance
from crowdopt.assign.plan import breaches
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.crowd.votes.voting import weighted_error
from tests.models.pooled import RULES


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


def least(instance: AssignmentInstance) -> float | None:
    """The least cost over all sets of pairs by the exact errors, each from crowdopt.crowd.votes.voting."""
    n, m = instance.n_tasks, instance.n_workers
    prior = instance.prior[1]
    known = {}
    best = None
    for chosen in product(product((0, 1), repeat=m), repeat=n):
        pairs = np.argwhere(np.array(chosen).reshape(n, m))
        cost = float(instance.prices(pairs).sum())
        if (best is not None and cost >= best) or breaches(instance, pairs):
            continue
        errors = []
        for i, row in enumerate(chosen):
            key = (int(instance.task_type[i]), row)
            if key not in known:
                p = instance.accuracy[key[0]][np.array(row, bool)]
                known[key] = weighted_error(p, prior=prior)
            errors.append(known[key])
        mean = np.mean(errors) <= instance.epsilon.mean() + 1e-12
        if mean if instance.the_rule.average else (np.array(errors) <= instance.epsilon + 1e-12).all():
            best = cost
    return best
