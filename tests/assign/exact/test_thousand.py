"""A thousand small instances of every kind and option: the exact method against HiGHS, brute force and the checkers."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Plan, Status, assign, write_campaign, write_plan
from crowdopt.assign.methods import linear_rules as exact_method
from crowdopt.assign.plan import breaches
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.recheck.verification import verify
from tests.checkers.folders import check
from tests.small import brute_force

KINDS = ("hammers", "alike", "specialists", "one type", "types", "adversarial", "strong", "free")
OPTIONS = ("epsilon", "price", "forbidden", "fixed", "collected", "labels", "load", "budget")
SECONDS = 5.0  # per solve
SAME = 1e-6
PER_BLOCK, BLOCKS = 50, 20


def drawn(seed: int) -> AssignmentInstance:
    """An instance of one of KINDS, up to 12 tasks and 8 workers, with each of OPTIONS in one of four."""
    rng = np.random.default_rng([1000, seed])
    n, m = (1 + int(most * rng.random() ** power) for most, power in ((12, 1.0), (8, 0.6)))
    kind, wanted = KINDS[seed % len(KINDS)], {option for option in OPTIONS if rng.random() < 0.25}
    kinds, accuracy = _accuracies(kind, n, m, rng)
    rule = "hoeffding" if rng.random() < 0.3 else "bhattacharyya"
    epsilon = rng.choice([0.1, 0.2, 0.3, 0.35, 0.4, 0.45] if rule == "bhattacharyya" else [0.3, 0.35, 0.4, 0.45], n)
    capacity = _capacities(n, m, rng)
    given = {
        "accuracy": accuracy,
        "task_type": kinds,
        "capacity": capacity,
        "epsilon": epsilon if "epsilon" in wanted else epsilon[0],
        "rule": rule,
    }
    if "price" in wanted:
        given["cost"] = _prices(accuracy.shape, rng)
    pairs = rng.permutation(np.array([(i, j) for i in range(n) for j in range(m)]))
    cuts = np.cumsum(rng.integers(0, 1 + max(1, n * m // 8), 3))
    if "forbidden" in wanted:
        given["forbidden"] = pairs[: cuts[0]]
    if "collected" in wanted:
        given["collected"] = pairs[cuts[0] : cuts[1]]
    fixed = pairs[cuts[1] : cuts[2]] if "fixed" in wanted else pairs[:0]
    nth = [int((fixed[:k, 1] == fixed[k, 1]).sum()) for k in range(len(fixed))]
    fixed = fixed[[here < capacity[j] for here, j in zip(nth, fixed[:, 1], strict=True)]]
    if len(fixed):
        given["fixed"] = fixed
    if "labels" in wanted:
        given |= _label_limits(n, m, fixed, given.get("collected", pairs[:0]), rng)
    if "load" in wanted:
        given["min_load"] = np.minimum(capacity, rng.integers(0, 3, m))
    if "budget" in wanted:
        given["budget"] = float(np.round(n * rng.uniform(2.0, 9.0), 2))
    return AssignmentInstance(**given)


def _accuracies(kind: str, n: int, m: int, rng: np.random.Generator):
    """Types of unequal numbers of tasks, every type in use, and a (types, workers) table."""
    types = {"hammers": 1, "alike": 1, "one type": 1, "strong": min(n, 3), "free": n}.get(kind, int(rng.integers(1, 6)))
    kinds = np.unique(np.minimum(rng.geometric(0.4, n) - 1, types - 1), return_inverse=True)[1]
    kinds = np.arange(n) if kind == "free" else kinds
    shape = int(kinds.max()) + 1, m
    if kind == "hammers":
        return kinds, np.broadcast_to(np.where(rng.permutation(m) < (m + 1) // 2, 0.9, 0.5), shape)
    if kind == "alike":
        return kinds, np.full(shape, rng.choice([0.8, 0.9]))
    if kind == "specialists":
        return kinds, np.where(np.arange(m) % shape[0] == np.arange(shape[0])[:, None], 0.9, 0.6)
    if kind == "adversarial":
        return kinds, rng.beta(1.0, 0.5, shape)
    if kind == "strong":
        return kinds, rng.uniform(0.7, 0.98, shape)
    return kinds, rng.uniform(0.55, 0.99, shape)


def _capacities(n: int, m: int, rng: np.random.Generator):
    """Log-normal, uniform, or the same for every worker; at most n."""
    mean = max(1.0, rng.uniform(3.0, 12.0) * n / m)
    drawn = [rng.lognormal(np.log(mean), 0.8, m), rng.uniform(0, 2 * mean + 1, m), np.full(m, mean)]
    return np.minimum(n, np.rint(drawn[rng.integers(3)]).astype(np.int64))


def _prices(shape: tuple[int, int], rng: np.random.Generator):
    """Whole, of quarters or arbitrary; per worker or per type and worker."""
    shape = shape if rng.random() < 0.5 else shape[1:]
    return [rng.integers(0, 6, shape), rng.integers(1, 12, shape) / 4, rng.uniform(0.1, 3.0, shape)][rng.integers(3)]


def _label_limits(n: int, m: int, fixed, collected, rng: np.random.Generator):
    """Fewest and most labels, no less than what is fixed and collected, so that nothing contradicts itself."""
    there = np.bincount(np.concatenate([fixed, collected])[:, 0], minlength=n)
    fewest = rng.integers(0, 4, n)
    most = np.where(rng.random(n) < 0.5, UNLIMITED, np.maximum(fewest, there) + rng.integers(0, m + 1, n))
    return {"min_labels": fewest, "max_labels": most}


def contradictions(seed: int, instance: AssignmentInstance, plan: Plan, full: Plan) -> list[str]:
    """What two plans for one instance contradict each other in."""
    problems = []
    if plan.proven and full.proven and plan.status is not full.status:
        problems.append(f"statuses {plan.status.value} and {full.status.value}")
    if plan.status is full.status is Status.OPTIMAL and abs(plan.objective - full.objective) > SAME:
        problems.append(f"optima {plan.objective!r} and {full.objective!r}")
    for name, one, other in (("exact", plan, full), ("highs", full, plan)):
        for cost in (made.objective for made in (one, other) if made.found):
            if max(one.bound, one.certified_bound) > cost + SAME:
                problems.append(f"{name}'s bounds {one.bound!r}, {one.certified_bound!r} above a plan of {cost!r}")
        if one.found:
            problems += [f"{name}: {breach}" for breach in breaches(instance, one.pairs)]
    return [f"seed {seed}: {problem}" for problem in problems]


def second_opinions(seed: int, instance: AssignmentInstance, plan: Plan, folder) -> list[str]:
    """Verify's and the checker's problems with the folders."""
    write_campaign(instance, folder / "c", force=True, collected_labels=["x"] * len(instance.collected))
    write_plan(plan, folder / "p", force=True)
    report = verify(folder / "c", folder / "p")
    if plan.duals is not None and plan.duals.form == "sets":  # the small checker knows rows and blocks
        return [f"seed {seed}: {problem}" for problem in report.problems]
    problems, bound = check(folder / "c", folder / "p")
    found = [f"seed {seed}: {problem}" for problem in report.problems + (problems or [])]
    one, other = (-np.inf if proven is None else proven for proven in (bound, report.certified_bound))
    if one != other and not abs(one - other) <= SAME * max(1.0, abs(one)):  # knapsacks are solved to 1e-7
        found.append(f"seed {seed}: proven bounds {other} and {one}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_thousand_small_instances(block, tmp_path, monkeypatch):
    """Two exact solvers can only agree, bounds lie below every plan, and a plan holds for every checker.

    Instances of up to ten pairs are also solved by brute force. All are small enough to be settled within the limit.
    One in five goes without the short search that small instances begin with, so that the method over classes is used.
    """
    problems = []
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        instance = drawn(seed)
        with monkeypatch.context() as patch:
            if seed % 5 == 4:
                patch.setattr(exact_method, "SMALL", 0)
            plan = assign(instance, time_limit=SECONDS, gap=0.0)
        full = assign(instance, method="highs", time_limit=SECONDS, gap=0.0)
        problems += contradictions(seed, instance, plan, full)
        if not plan.proven:
            problems.append(f"seed {seed}: {plan.status.value} after {plan.seconds:.1f} s, HiGHS {full.status.value}")
        if instance.n_tasks * instance.n_workers <= 10:
            best = brute_force(instance)
            if plan.found != (best is not None) or (best is not None and abs(plan.objective - best) > SAME):
                problems.append(f"seed {seed}: {plan.objective} where brute force has {best}")
        if plan.found and seed % 10 in (0, 1, 4):
            problems += second_opinions(seed, instance, plan, tmp_path)
    assert not problems, "\n".join(problems)
