"""Which method to take, and how far to believe it: known answers, or labels that were held back, speak for one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from crowdopt.answers import FROM_LABELS, Answers, majority, one_coin
from crowdopt.answers.em import tallies
from crowdopt.answers.votes import coins
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.gold import EdgedLabels, fitted
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import LARGEST, TINY, Given, Law, Tables, softmax


class ChoosingParams(NamedTuple):
    """What a choice rests on."""

    sure: float = 0.99  # chance, by Student's t, with which one of two methods is the better one
    folds: int = 5  # of each task's labels, held back in turn
    fewest: int = 20  # tasks that have to speak: with a known answer, or with two labels
    most: int = 30_000  # labels that are looked at; of more, those of evenly chosen tasks
    least: float = 1e-6  # chance that a label is given at least: none is impossible
    rounds: int = 5  # of skills and difficulty in turn, where skills are the method's own
    powers: tuple[float, ...] = tuple((0.5 ** (np.arange(10) / 2)).tolist())  # of its chances that are tried


PARAMS = ChoosingParams()


def equal(labels: Labels, truth: Any = None) -> Answers:
    """The majority, as the likeliest class by workers of one coin that they share: by EM.

    truth (tasks,): known classes, -1 where unknown: they stay what they are.
    """
    one = one_coin(replace(labels, worker=np.zeros_like(labels.worker), workers=("all",)), truth=truth)
    p, score = np.full(len(labels.workers), np.asarray(one.accuracy)[0]), majority(labels, truth).score
    law = coins(p, max(2, len(labels.classes)), TINY)
    return replace(one, method="majority", score=score, weight=np.ones_like(p), law=law, accuracy=p, iterations=0)


# of equals the first is taken
METHODS = {"majority": equal} | {name: FROM_LABELS[name] for name in ("belief-propagation", "one-coin", "dawid-skene")}


@dataclass(frozen=True)
class AutoMethod:
    """A method and what spoke for it."""

    method: str
    by_truth: bool  # by known answers, else by labels held back
    score: dict[str, float]  # share of wrong answers, or workers' mean log loss, of each method
    power: float = 1.0  # of the method's chances

    def __str__(self) -> str:
        """Which, and why."""
        if not self.score:
            return f"{self.method} was chosen: too few labels to hold any back and compare"
        others = ", ".join(f"{name} {score:.3f}" for name, score in self.score.items() if name != self.method)
        who, what = ("known answers", "wrong share") if self.by_truth else ("labels held back", "log loss")
        mine = f"{what} {self.score[self.method]:.3f}"
        return f"{self.method} was chosen: {who} speak for no other clearly, {mine} ({others})"


def chosen(labels: Labels, truth: Ints | None = None) -> AutoMethod:
    """The method that labels held back speak for, unless on known answers another errs clearly less.

    It foretells workers' labels clearly better than most others do; where none does it is the majority. Workers are the
    sample, each once: a few who err together foretell each other. Without known answers chances are taken to the power
    by which they foretell best. Labels say how workers agree, not who is right; known answers tell.

    truth (tasks,): known classes, -1 where unknown; used from 20 on.
    """
    true = np.full(len(labels.tasks), -1) if truth is None else truth
    known = np.flatnonzero((true >= 0) & (labels.per_task > 0))
    best, power, score = 0, 1.0, np.zeros(0)
    if len(labels.classes) > 1 and np.count_nonzero(labels.per_task >= 2) >= PARAMS.fewest:
        some = _only(labels, labels.task % -(-labels.task.size // PARAMS.most) == 0)
        fold = np.empty_like(some.task)  # labels of a task, in any order, are in one after another
        order = np.lexsort((np.random.default_rng(0).random(fold.size), some.task))
        fold[order] = np.arange(fold.size) % PARAMS.folds
        losses = np.stack([_losses(some, fold, name) for name in METHODS])[..., some.counts > 0]
        powers = losses.sum(axis=2).argmin(axis=1)
        mean = losses[np.arange(len(METHODS)), powers] / some.counts[some.counts > 0]
        best, score = int((_clear(mean).sum(axis=1) - _clear(mean).sum(axis=0)).argmax()), mean.mean(axis=1)
        power = PARAMS.powers[powers[best]]
    if by_truth := known.size >= PARAMS.fewest:
        wrong = np.stack([1.0 * (fit(labels).answer != true)[known] for fit in METHODS.values()])
        score, power = wrong.mean(axis=1), 1.0
        best = int(score.argmin()) if _clear(wrong)[score.argmin(), best] else best
    return AutoMethod(list(METHODS)[best], by_truth, dict(zip(METHODS, score.tolist(), strict=False)), power)


def _clear(loss: Floats) -> Bools:
    """Whether the first method's mean is clearly below the second's, (methods, methods); loss (methods, sample)."""
    lead, size = loss - loss[:, None], loss.shape[1]
    doubt = lead.std(axis=2, ddof=1) / np.sqrt(size)
    return np.asarray(lead.mean(axis=2) > stdtrit(size - 1, PARAMS.sure) * doubt, np.bool_)


def _only(labels: Labels, kept: Bools) -> Labels:
    return replace(labels, task=labels.task[kept], worker=labels.worker[kept], label=labels.label[kept])


def _losses(labels: Labels, fold: Ints, name: str) -> Floats:
    """``-sum ln sum_k P(k)^power P(label | k, worker)`` over each worker's labels, (powers, workers).

    P(k) is by the labels of other folds; workers speak as their other labels show, held against these chances.
    """
    logs, losses = np.empty((fold.size, len(labels.classes))), []
    for k in range(PARAMS.folds):
        seen = _only(labels, fold != k)
        chance = heeding(METHODS[name](seen), seen).posterior[labels.task[fold == k]]
        logs[fold == k] = np.log(np.maximum(chance, PARAMS.least))
    for power in PARAMS.powers:
        chance = softmax(power * logs)
        count = tallies(labels, chance) + 1 / logs.shape[1]
        speech = count[labels.worker, :, labels.label] - chance
        speech /= count.sum(axis=2)[labels.worker] - chance
        loss = -np.log(np.maximum((chance * speech).sum(axis=1), PARAMS.least))
        losses.append(np.bincount(labels.worker, loss, len(labels.workers)))
    return np.stack(losses)


def heeding(answers: Answers, labels: Labels, truth: Ints | None = None) -> Answers:
    """The same answers with confidences that integrate over the difficulty of tasks, where labels show any.

    For methods that know how workers speak; others' answers come back as they are. On a hard task a worker's table is
    drawn towards what it says whatever is true: ``P_h(l | k) = m(l) + s (P(l | k) - m(l))``, m the mean over classes.

    truth (tasks,): known classes, -1 where unknown: where several labelled such a task their common errors show most.
    """
    law, likelihood, shape = answers.law, answers.likelihood, answers.score.shape
    # of a majority not: where unequal workers are taken for equal, tasks look unequal
    if law is None or likelihood is None or shape[1] < 2 or answers.method == "majority":
        return answers
    said, workers = Given(labels.task, 0, labels.worker, labels.label), np.arange(len(labels.workers))
    beside = likelihood - law.likelihood(said, shape[0])  # of the prior, or of a known answer
    table = law.table(0, workers)[0]
    for _ in range(PARAMS.rounds if answers.iterations else 1):
        mean = table.mean(axis=1, keepdims=True)
        lean = table / mean - 1
        edge = np.diagonal(lean, axis1=1, axis2=2)[labels.worker, labels.label] / (shape[1] - 1)
        hard = fitted(EdgedLabels(labels.task, labels.label, edge, shape), truth)
        if not hard.share:
            return answers
        # no edge is above LARGEST on any task
        parts = np.stack([mean * np.maximum(1 + scale * lean, 1 - LARGEST) for scale in (hard.easy, hard.hard)])
        speech = Tables((parts / parts.sum(axis=-1, keepdims=True))[:, None])
        law = Law(np.array([1 - hard.share, hard.share]), speech)
        heeded = replace(answers, law=law, likelihood=beside + law.by_part(said, shape[0]), difficulty=hard)
        count = tallies(labels, heeded.posterior[labels.task])
        table = (count + 1 / shape[1]) / (count + 1 / shape[1]).sum(axis=2, keepdims=True)
        if answers.confusion is None:
            right = (np.trace(count, axis1=1, axis2=2) + 1) / (labels.counts + 2)
            table = coins(right, shape[1], TINY).table(0, workers)[0]
    return heeded
