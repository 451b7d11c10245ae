"""The least price of a task whose workers each have a skill of their own, over beliefs: what proves a bound."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.order_kernels import Knots, WorkerVotes, settled, splits, within
from crowdopt.assign.cascade.panels import SkillPanel

BEYOND, HIGHEST = 4.0, 16.0  # log-odds from the surest target to the last knot; of the last knot at most
TINY = 1e-13  # a chance below this counts as this where log-odds are rounded
SWEEPS, TOLERANCE = 10_000, 1e-11  # of the price of a task; relative to the dearest answer


@dataclass(eq=False)
class BeliefPrices:
    """Prices at beliefs whose log-odds are the multiples of ``step``; what was found last is where the next begins.

    Two things make them lower than what policies cost, never higher: a worker may be asked again and again, and
    posteriors between two knots are shared out between them.
    """

    panel: SkillPanel
    step: float
    expert: float | None
    adds: Ints = field(init=False)  # (kinds, workers, 2): steps that a label moves the log-odds
    belief: Floats = field(init=False)
    _moves: list[tuple[Floats, np.ndarray, Floats]] = field(init=False)
    _last: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        likely = self.panel.likely
        surest = min(float(self.panel.epsilon.min()), *(float(one.law.min()) for one in self.panel.starts))
        highest = min(HIGHEST, BEYOND + float(np.log(1 / max(surest, TINY))))
        above: Floats = 1 / (1 + np.exp(-np.arange(1, int(highest / self.step) + 1) * self.step))
        self.belief = np.concatenate([(1 - above)[::-1], [0.5], above])
        odds = np.log(np.maximum(np.stack([1 - likely, likely], axis=2), TINY))  # kind, worker, label, class
        self.adds = np.rint((odds[..., 1] - odds[..., 0]) / self.step).astype(np.int64)
        nothing = np.zeros(likely.shape[1])
        self._moves = [splits(WorkerVotes(*of, nothing), self.belief) for of in zip(likely, self.adds, strict=True)]

    def knots(self, kind: int, proof: PolicyProof, asking: Floats) -> Knots:
        """Beliefs and prices of a kind; asking (workers,): what a vote costs."""
        stop = answer = np.asarray(proof.error[kind] * np.minimum(self.belief, 1 - self.belief))
        if self.expert is not None:
            stop = np.minimum(answer, self.expert * (1 - proof.budget))
        least, scale = float(asking.min()), float(max(1e-9, stop.max()))
        if least <= 1e-6 * scale:
            labels = min(asking.size, int(self.panel.instance.max_labels[self.panel.first[kind]]))
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
        total = sum(one.tasks.size * self.at(knots[one.kind], float(one.law[1])) for one in self.panel.starts)
        return total + self.panel.allowed(proof, times)
