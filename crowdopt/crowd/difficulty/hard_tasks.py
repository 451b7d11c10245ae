"""Tasks that are hard for all workers: how many there are, what is left of skill on them, and what labels say then.

A task is hard with chance h; there a worker of accuracy p is right with chance ``1/2 + s (p - 1/2)`` (s < 0: misled).
Workers who err independently on each task then err together over tasks: labels of a task agree more often, and more
often disagree, than their skills explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.errors import InputError

LARGEST = 0.98  # edge of anybody on any task


@dataclass(frozen=True)
class Difficulty:
    """How hard tasks are, in units of the edge ``2p - 1`` that is believed of each worker."""

    share: float = 0.0  # h, chance that a task is hard; 0: none is
    # the edge on a hard task and on any other one, over the edge believed; s is their ratio
    hard: float = 1.0
    easy: float = 1.0
    # 95 % interval of h by the profile likelihood
    low: float = 0.0
    high: float = 0.0
    # that of s
    least: float = 1.0
    most: float = 1.0
    gain: float = 0.0  # nats by which it explains the labels better than h = 0 does

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1 or self.easy <= 0 or abs(self.hard) > self.easy:
            raise InputError(
                f"a share of hard tasks lies in [0, 1) and the edge there within that on easy tasks, "
                f"not {self.share:g}, {self.hard:g} and {self.easy:g}"
            )

    @property
    def left(self) -> float:
        """s, what is left of a worker's edge on a hard task."""
        return self.hard / self.easy

    @property
    def mean(self) -> float:
        """``1 - h + h s``, the mean edge over that on an easy task: what gold shows of a worker."""
        return 1 - self.share * (1 - self.left)

    def array(self) -> Floats:
        """All numbers, for a snapshot."""
        return np.array([self.share, self.hard, self.easy, self.low, self.high, self.least, self.most, self.gain])

    def __str__(self) -> str:
        """What is said of it wherever a claim rests on it."""
        if not self.share:
            return "no task is harder than others, as far as labels show"
        share, low, high, left, least, most = (
            round(100 * x) for x in (self.share, self.low, self.high, self.left, self.least, self.most)
        )
        return (
            f"about {share} % of the tasks ({low} to {high} %) are hard: there {left} % ({least} to {most} %) of a "
            "worker's edge over guessing is left"
        )


NONE = Difficulty()


def as_difficulty(given: Difficulty | Sequence[float]) -> Difficulty:
    """A difficulty, or the pair of its share of hard tasks and what is left of a worker's edge there."""
    if isinstance(given, Difficulty):
        return given
    try:
        share, left = map(float, given)
    except (TypeError, ValueError):
        raise InputError(
            f"difficulty is the share of hard tasks and what is left of skill there, as in (.1, .5), not {given!r}"
        ) from None
    return Difficulty(share, left)
