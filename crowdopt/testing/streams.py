"""Small streams of workers with everything in them, and the same with another future or other skills."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdopt.api.assign import assign
from crowdopt.arrays import Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.subset import of_workers
from crowdopt.online.arrivals import Arrival, Crowd, Stream
from crowdopt.online.crowds import simulated_stream


def crowd(seed: int = 0, tasks: int = 24, workers: int = 20, types: int = 2) -> AssignmentInstance:
    """Two types, two error targets, prices, a few forbidden pairs."""
    rng = np.random.default_rng(seed)
    return AssignmentInstance(
        accuracy=rng.uniform(0.5, 0.95, (types, workers)),
        task_type=np.arange(tasks) % types,
        capacity=rng.integers(tasks // 2, tasks, workers),
        epsilon=np.where(np.arange(tasks) % 3 == 0, 0.2, 0.3),
        cost=rng.integers(1, 4, workers).astype(float),
        forbidden=[(k, 3 * k) for k in range(5)],
        rule="hoeffding",
    )


def stream(seed: int = 0, **options: int) -> Stream:
    """A simulated stream with preliminary workers and clairvoyant prices."""
    instance = crowd(seed, **options)
    duals = assign(instance, program="lp").duals
    return simulated_stream(instance, (seed, 1), preliminary=20, prices=None if duals is None else duals.task)


@dataclass(frozen=True, eq=False)
class Noisy:
    """A crowd that answers like another one up to an arrival, and at random from then on."""

    crowd: Crowd
    until: int
    seed: int = 99

    def gold(self, arrival: Arrival, counts: Ints) -> tuple[Ints, Ints]:
        """The other crowd's, or half of them right."""
        if arrival.preliminary or arrival.number < self.until:
            return self.crowd.gold(arrival, counts)
        rng = np.random.default_rng([self.seed, arrival.number])
        return rng.binomial(counts, 0.5), counts

    def label(self, worker: int, tasks: NDArray[np.integer]) -> Ints:
        """The other crowd's, or a coin's."""
        if worker < self.until:
            return self.crowd.label(worker, tasks)
        return np.random.default_rng([self.seed, worker]).integers(0, 2, len(tasks))


def scrambled(of: Stream, until: int) -> Stream:
    """Another future from an arrival on: other skills, capacities, prices and labels; and another truth altogether."""
    instance, rng = of.instance, np.random.default_rng(7)
    m = instance.n_workers
    order = np.concatenate([np.arange(until), until + rng.permutation(m - until)])
    changed = of_workers(instance, order)
    accuracy, capacity, cost = changed.accuracy.copy(), changed.capacity.copy(), changed.cost.copy()
    accuracy[:, until:] = rng.uniform(0, 1, (instance.n_types, m - until))
    capacity[until:], cost[:, until:] = rng.integers(0, 5, m - until), rng.uniform(1, 9, m - until)
    noisy = replace(changed, accuracy=accuracy, capacity=capacity, cost=cost)
    truth = rng.integers(0, 2, instance.n_tasks)
    return Stream(noisy, Noisy(of.crowd, until), truth, of.preliminary, of.prices)


def without_skills(of: Stream) -> Stream:
    """The true skills and the truth overwritten with noise; the labels that were given stay what they are."""
    rng = np.random.default_rng(8)

    def noise(instance: AssignmentInstance) -> AssignmentInstance:
        return replace(instance, accuracy=rng.uniform(0, 1, instance.accuracy.shape))

    truth = rng.integers(0, 2, of.instance.n_tasks)
    earlier = None if of.preliminary is None else noise(of.preliminary)
    return Stream(noise(of.instance), of.crowd, truth, earlier, of.prices)
