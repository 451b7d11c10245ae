"""What difficulty that workers share does to a policy: tasks that are given up, what is said of a target."""

from __future__ import annotations

from collections.abc import Callable

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.law import Difficulty

WORTH = 0.2  # of what a label on an easy task tells, below which a task is given up


def hopeless(difficulty: Difficulty, chance: Floats) -> Bools:
    """Tasks so surely hard, chance (tasks,), that a label tells less than WORTH of what it tells on an easy one."""
    return 1 - chance * (1 - difficulty.left**2) < WORTH


def anchored(right: Ints | Floats, asked: Ints | Floats, classes: int = 2) -> Callable[[Floats], Floats]:
    """Log-likelihood of a mean edge of u times what gold shows: gold itself is known to so many answers only.

    ``-(u - 1)^2 / (2 v)``, v the binomial variance of the mean edge over its square.

    right, asked: tallies of gold; -> (k,) scales u -> (k,) log-likelihoods.
    """
    total = max(1, int(asked.sum()))
    share = (int(right.sum()) + 1) / (total + 2)
    slope = classes / (classes - 1)  # of an edge, (K p - 1)/(K - 1), over accuracies
    spread = slope**2 * share * (1 - share) / total / max((slope * (share - 1 / classes)) ** 2, 1e-4)
    return lambda scale: -((scale - 1) ** 2) / (2 * spread)


def told(difficulty: Difficulty, claims: Floats, targets: Floats) -> list[str]:
    """What users are told of hard tasks, by claimed errors and targets (tasks,) of those wanted; [] where none is."""
    if not difficulty.share:
        return []
    mean, target = float(claims.mean()), float(targets.mean())
    sentence = f"{difficulty}; claimed errors heed it, {mean:.3f} on average"
    if mean > target:
        sentence += f"; the target {target:g} is out of reach, {mean:.2g} is what these labels can promise"
    return [sentence]
