"""Which method to take: the one that known answers, or labels that were held back, speak for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.answers.em import dawid_skene, one_coin
from crowdopt.answers.heeding import heeding
from crowdopt.answers.propagation import belief_propagation
from crowdopt.answers.voted import Answers
from crowdopt.answers.votes import majority
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.labels import Labels

METHODS = {
    "majority": majority,
    "one-coin": one_coin,
    "belief-propagation": belief_propagation,
    "dawid-skene": dawid_skene,
}
USUAL = "belief-propagation"  # where nothing speaks clearly against it
CLEAR = 2.0  # standard errors, over tasks, by which another has to foretell labels better
FOLDS = 3  # a label of each is held back in turn
FEWEST = 20  # tasks that have to speak: with a known answer, or with two labels
MOST = 30_000  # labels that are looked at; of more, those of evenly chosen tasks
LEAST = 1e-6  # chance that a label is given at least: none is impossible


@dataclass(frozen=True)
class AutoMethod:
    """A method and what spoke for it."""

    method: str
    by_truth: bool  # by known answers, else by labels held back
    score: dict[str, float]  # share of wrong answers, or mean log loss, of each method

    def __str__(self) -> str:
        """Which, and why."""
        if not self.score:
            return f"{self.method} was chosen: too few labels to hold any back and compare"
        others = ", ".join(f"{name} {self.score[name]:.3f}" for name in self.score if name != self.method)
        if self.by_truth:
            what = "errs least on known answers, wrong share"
        elif self.score[self.method] == min(self.score.values()):
            what = "foretells labels held back best, log loss"
        else:
            what = "no other foretells labels held back clearly better, log loss"
        return f"{self.method} was chosen: {what} {self.score[self.method]:.3f} ({others})"


def chosen(labels: Labels, truth: Ints | None = None) -> AutoMethod:
    """The method with the fewest errors on known answers, or else the one that labels held back speak for.

    That is belief propagation, unless another foretells them better by two standard errors. Labels say how workers
    agree, not who is right: where workers share their errors the best forecast may err more than the majority; known
    answers tell.

    truth (tasks,): known classes, -1 where unknown; used from 20 on.
    """
    if len(labels.classes) < 2:
        return AutoMethod(USUAL, False, {})
    known = np.zeros(0, np.int64) if truth is None else np.flatnonzero((truth >= 0) & (labels.per_task > 0))
    if truth is not None and known.size >= FEWEST:
        errors = {name: _error(method(labels), truth, known) for name, method in METHODS.items()}
        fewest = min(errors.values())
        tied = [name for name, error in errors.items() if error == fewest]
        return AutoMethod(USUAL if USUAL in tied else tied[0], True, errors)
    if np.count_nonzero(labels.per_task >= 2) < FEWEST:
        return AutoMethod(USUAL, False, {})
    some = _part(labels)
    losses = {name: _held_back(some, name) for name in METHODS}
    best = min(losses, key=lambda name: losses[name].sum())
    method = best if _is_clear(losses[USUAL] - losses[best], some) else USUAL
    return AutoMethod(method, False, {name: float(loss.sum() / some.task.size) for name, loss in losses.items()})


def _is_clear(lead: Floats, labels: Labels) -> bool:
    """Whether the sum over tasks is so many of its standard errors above 0."""
    each = lead[labels.per_task > 0]
    return bool(each.sum() > CLEAR * np.sqrt(each.size * each.var(ddof=1)))


def _error(answers: Answers, truth: Ints, known: Ints) -> float:
    return float((answers.answer[known] != truth[known]).mean())


def _part(labels: Labels) -> Labels:
    step = -(-labels.task.size // MOST)
    return labels if step == 1 else _only(labels, labels.task % step == 0)


def _only(labels: Labels, kept: Bools) -> Labels:
    return replace(labels, task=labels.task[kept], worker=labels.worker[kept], label=labels.label[kept])


def _held_back(labels: Labels, name: str) -> Floats:
    """Log loss of each task's labels, (tasks,), each foretold from those of the other folds."""
    order = np.argsort(labels.task, kind="stable")
    starts = np.cumsum(labels.per_task) - labels.per_task
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size) - starts[labels.task[order]]
    fold = (place + labels.task) % FOLDS
    each = [_loss(_only(labels, fold != k), _only(labels, fold == k), name) for k in range(FOLDS)]
    return np.asarray(np.sum(each, axis=0))


def _loss(seen: Labels, hidden: Labels, name: str) -> Floats:
    """``-sum ln sum_k P(k | seen) P(label | k, worker)`` over the hidden labels of each task, (tasks,)."""
    if name == "majority":  # one coin that all workers share: its likeliest class is the majority's
        answers = one_coin(replace(seen, worker=np.zeros_like(seen.worker), workers=("all",)))
        speech = _coins(np.full(len(seen.workers), np.asarray(answers.accuracy)[0]), len(seen.classes))
    else:
        answers = heeding(METHODS[name](seen), seen)
        coins = answers.confusion is None and answers.accuracy is not None
        speech = _coins(np.asarray(answers.accuracy), len(seen.classes)) if coins else np.asarray(answers.confusion)
    chance = (answers.posterior[hidden.task] * speech[hidden.worker, :, hidden.label]).sum(axis=1)
    total = np.zeros(len(hidden.tasks))
    np.subtract.at(total, hidden.task, np.log(np.maximum(chance, LEAST)))
    return total


def _coins(accuracy: Floats, classes: int) -> Floats:
    same = np.eye(classes, dtype=bool)
    return np.where(same, accuracy[:, None, None], ((1 - accuracy) / (classes - 1))[:, None, None])
