"""Which method to take, and how far to believe it: known answers, or labels that were held back, speak for one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.answers import FROM_LABELS
from crowdopt.answers.answers import Answers
from crowdopt.answers.em import one_coin
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import LARGEST, Coins, Given, Law
from crowdopt.crowd.law_fits import EdgedLabels, fitted

METHODS = {name: method for name, method in FROM_LABELS.items() if name != "kos"}
USUAL = "belief-propagation"  # where nothing speaks clearly against it
CLEAR = 2.0  # standard errors, over tasks, by which another has to foretell labels better
FOLDS = 3  # a label of each is held back in turn
FEWEST = 20  # tasks that have to speak: with a known answer, or with two labels
MOST = 30_000  # labels that are looked at; of more, those of evenly chosen tasks
LEAST = 1e-6  # chance that a label is given at least: none is impossible
ROUNDS = 5  # of accuracies and difficulty in turn, where accuracies are the method's own


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
        errors = {name: float((fit(labels).answer != truth)[known].mean()) for name, fit in METHODS.items()}
        best = min(errors, key=lambda name: (errors[name], name != USUAL))
        return AutoMethod(best, True, errors)
    if np.count_nonzero(labels.per_task >= 2) < FEWEST:
        return AutoMethod(USUAL, False, {})
    some = _only(labels, labels.task % -(-labels.task.size // MOST) == 0)
    place = np.empty(some.task.size, np.int64)  # of a label among those of its task
    order = np.argsort(some.task, kind="stable")
    place[order] = np.arange(order.size) - (np.cumsum(some.per_task) - some.per_task)[some.task[order]]
    fold = (place + some.task) % FOLDS
    folds = [(_only(some, fold != k), _only(some, fold == k)) for k in range(FOLDS)]
    losses = {name: np.sum([_loss(*each, name) for each in folds], axis=0) for name in METHODS}
    best = min(losses, key=lambda name: losses[name].sum())
    lead = (losses[USUAL] - losses[best])[some.per_task > 0]
    is_clear = lead.sum() > CLEAR * np.sqrt(lead.size * lead.var(ddof=1))
    score = {name: float(loss.sum() / some.task.size) for name, loss in losses.items()}
    return AutoMethod(best if is_clear else USUAL, False, score)


def _only(labels: Labels, kept: Bools) -> Labels:
    return replace(labels, task=labels.task[kept], worker=labels.worker[kept], label=labels.label[kept])


def _loss(seen: Labels, hidden: Labels, name: str) -> Floats:
    """``-sum ln sum_k P(k | seen) P(label | k, worker)`` over the hidden labels of each task, (tasks,)."""
    workers = np.arange(len(seen.workers))
    if name == "majority":  # one coin that all workers share: its likeliest class is the majority's
        workers = np.zeros_like(workers)
        answers = fit = one_coin(replace(seen, worker=np.zeros_like(seen.worker), workers=("all",)))
    else:
        fit = METHODS[name](seen)
        answers = heeding(fit, seen)
    assert fit.law is not None
    speech = fit.law.table(0, workers)[0, hidden.worker, :, hidden.label]
    chance = (answers.posterior[hidden.task] * speech).sum(axis=1)
    return np.asarray(np.bincount(hidden.task, -np.log(np.maximum(chance, LEAST)), len(hidden.tasks)), np.float64)


def heeding(answers: Answers, labels: Labels, truth: Ints | None = None) -> Answers:
    """The same answers with confidences that integrate over the difficulty of tasks, where labels show any.

    For methods that know each worker's accuracy; others' answers come back as they are.

    truth (tasks,): known classes, -1 where unknown: where several labelled such a task their common errors show most.
    """
    law, likelihood, accuracy, shape = answers.law, answers.likelihood, answers.accuracy, answers.score.shape
    if law is None or likelihood is None or accuracy is None or answers.confusion is not None or shape[1] < 2:
        return answers
    said, guess = Given(labels.task, 0, labels.worker, labels.label), 1 / shape[1]
    beside = likelihood - law.likelihood(said, shape[0])  # of the prior, or of a known answer
    for _ in range(ROUNDS if answers.iterations else 1):
        edge = (accuracy - guess) / (1 - guess)
        hard = fitted(EdgedLabels(labels.task, labels.label, edge[labels.worker], shape), truth)
        if not hard.share:
            return answers
        # no edge is above LARGEST on any task
        within = (1 - LARGEST) * guess, 1 - (1 - LARGEST) * (1 - guess)
        speech = Coins(accuracy[None, None], shape[1], (hard.easy, hard.hard), within)
        law = Law(np.array([1 - hard.share, hard.share]), speech)
        heeded = replace(answers, law=law, likelihood=beside + law.by_part(said, shape[0]), difficulty=hard)
        right = np.bincount(labels.worker, heeded.posterior[labels.task, labels.label], accuracy.size)
        accuracy = (right + 1) / (labels.counts + 2)
    return heeded
