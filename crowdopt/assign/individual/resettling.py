"""A plan of many tasks made better: some of them, by chance, get the sets that fit best what the others leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.individual.mixing import Mixer, Mixture, dealt_of
from crowdopt.assign.individual.prices.ascent import Ascent
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import CLOSE, Sweeper
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sets_met import SetsMet
from crowdopt.core.clock import Clock

SOME = 5_000  # tasks that get other sets
VISITED = 6  # of the latest prices, whose sets the master begins with
ROUNDS = 6  # masters, each with the sets at the prices of the last
PULLS = (0.5, 0.0)  # of those prices towards the best ones


def resettle(dealt: Served, ascent: Ascent, mixer: Mixer, clock: Clock, rng: np.random.Generator) -> None:
    """Choose anew for some tasks: what the others have stays, a label too many is dear, and at most m stay mixed."""
    tasks, some = ascent.tasks, _drawn(dealt, rng)
    given = _load(dealt, some)
    room = np.maximum(0, dealt.left + given)
    part = replace(tasks.part(some), room=room, least=np.zeros_like(room), budget=None)
    mixture = _mixture(part, dealt, some, ascent, mixer, clock)
    if mixture is None:
        return
    chosen = dealt_of(mixture.sets, mixture.share, dealt.prices, dealt.hands.shape[1])
    dealt.hands[some], dealt.held[some] = chosen.hands, chosen.held
    dealt.left += given - _load(dealt, some)


def _drawn(dealt: Served, rng: np.random.Generator) -> Ints:
    """Some tasks by chance: up to half of them tasks of workers who have too many labels, the others any."""
    inside = np.arange(dealt.hands.shape[1]) < dealt.held[:, None]
    crowded = np.flatnonzero(((dealt.left < 0)[dealt.hands] & inside).any(axis=1))
    half = rng.choice(crowded, min(SOME // 2, crowded.size), replace=False)
    return np.union1d(half, rng.choice(dealt.held.size, min(SOME - half.size, dealt.held.size), replace=False))


def _load(dealt: Served, some: Ints) -> Ints:
    """How many labels of some tasks each worker has."""
    inside = np.arange(dealt.hands.shape[1]) < dealt.held[some][:, None]
    return np.bincount(dealt.hands[some][inside].astype(np.int64), minlength=dealt.left.size)


def _mixture(part: OwnTasks, dealt: Served, some: Ints, ascent: Ascent, mixer: Mixer, clock: Clock) -> Mixture | None:
    """The cheapest mixture of sets for the part's tasks; None where time ends before the first."""
    best, sweeper = ascent.best, Sweeper(part, ascent.sweeper.threads)
    assert best is not None
    met, mixture = SetsMet.none(part, dealt.hands.shape[1], sweeper.type), None
    met.add(dealt.hands[some], dealt.held[some])
    for prices in [best.prices, *ascent.visited[-VISITED:]]:
        sweep = sweeper.sweep(prices, clock, CLOSE, ascent.nodes)
        if sweep is None:
            return None
        met.add(sweep.hands, sweep.held)
    for _ in range(ROUNDS):
        better = mixer.mix(replace(met), clock)
        if better is None:
            break
        mixture, before = better, met.task.size
        for pull in PULLS:
            sweep = sweeper.sweep(mixture.prices.towards(best.prices, pull), clock, CLOSE, ascent.nodes)
            if sweep is None:
                return mixture
            met.add(sweep.hands, sweep.held)
        if met.task.size == before:
            break
    return mixture
