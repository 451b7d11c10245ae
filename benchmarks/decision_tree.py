"""Which method for which instance: a small tree over traits, as large as leaving one problem out says is worth it.

A tree is grown by splitting, again and again, the leaf and the trait at the threshold that lower the losses most; a
leaf uses the method of least mean loss. How many leaves is chosen by the expected loss: each problem, with all of its
programs, is left out once, and the tree of the others chooses its method.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.losses import Losses
from crowdopt.arrays import Bools, Floats
from crowdopt.bench.figures.traits import NAMES, Condition, in_words

LEAST = 3  # instances in a leaf
MOST = 6  # leaves
ENOUGH = 4  # problems that a decision needs


@dataclass(frozen=True, eq=False)
class Leaf:
    """Instances that are alike, and what is known of the methods there."""

    conditions: tuple[Condition, ...]  # all hold
    traits: Floats  # (instances, traits) float, (instances, methods) float
    loss: Floats  # (instances, traits) float, (instances, methods) float

    @cached_property
    def means(self) -> Floats:
        """(methods,): mean losses; infinite for a method that was not measured on all of the leaf's instances."""
        means: Floats = self.loss.mean(axis=0)
        return means

    @cached_property
    def ranking(self) -> list[int]:
        """Methods that can be chosen, the best first; of equals the one named first."""
        order = np.argsort(self.means, kind="stable").tolist()
        return [k for k in order if np.isfinite(self.means[k])]

    @property
    def total(self) -> float:
        """The sum of losses if the best method is used."""
        return float(self.means.min(initial=np.inf)) * len(self.loss)

    def splits(self) -> list[tuple[Leaf, Leaf]]:
        """Every way to cut it in two by one trait."""
        cuts = [(trait, at) for trait in range(len(NAMES)) for at in _thresholds(self.traits[:, trait])]
        found = []
        for trait, at in cuts:
            sides = [self._part(Condition(NAMES[trait], above, at)) for above in (False, True)]
            if all(len(side.loss) >= LEAST for side in sides):
                found.append((sides[0], sides[1]))
        return found

    def _part(self, condition: Condition) -> Leaf:
        there = condition.holds(self.traits)
        return Leaf((*self.conditions, condition), self.traits[there], self.loss[there])

    def words(self) -> str:
        """Its conditions, the narrowest of each side; empty if it has none."""
        narrow: dict[tuple[str, bool], float] = {}
        for one in self.conditions:
            known = narrow.get((one.trait, one.above), one.threshold)
            narrow[one.trait, one.above] = max(known, one.threshold) if one.above else min(known, one.threshold)
        return "; ".join(in_words(trait, at, above) for (trait, above), at in narrow.items())


def _thresholds(values: Floats) -> list[float]:
    """One between each two neighbours: half way, and of large numbers the geometric mean to two digits."""
    levels = np.unique(values)
    cuts = []
    for low, high in zip(levels[:-1].tolist(), levels[1:].tolist(), strict=True):
        middle = float(f"{np.sqrt(low * high):.2g}") if low >= 1 else (low + high) / 2
        cuts.append(middle if low <= middle < high else low)
    return cuts


def grown(losses: Losses, leaves: int) -> list[Leaf]:
    """The tree of at most so many leaves; fewer where no split helps; -> every instance belongs to one of them."""
    tree = [Leaf((), _traits(losses), losses.loss)]
    while len(tree) < leaves:
        better = [(leaf.total - low.total - high.total, k, (low, high))
                  for k, leaf in enumerate(tree) for low, high in leaf.splits()]  # fmt: skip
        gain, k, sides = max(better, key=lambda one: one[0], default=(0.0, 0, None))
        if sides is None or not gain > 1e-9:
            break
        tree[k : k + 1] = sides
    return tree


def _traits(losses: Losses) -> Floats:
    return np.array([one.numbers() for one in losses.traits]).reshape(-1, len(NAMES))


def lost(tree: list[Leaf], losses: Losses) -> Floats:
    """What following the tree loses on each instance; of a leaf's ranking the first that was measured counts.

    losses: perhaps of other instances than those that the tree was grown from; -> (instances,): infinite where no
    method of the leaf was measured.
    """
    traits = _traits(losses)
    loss = np.full(len(traits), np.inf)
    for leaf in tree:
        there = np.logical_and.reduce([one.holds(traits) for one in leaf.conditions], initial=True)
        for k in np.flatnonzero(np.broadcast_to(there, len(traits))):
            loss[k] = next((losses.loss[k, j] for j in leaf.ranking if np.isfinite(losses.loss[k, j])), np.inf)
    return loss


def left_out(losses: Losses, leaves: int) -> Floats:
    """Losses if the tree does not know the instance's problem, of at least two problems; -> (instances,)."""
    loss, problems = np.empty(len(losses.instances)), losses.problems
    for problem in np.unique(problems):
        out = problems == problem
        loss[out] = lost(grown(_only(losses, ~out), leaves), _only(losses, out))
    return loss


def _only(losses: Losses, wanted: Bools) -> Losses:
    places = np.flatnonzero(wanted).tolist()
    instances, traits = tuple(losses.instances[k] for k in places), tuple(losses.traits[k] for k in places)
    return Losses(losses.methods, instances, traits, losses.loss[wanted])


@dataclass(frozen=True, eq=False)
class MethodChoice:
    """The tree that was chosen."""

    methods: tuple[str, ...]
    tree: list[Leaf]
    # with 1, 2, … leaves, the loss on problems left out, as a factor of the virtual best's seconds (geometric mean)
    expected: list[float]
    single: str  # the single best solver: the method of the tree of one leaf

    def table(self) -> dict[str, Any]:
        """The whole as plain JSON: ``rows``, what is expected of them, and of the single best solver."""
        return {
            "rows": self.rows(),
            "expected": round(min(self.expected), 4),
            "expected_by_rows": [round(factor, 4) for factor in self.expected],
            "single": self.single,
            "single_expected": round(self.expected[0], 4),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row for each leaf, as plain JSON."""
        return [
            {
                "when": leaf.words(),
                "conditions": [[one.trait, one.above, one.threshold] for one in leaf.conditions],
                "use": [self.methods[k] for k in leaf.ranking],
                "instances": len(leaf.loss),
                "factor": round(float(np.exp(leaf.means.min())), 4),
            }
            for leaf in self.tree
        ]


def decided(losses: Losses) -> MethodChoice | None:
    """The decision that losses say; None where there are too few problems, or no method took part in all instances."""
    if len({problem for problem, _ in losses.instances}) < ENOUGH:
        return None
    single = grown(losses, 1)[0]
    if not single.ranking:
        return None
    expected = [float(np.exp(left_out(losses, leaves).mean())) for leaves in range(1, MOST + 1)]
    leaves = 1 + int(np.argmin(np.round(expected, 6)))  # of equals the smaller tree
    return MethodChoice(losses.methods, grown(losses, leaves), expected, losses.methods[single.ranking[0]])
