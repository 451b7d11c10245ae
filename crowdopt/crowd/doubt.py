"""What gold leaves open: errors of a plan over crowds whose gold would look like this one's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.gold import Gold, Told
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import NONE, Difficulty, Law
from crowdopt.crowd.skills import AGREEMENT
from crowdopt.crowd.vote_errors import errors_at, errors_by, most_errors


class DoubtParams(NamedTuple):
    """Numbers of what gold leaves open."""

    draws: int = 100  # of the skills of all workers
    shares: tuple[float, float] = (0.5, 0.99)  # of crowds that so many draws can tell of
    # tasks whose errors are computed in each, drawn from the plan's: as many as have so many pairs of labels, some if
    # these have no more labels than so many: the mean over few tasks, and so few workers, spreads more than that of all
    pairs: int = 10_000
    some: tuple[int, int] = (30, 1200)
    fewest: int = 3
    more: int = 10  # times as many tasks, over which errors are computed as planned
    labels: int = 150  # of them all, in place of pairs, where votes are simulated: among more classes
    seed: int = 0


PARAMS = DoubtParams()
SAME = 1e-9  # an instance keeps ten digits of skills
SHARE = 0.95  # of the draws, in which errors are at most as large as is said


class LeftOpen(NamedTuple):
    """Errors of a plan over crowds whose gold would look like this."""

    fewest: int  # gold answers of a worker to a type of which they label tasks
    most: int
    mean: float  # error of an answer, over tasks and crowds
    high: float  # mean error over tasks, which a share of the crowds stay below
    share: float

    def __str__(self) -> str:
        each = f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"
        share = Fraction(self.share).limit_denominator(PARAMS.draws)
        return (
            f"with {each} gold answers a worker, errors are {100 * self.mean:.3g} % on average, and at most "
            f"{100 * self.high:.3g} % in {share.numerator} of {share.denominator} crowds that fit this gold"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """The same for plan.json."""
        return {**self._asdict(), "says": str(self)}


def left_open(
    instance: AssignmentInstance, pairs: Ints, share: float = SHARE, params: DoubtParams = PARAMS
) -> LeftOpen | None:
    """What a plan errs with under skills that are drawn as gold leaves them open, votes weighed as planned.

    instance: read from a campaign; pairs (k, 2): task and worker; share: of the draws, that err at most as the larger
    figure says; -> None where skills do not rest on gold, or labels are in, whose say depends on the skills as well.
    """
    errors = drawn_errors(instance, pairs, params)
    if errors is None:
        return None
    asked = instance.origin.gold.asked  # type: ignore[union-attr]
    asked = asked[instance.task_type[pairs[:, 0]] if len(asked) > 1 else 0, pairs[:, 1]]
    high = np.quantile(errors, share, method="higher")
    return LeftOpen(int(asked.min()), int(asked.max()), float(errors.mean()), float(high), share)


def drawn_errors(instance: AssignmentInstance, pairs: Ints, params: DoubtParams = PARAMS) -> Floats | None:
    """The mean error of a plan's answers in each draw, (draws,); None as for :func:`left_open`."""
    gold = None if len(instance.collected) or not len(pairs) else gold_of(instance)
    if gold is None or gold.told_by == AGREEMENT:
        return None
    told = told_to(gold, instance) if gold.tables is None else None
    easy = NONE if told is None else told.difficulty  # by which gold's skills became those on easy tasks
    (every, count), simulated = np.unique(pairs[:, 0], return_counts=True), instance.confusion is not None
    simulated |= instance.classes > 2
    least = min(params.some[0], params.some[1] / count.mean())
    enough = params.labels / count.mean() if simulated else max(least, params.pairs / (count**2).mean())
    size = min(every.size, int(max(params.fewest, enough)))
    rng, hard = np.random.default_rng(params.seed), instance.difficulty
    more = np.random.default_rng(params.seed).choice(
        every, min(every.size, params.more * size), replace=False
    )  # whose errors are computed once
    tasks = np.sort(more[:size])
    some = pairs[np.isin(pairs[:, 0], tasks)]
    workers, place = np.unique(some[:, 1], return_inverse=True)
    if simulated:
        laws = (_law_drawn(gold, instance, rng, workers, easy) for _ in range(params.draws))
        errors = np.array([errors_by(instance, law, tasks, some).mean() for law in laws])
        own = instance.law if instance.confusion is not None else instance.coins
        if instance.confusion is None:
            known = most_errors(instance, some)[tasks].mean()
        else:
            more.sort()
            known = errors_by(instance, own, more, pairs[np.isin(pairs[:, 0], more)]).mean()
        return errors + known - errors_by(instance, own, tasks, some).mean()  # by the same numbers, but for their mean
    cell = (instance.task_type[some[:, 0]] if len(gold.correct) > 1 else 0), place.reshape(-1)
    skill = np.stack([gold.drawn(rng, workers, easy)[cell] for _ in range(params.draws)])
    errors = errors_at(instance, tasks, some, skill).mean(axis=1)
    if hard.share:
        errors = hard.mixed(errors, errors_at(instance, tasks, some, hard.on_hard(skill)).mean(axis=1))
    exact = most_errors(instance, pairs[np.isin(pairs[:, 0], more)])
    return errors * (exact[more].mean() / exact[tasks].mean())


def _law_drawn(
    gold: Gold, instance: AssignmentInstance, rng: np.random.Generator, workers: Ints, easy: Difficulty
) -> Law:
    """The instance's law, but for these workers' skills, which are drawn."""
    if instance.confusion is not None:
        tables = instance.confusion.copy()
        tables[:, workers] = gold.drawn_tables(rng, workers)
        return Law.tables(tables)
    skill = instance.accuracy.copy()
    skill[:, workers] = gold.drawn(rng, workers, easy)
    return Law.coins(skill, int(instance.classes), instance.difficulty)


def gold_of(instance: AssignmentInstance) -> Gold | None:
    """The gold that an instance's skills come from; None where others took their place, or workers or types changed."""
    origin = instance.origin
    if origin is None or origin.gold is None:
        return None
    gold, known = origin.gold, origin.instance
    same = (instance.workers, instance.types) == (known.workers, known.types)
    if not same or instance.accuracy.shape != known.accuracy.shape:
        return None
    if gold.tables is None:
        tells = instance.confusion is None and told_to(gold, instance) is not None
    else:
        mine, theirs = instance.confusion, known.confusion
        tells = mine is not None and theirs is not None and np.array_equal(mine, theirs)
    return gold if tells else None


def told_to(gold: Gold, instance: AssignmentInstance) -> Told | None:
    """What an instance counts with, with the law of votes or without; None where that is not what gold tells."""
    each = (gold.told(instance.n_types, rule) for rule in dict.fromkeys((instance.rule, "")))
    return next((one for one in each if np.allclose(instance.accuracy, one.accuracy, rtol=0, atol=SAME)), None)
