"""Prices by dual mirror descent with the Euclidean distance: the additive sister of multiplicative weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.online.policies.multiplicative_weights import MultiplicativeWeights


@dataclass
class MirrorDescent(MultiplicativeWeights):
    """``x_i <- max(0, x_i + x_0 eta sqrt(m) (1/m - a_ij y_ij / C_i))``: a subgradient step on the dual per arrival.

    ``lead`` is how far the price is below the going rate, in steps; it never exceeds the rate itself, which is the
    projection on x >= 0.
    """

    eta: float = 1.0

    name: ClassVar[str] = "mirror-descent"
    what: ClassVar[str] = "a price per task by subgradient steps on the dual; no program is solved"

    def factor(self) -> Floats:
        """Each task's factor, ``1 - step lead``: linear in the lead."""
        return 1.0 - self.step * self.lead

    def grown(self, step: Floats | float) -> Floats:
        """The lead after a step, projected so that no price is negative."""
        return np.minimum(self.lead + step, 1.0 / self.step)


POLICY = MirrorDescent
