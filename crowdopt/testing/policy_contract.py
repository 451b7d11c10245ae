"""The contract of an online policy as checks that can be run anywhere the policy is registered.

Small streams of workers with everything in them, and the same with another future or other skills.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.crowd.alike import of_workers
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.online.arrivals import Arrival, Crowd, Stream
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import Replay
from crowdopt.solvers import solve_program
from crowdopt.testing.backend_contract import Check, need
from crowdopt.verbs.solve import solve


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
    duals = solve(instance, program="lp").duals
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


ARRIVALS = (1, 6, 13, 20)  # where the future changes


def policy_checks(policy: str) -> list[Check]:
    """What every policy is held to, on a small stream with types, prices, targets and forbidden pairs.

    Capacities, forbidden pairs and repeated pairs are looked at by the replay itself at every decision.

    Parameters
    ----------
    policy : str
        Name and options, as ``mine:least=.4``, of a policy that is installed: ours, or one under the entry point
        ``crowdopt.online.policies``.

    Returns
    -------
    list of Check

    Raises
    ------
    InputError
        If there is no such policy or option.
    """
    made = named(policy)
    checks = [
        Check(f"{policy}: equal seeds give equal runs", partial(equal_seeds, policy)),
        *(Check(f"{policy}: causal at arrival {at}", partial(causal, policy, at)) for at in ARRIVALS),
    ]
    if not made.shows_skill:
        checks.append(Check(f"{policy}: true skills and truth are not looked at", partial(blind, policy)))
    return checks


def start(policy: str, of: Stream) -> Replay:
    """A replay at its beginning."""
    return Replay(named(policy), of, 0, solve_program)


def decisions(policy: str, of: Stream, arrivals: int) -> dict[str, NDArray[Any]]:
    """All that was asked up to an arrival, of whom, and what came back."""
    return start(policy, of).advance(arrivals).ledger.arrays()


def _alike(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]], told: str) -> None:
    differing = [name for name in one if not np.array_equal(one[name], other[name])]
    need(not differing, f"{told}: {', '.join(differing)} differ")


def equal_seeds(policy: str) -> None:
    """Chance is an argument: a policy that draws from elsewhere, or keeps what it learnt, runs another way again."""
    of = stream()
    _alike(decisions(policy, of, 20), decisions(policy, of, 20), "the same run twice")


def causal(policy: str, at: int) -> None:
    """Two streams that agree up to an arrival agree in every decision up to it, whatever is later or never told."""
    of = stream()
    told = f"what comes after arrival {at} changes what was asked before"
    _alike(decisions(policy, of, at), decisions(policy, scrambled(of, at), at), told)


def blind(policy: str) -> None:
    """A policy that asks gold learns skills from labels alone: overwriting the skills themselves changes nothing."""
    of = stream()
    told = "other true skills behind the same labels change what is asked"
    _alike(decisions(policy, of, 20), decisions(policy, without_skills(of), 20), told)
