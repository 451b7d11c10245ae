"""Crowds that break the model in one known way, so that one can see what a policy's claims are worth then."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.named_numbers import named_numbers
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Stream
from crowdopt.online.crowds import CLIQUE, HARD, Simulated


@dataclass(frozen=True)
class Misspecification:
    """How far a crowd departs from independent workers of one accuracy each; all 0: not at all."""

    # share of tasks that are hard: all workers guess. The others are so much easier that each worker's mean accuracy
    # stays what it is, as far as certainty allows; labels of a task are no longer independent
    difficulty: float = 0.0
    # share of workers who collude: they all say the same of each task, right as often as guesses are. Gold shows it,
    # agreement shows the contrary
    clique: float = 0.0
    # what a worker's accuracy loses from the first label to the last one, gold included, but never below a guess
    drift: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) < 1:
                raise InputError(f"{field.name} must lie in [0, 1), not {getattr(self, field.name)}")

    @property
    def is_none(self) -> bool:
        """Whether the model holds."""
        return not (self.difficulty or self.clique or self.drift)

    def __str__(self) -> str:
        sizes = [f"{field.name}={value:g}" for field in fields(self) if (value := getattr(self, field.name))]
        return ",".join(sizes)


def breach(text: str) -> Misspecification:
    """A breach as it is written: ``difficulty=.3``, ``clique=.2,drift=.1``, or nothing."""
    return Misspecification(**named_numbers(text, Misspecification, "a breach", "difficulty=.3"))


@dataclass(frozen=True, eq=False)
class Breached(Simulated):
    """A simulated crowd under a breach: the same chances for the same pairs, held against other accuracies.

    With ``drift`` a label depends on how many the worker has given before; such a run is not resumed but begun anew.
    """

    breach: Misspecification
    member: NDArray[np.bool_]  # (workers,)
    given: Ints  # (workers,): labels of each worker so far, gold included

    def chances(self, worker: int) -> Floats:
        """What the worker's labels are compared with; members of the clique share theirs."""
        if self.member[worker]:
            return np.random.default_rng([*self.seed, CLIQUE, 1]).random(self.instance.n_tasks)
        return super().chances(worker)

    def accuracy(self, worker: int, tasks: NDArray[np.integer]) -> Floats:
        """Accuracy now, on these tasks."""
        mean = self._drifted(super().accuracy(worker, tasks), worker, self._count(worker, tasks.size))
        if not self.breach.difficulty:
            return mean
        guess = 1 / self.instance.classes
        return np.where(self.hard[tasks], guess, _eased(mean, self.breach.difficulty, guess))

    def gold_accuracy(self, arrival: Arrival, kind: int, count: int) -> Floats:
        """Accuracy on the worker's next gold tasks, which are as often hard as any."""
        told = super().gold_accuracy(arrival, kind, count)
        if arrival.preliminary:
            return told
        return self._drifted(told, arrival.number, self._count(arrival.number, count))

    def _count(self, worker: int, labels: int) -> Ints:
        before = int(self.given[worker]) + np.arange(labels)
        self.given[worker] += labels
        return before

    def _drifted(self, accuracy: Floats, worker: int, before: Ints) -> Floats:
        if not self.breach.drift:
            return accuracy
        share = np.minimum(1.0, before / max(1, int(self.instance.capacity[worker]) - 1))
        return np.minimum(accuracy, np.maximum(1 / self.instance.classes, accuracy - self.breach.drift * share))


def _eased(accuracy: Floats, share: float, guess: float) -> Floats:
    """``b + (p - b) / (1 - share)``, within [0, 1]: accuracy on easy tasks if a share is hard; b is a guess's."""
    return np.clip(guess + (accuracy - guess) / (1 - share), 0.0, 1.0)


def breached(stream: Stream, how: Misspecification) -> Stream:
    """The stream with its crowd under a breach; without any, the stream itself.

    The instance's accuracies become the workers' mean accuracies under the breach (with drift, those of a first label).
    """
    if how.is_none:
        return stream
    crowd = stream.crowd
    if not isinstance(crowd, Simulated):
        raise InputError("recorded labels break the model in their own way; take the breach out")
    instance = crowd.instance
    if how.difficulty and instance.difficulty.share:
        raise InputError(
            "the campaign has hard tasks itself; take difficulty out of the breach, or out of the campaign"
        )
    share = how.difficulty or instance.difficulty.share
    hard = np.random.default_rng([*crowd.seed, HARD]).random(instance.n_tasks) < share
    member = np.random.default_rng([*crowd.seed, CLIQUE]).random(instance.n_workers) < how.clique
    arriving = replace(instance, accuracy=_mean(instance, how, member))
    given = np.zeros(instance.n_workers, np.int64)
    crowd = Breached(arriving, crowd.preliminary, crowd.truth, crowd.seed, hard, how, member, given)
    return replace(stream, instance=arriving, crowd=crowd)


def _mean(instance: AssignmentInstance, how: Misspecification, member: NDArray[np.bool_]) -> Floats:
    share, guess = how.difficulty, 1 / instance.classes
    mean = (1 - share) * _eased(instance.accuracy, share, guess) + share * guess if share else instance.accuracy
    return np.where(member, guess, mean)
