"""The plan that a campaign is made around: random workers for each task, rather good ones, until its target is kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.combinations.checker import Campaign, as_pairs, least_targets, priors, worths
from tests.combinations.crowd_families import SkillFamily

BARRED, FIRST = -1e9, 1e6  # of keys
LARGEST = 0.45  # target
LONGER = 30  # labels beyond those that a family is about


@dataclass(frozen=True)
class Deal:
    """How a plan is dealt.

    Parameters
    ----------
    labels : int
        About how many a task gets.
    pull : float
        How much better workers are preferred.
    least : int
        Beyond ``labels``: what every task gets at least; negative where nothing is asked.
    targets : str
        ``one`` for all tasks, ``levels``, or each its ``own``.
    """

    labels: int
    pull: float
    least: int
    targets: str

    @classmethod
    def of(cls, family: SkillFamily, features: tuple[str, ...], rng: np.random.Generator) -> Deal:
        """One that suits a family."""
        least = int(rng.integers(0, 2)) if "least-labels" in features else -family.labels
        targets = ("levels", "own")[int(rng.integers(2))] if "targets" in features else "one"
        return cls(family.labels, float(rng.uniform(0.5, 2.5)), least, targets)


def deal(c: Campaign, how: Deal, rng: np.random.Generator) -> np.ndarray | None:
    """A plan with its targets, which go to the campaign; None where tasks cannot be served."""
    order, length = _order(c, how, rng)
    about = min(how.labels, max(1, round(0.6 * c["m"])), max(1, round(0.8 * float(np.median(length)))))
    wanted = np.minimum(about + rng.integers(-1, 2, c["n"]), length)
    c["epsilon"] = _targets(c, how, least_targets(c, _pairs(order, np.maximum(1, wanted))), rng)
    least = np.full(c["n"], max(0, min(how.labels + how.least, c["m"] - 1)))
    if how.least >= 0:
        least = np.minimum(least, length)
        c["min_labels"] = least.copy()
    count = np.maximum(least, _owed(c))
    waiting = np.arange(c["n"])
    while waiting.size:
        mine = np.zeros(c["n"], int)
        mine[waiting] = count[waiting]
        short = least_targets(c, _pairs(order, mine), waiting) > c["epsilon"][waiting]
        waiting = waiting[short]
        count[waiting] += 1
        if (count[waiting] > length[waiting]).any():
            return None
    return _pairs(order, count)


def _owed(c: Campaign) -> np.ndarray:
    """Labels that groups ask of each task: these workers come first."""
    return np.full(c["n"], sum(group.get("min_per_task", 0) for group in c["groups"]))


def _targets(c: Campaign, how: Deal, kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Targets that sets of the length that is wanted keep, more or less."""
    guess = float(np.median(1 - priors(c).max(axis=1)))
    most = min(LARGEST, 0.8 * guess)
    if how.targets == "own":
        found = kept * rng.uniform(1.0, 1.3, c["n"])
    else:
        middle = np.quantile(kept, (0.5,) if how.targets == "one" else (0.25, 0.5, 0.75))
        found = middle[rng.integers(0, middle.size, c["n"])]
    digits = 10.0 ** (np.floor(np.log10(np.maximum(found, 1e-9))) - 1)
    return np.clip(np.ceil(found / digits) * digits, 1e-6, most)


def _order(c: Campaign, how: Deal, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Workers of each task, one after another as groups let them, and how many there are."""
    worth = worths(c) / c["cost"]
    liking = how.pull * np.log(np.maximum(worth, 1e-12))[c["task_type"]]
    keys = liking + rng.gumbel(size=(c["n"], c["m"]))
    barred = as_pairs(c["barred"])
    keys[tuple(barred.T)] = BARRED
    for group in c["groups"]:
        owed, members = group.get("min_per_task", 0), np.asarray(group["members"])
        if owed:
            best = members[np.argsort(-keys[:, members], axis=1, kind="stable")[:, :owed]]
            np.put_along_axis(keys, best, FIRST + np.take_along_axis(keys, best, axis=1), axis=1)
    deep = min(c["m"], 3 * how.labels + LONGER)
    ranked = np.argsort(-keys, axis=1, kind="stable")[:, :deep]
    able = np.take_along_axis(keys, ranked, axis=1) > BARRED / 2
    able = _let(c, ranked, able)
    first = np.argsort(~able, axis=1, kind="stable")
    return np.take_along_axis(ranked, first, axis=1), able.sum(axis=1)


def _let(c: Campaign, ranked: np.ndarray, able: np.ndarray) -> np.ndarray:
    """Who of each task's workers, taken one after another, leaves every group within what a task may have of it."""
    limited = [(group, group.get("max_per_task") or (1 if group.get("dependent") else 0)) for group in c["groups"]]
    limited = [(group, most) for group, most in limited if most]
    inside = np.zeros((len(limited), c["m"]), bool)
    for place, (group, _) in enumerate(limited):
        inside[place, group["members"]] = True
    most = np.array([most for _, most in limited], int)[:, None]
    count = np.zeros((len(limited), c["n"]), int)
    able = able.copy()
    for place in range(ranked.shape[1] if limited else 0):
        mine = inside[:, ranked[:, place]]
        able[:, place] &= ~(mine & (count >= most)).any(axis=0)
        count += mine & able[:, place]
    return able


def _pairs(order: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The first workers of each task."""
    taken = np.arange(order.shape[1]) < count[:, None]
    return np.column_stack([np.nonzero(taken)[0], order[taken]])
