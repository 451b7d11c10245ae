"""Small random instances with every option, and their optima by brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from crowdopt import AssignmentInstance
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.crowd.rules import HOEFFDING
from tests.checkers.plans import least_cost


@st.composite
def instances(draw: st.DrawFn, most_pairs: int = 10, options: bool = True, rules=("hoeffding", "bhattacharyya")):
    """An instance small enough for brute force; with options: prices, limits, barred, fixed and collected pairs."""
    n = draw(st.integers(1, 4))
    m = draw(st.integers(1, max(1, most_pairs // n)))
    kinds = draw(st.integers(1, n))
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    given = {
        "accuracy": rng.choice([0.5, 0.55, 0.7, 0.8, 0.9, 0.97, 0.2], size=(kinds, m)),
        "task_type": rng.integers(0, kinds, n),
        "capacity": rng.integers(0, n + 1, m),
        "epsilon": rng.choice([0.05, 0.2, 0.3, 0.4, 0.45], size=n),
        "rule": draw(st.sampled_from(rules)),
    }
    if options:
        given |= _options(draw, rng, n, m, kinds, given["capacity"])
    return AssignmentInstance(**given)


def _options(draw, rng, n, m, kinds, capacity):
    wanted = draw(st.sets(st.sampled_from(["price", "barred", "collected", "fixed", "labels", "load", "budget"])))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])
    cut = sorted(rng.integers(0, min(3, len(pairs)) + 1, 3))
    options = {}
    if "price" in wanted:
        options["cost"] = rng.integers(0, 5, (kinds, m)) * rng.choice([1.0, 0.25])
    if "barred" in wanted:
        options["forbidden"] = pairs[: cut[0]]
    if "collected" in wanted:
        options["collected"] = pairs[cut[0] : cut[1]]
    if "fixed" in wanted:
        fixed = pairs[cut[1] : cut[2]]
        load = np.bincount(fixed[:, 1], minlength=m) if len(fixed) else np.zeros(m, int)
        options["fixed"] = fixed[load[fixed[:, 1]] <= capacity[fixed[:, 1]]] if len(fixed) else fixed
    if "labels" in wanted and not options.get("fixed", np.zeros(0)).size:
        options["min_labels"] = rng.integers(0, 3, n)
        options["max_labels"] = np.where(rng.random(n) < 0.5, UNLIMITED, options["min_labels"] + rng.integers(0, 3, n))
    if "load" in wanted:
        options["min_load"] = np.minimum(capacity, rng.integers(0, 2, m))
    if "budget" in wanted:
        options["budget"] = float(rng.integers(0, 12))
    return options


def brute_force(instance: AssignmentInstance) -> float | None:
    """Least cost of all plans, by arithmetic of its own (tests/checkers/plans.py); None if there is none."""
    cost = least_cost(instance)
    return cost if cost < np.inf else None


def with_evidence(evidence, need, capacity):
    """An instance under rule hoeffding with that evidence and need, one type per task."""
    return AssignmentInstance(
        accuracy=(1 + np.sqrt(evidence)) / 2,
        task_type=np.arange(len(evidence)),
        capacity=np.full(evidence.shape[1], capacity),
        epsilon=0.4,
        demand=need / HOEFFDING.need(np.array(0.4), 2),
        rule="hoeffding",
    )
