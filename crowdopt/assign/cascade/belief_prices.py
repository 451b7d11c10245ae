"""The least price of a task whose workers each have a skill of their own, over beliefs: what proves a bound."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.order_kernels import Knots, WorkerVotes, settled, splits, within
from crowdopt.crowd.states.own_skills import OwnSkills

BEYOND, HIGHEST = 4.0, 16.0  # log-odds from the surest target to the last knot; of the last knot at most
TINY = 1e-13  # a chance below this counts as this where log-odds are rounded
SWEEPS, TOLERANCE = 10_000, 1e-11  # of the price of a task; relative to the dearest answer


@dataclass(eq=False)
class BeliefPrices:
    """Prices at beliefs whose log-odds are the multiples of ``step``; what was found last is where the next begins.

    Two things make them lower than what policies cost, never higher: a worker may be asked again and again, and
    posteriors between two knots are shared out between them.
    """

    problem: OwnSkills
    step: float
    expert: float | None
    adds: list[np.ndarray] = field(init=False)  # of each kind (workers, 2): steps that a label moves the log-odds
    belief: Floats = field(init=False)
    _moves: list[tuple[Floats, np.ndarray, Floats]] = field(init=False)
    _last: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        knots = np.arange(1, int(self._highest() / self.step) + 1) * self.step
        above: Floats = 1 / (1 + np.exp(-knots))
        self.belief = np.concatenate([(1 - above)[::-1], [0.5], above])
        self.adds = [self._added(likely) for likely in self.problem.likely]
        nothing = np.zeros(self.problem.instance.n_workers)
        some = zip(self.problem.likely, self.adds, strict=True)
        self._moves = [splits(WorkerVotes(likely, adds, nothing), self.belief) for likely, adds in some]

    def _highest(self) -> float:
        """Log-odds of the last knot: where targets and starts are, and what is next to certain beside."""
        surest = min(float(self.problem.epsilon.min()), *(float(one.law.min()) for one in self.problem.starts))
        return min(HIGHEST, BEYOND + float(np.log(1 / max(surest, TINY))))

    def _added(self, likely: Floats) -> np.ndarray:
        chance = np.stack([1 - likely, likely])  # label, worker, class
        odds = np.log(np.maximum(chance, TINY))
        return np.ascontiguousarray(np.rint((odds[:, :, 1] - odds[:, :, 0]).T / self.step).astype(np.int64))

    @property
    def middle(self) -> int:
        """The knot of belief 1/2."""
        return self.belief.size // 2

    def asking(self, proof: PolicyProof) -> Floats:
        """What a vote costs beside capacities, money and other limits, (kinds, workers)."""
        limits = proof.capacity + sum(
            (row.weight * dual for row, (*_, dual) in zip(self.problem.label_rows, proof.limits, strict=True)),
            np.zeros(self.problem.price.shape),
        )
        return self.problem.price * (1 - proof.budget) - limits

    def of_expert(self, proof: PolicyProof) -> float:
        """What the expert costs beside money; infinite where there is none."""
        return np.inf if self.expert is None else self.expert * (1 - proof.budget)

    def knots(self, kind: int, proof: PolicyProof, asking: Floats) -> Knots:
        """Beliefs and prices of a kind; asking (workers,): what a vote costs."""
        answer: Floats = proof.error[kind] * np.minimum(self.belief, 1 - self.belief)
        stop = np.minimum(answer, self.of_expert(proof))
        least, scale = float(asking.min()), float(max(1e-9, stop.max()))
        if least <= 1e-6 * scale:
            task = self.problem.first[kind]
            labels = min(self.problem.instance.n_workers, int(self.problem.instance.max_labels[task]))
            value = within(asking, self._moves[kind], stop, labels)
            return Knots(self.belief, answer, stop, value[1:-1].copy(), float(value[0]))
        begin = np.minimum(stop, self._last.get(kind, stop))
        value, above = settled(asking, self._moves[kind], stop, begin, SWEEPS, TOLERANCE * scale)
        self._last[kind] = value
        # where V is above its right side by no more than this, V shrunk a little is below it: asking costs ``least``
        return Knots(self.belief, answer, stop, value * (1 - above / (least + above)), 0.0)

    def at(self, knots: Knots, belief: float) -> float:
        """The price at a belief, from those at the knots beside it."""
        places = np.concatenate([[0.0], self.belief, [1.0]])
        return float(np.interp(belief, places, np.concatenate([[knots.sure], knots.value, [knots.sure]])))

    def bound(self, proof: PolicyProof, knots: list[Knots], times: float) -> float:
        """``sum n V - mu epsilon n + sum M w + budget``: below what every adaptive plan costs; knots: by kind."""
        problem, instance = self.problem, self.problem.instance
        total = sum(one.tasks.size * self.at(knots[one.kind], float(one.law[1])) for one in problem.starts)
        total -= float((proof.error * times * problem.epsilon * problem.tasks_in).sum())
        total += float((instance.capacity * proof.capacity).sum())
        total += sum(row.side * dual for row, (*_, dual) in zip(problem.label_rows, proof.limits, strict=True))
        return float(total + proof.budget * (instance.budget or 0.0))
