"""The verb aggregate without a plan: answers from labels, from arrays or from tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.answers import FROM_ACCURACIES, FROM_CONFUSIONS, FROM_LABELS, Answers, majority
from crowdopt.answers.choosing import AutoMethod, chosen, equal, heeding
from crowdopt.api.answers import answers
from crowdopt.api.binding import AnyPath, InstanceLike, PlanLike, TableLike
from crowdopt.api.worker_skills import tallied
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.skills import confusions
from crowdopt.errors import InputError, public
from crowdopt.files import together
from crowdopt.io.answers import Answered
from crowdopt.io.cells import name_of
from crowdopt.io.folders import check_target
from crowdopt.io.hiring import read_gold_by_class, read_gold_shares, write_accuracies, write_answers
from crowdopt.io.tables import read_labels, read_true_labels, true_classes
from crowdopt.notebooks import InNotebooks

AUTO = "auto"  # the method that known answers, or labels held back, speak for
AGGREGATIONS = (AUTO, *FROM_LABELS, *FROM_ACCURACIES, *FROM_CONFUSIONS)
UNSURE = 0.9  # answers less sure than this are counted apart
UPPER = 0.975  # the upper end of a 95 % interval


@dataclass(frozen=True, eq=False)
class Aggregated(InNotebooks):
    """Answers to the tasks of a label table."""

    answers: Answers
    labels: Labels  # the table
    right: float | None  # share of right answers among the tasks whose truth is known
    known: int = 0  # tasks whose truth is known
    choice: AutoMethod | None = None  # of the method, where none was named

    in_notebooks: ClassVar[tuple[str, ...]] = ("right", "known", "claimed", "unsure")

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first answers, and how many there are."""
        names = [*self.labels.classes, ""]
        some = zip(
            self.labels.tasks[:most], self.answers.answer.tolist(), self.answers.confidence.tolist(), strict=False
        )
        rows = [{"task": task, "label": names[k], "confidence": sure} for task, k, sure in some]
        return rows, len(self.labels.tasks)

    @property
    def claimed(self) -> float:
        """Mean chance of being right, by the method; no more than so many tasks support.

        n tasks tell errors that workers share apart from rarer ones than ``1 / (n + 2)`` at no time (Laplace's rule),
        and where the truth is known no more is claimed than the upper end of what it shows (Clopper and Pearson).
        """
        from scipy.special import betaincinv

        most = 1 - 1 / (len(self.labels.tasks) + 2)
        if self.right is not None and self.right < 1:
            hits = round(self.right * self.known)
            most = min(most, float(betaincinv(hits + 1, self.known - hits, UPPER)))
        return min(most, float(self.answers.confidence.mean()))

    @property
    def unsure(self) -> int:
        """Answers less sure than UNSURE."""
        return int((self.answers.confidence < UNSURE).sum())


@overload
def aggregate(labels: Labels, method: str = AUTO, **options: Any) -> Answers: ...


@overload
def aggregate(
    labels: TableLike, *, plan: PlanLike, campaign: InstanceLike, output: AnyPath | None = None, **options: Any
) -> Answered: ...


@overload
def aggregate(
    labels: TableLike, method: str = AUTO, *, output: AnyPath | None = None, **options: Any
) -> Aggregated: ...


@public
def aggregate(
    labels: Labels | TableLike,
    method: str = AUTO,
    *,
    plan: PlanLike | None = None,
    campaign: InstanceLike | None = None,
    **options: Any,
) -> Answers | Aggregated | Answered:
    """Answers from labels, with a confidence for each; ties go to the first class.

    Parameters
    ----------
    labels : path, frame or Labels
        Columns task, worker, label; or the same as arrays of indices.
    method : str
        ``auto``: of majority, belief-propagation, one-coin and dawid-skene the one that labels held back speak for, or
        that errs clearly less on known answers; its chances are averaged with the labels' shares. ``majority``,
        ``one-coin``, ``belief-propagation``, ``dawid-skene``, ``kos``; with gold also ``wmv-linear``, ``wmv-log``,
        ``wmv-confusion``.
    plan : Plan or path, optional
        Whose weights the votes have, in place of a method: then also what is not yet sure, what is missing, and the
        next campaign.
    campaign : AssignmentInstance or path, optional
        What the plan was made for.
    **options
        With a plan ``skipped``, ``accept``, ``output``, ``force`` (:func:`crowdopt.answers`); with a table ``gold``,
        ``truth``, ``trust_gold``, ``output``, ``workers``, ``force`` (:func:`aggregate_tables`); with arrays
        ``accuracy``, ``confusion``, ``difficulty``, ``known`` and the method's own (:func:`vote`).

    Returns
    -------
    Answered, Aggregated or Answers
        With a plan, of a table, of arrays.

    Raises
    ------
    InputError
        If a table cannot be used, or plan and campaign are not given together.
    """
    if (plan is None) != (campaign is None):
        raise InputError("a plan belongs to the campaign it was made for; give both")
    if isinstance(labels, Labels):
        return vote(labels, method, **options)
    if plan is not None and campaign is not None:
        return answers(labels, plan, campaign=campaign, **options)
    return public(aggregate_tables)(labels, method, **options)


def vote(
    labels: Labels,
    method: str = AUTO,
    *,
    accuracy: ArrayLike | None = None,
    confusion: ArrayLike | None = None,
    difficulty: bool = True,
    known: ArrayLike | None = None,
    **settings: Any,
) -> Answers:
    """Answers from labels, with confidences that heed difficulty which workers share, where labels show any.

    method: ``auto``, ``majority``, ``one-coin``, ``belief-propagation``, ``dawid-skene``, ``kos``; with accuracies also
    ``wmv-linear``, ``wmv-log``, with confusion tables ``wmv-confusion``.
    accuracy (workers,): each worker's chance to be right, for the weighted votes.
    confusion (workers, classes, classes): each worker's chances to say the third class where the second is true
    (crowdopt.crowd.skills).
    difficulty: whether the difficulty of tasks is looked for, by a method that knows how workers speak.
    known (tasks,): known classes, -1 where unknown, by which the difficulty shows better; answers do not heed them.
    Default: the setting ``truth``, which they do heed.
    settings: of the method, in :mod:`crowdopt.answers`: ``iterations``, ``prior``, ``truth``, ``truncation``, ….
    -> ``answer`` is (tasks,) int, a class of ``labels.classes``; ``confidence`` is (tasks,) float.
    """
    if method not in AGGREGATIONS:
        raise InputError(f"method must be one of {', '.join(AGGREGATIONS)}, not {method!r}")
    if confusion is not None and method not in FROM_CONFUSIONS:
        raise InputError(f"{method} takes no confusion tables; choose {' or '.join(FROM_CONFUSIONS)}")
    if known is not None and np.max(known, initial=-1) >= len(labels.classes):
        raise InputError("known needs places in labels.classes, -1 where unknown; name there also what no worker said")
    if method == AUTO:
        if set(settings) - {"truth"}:
            raise InputError(f"{', '.join(sorted(settings))} belong to one method; name that method")
        choice = chosen(labels, None if known is None else np.asarray(known, dtype=np.int64))
        return vote_by(choice, labels, accuracy=accuracy, difficulty=difficulty, known=known, **settings)
    if method in FROM_CONFUSIONS:
        if confusion is None or accuracy is not None:
            raise InputError(f"{method} takes confusion tables and no accuracies; give gold with true and answered")
        answers = public(FROM_CONFUSIONS[method])(labels, confusion, **settings)
    else:
        answers = _by_accuracies(labels, method, accuracy, settings)
    true = settings.get("truth") if known is None else known
    return heeding(answers, labels, None if true is None else np.asarray(true, np.int64)) if difficulty else answers


def vote_by(choice: AutoMethod, labels: Labels, **options: Any) -> Answers:
    """Answers by the method that was chosen, believed by half: the other half are the shares of the labels.

    Where known answers chose it and show how hard tasks are, that says how far it is believed. A majority's chances are
    those by workers of one coin that they share. options: as for :func:`vote`.
    """
    answers, truth = vote(labels, choice.method, **options), options.get("truth")
    answers = replace(equal(labels, truth) if choice.method == "majority" else answers, power=choice.power)
    if choice.by_truth and answers.difficulty is not None:
        return answers
    return replace(answers, tally=majority(labels, truth).score)


def _by_accuracies(labels: Labels, method: str, accuracy: ArrayLike | None, settings: dict[str, Any]) -> Answers:
    if method in FROM_LABELS:
        if accuracy is not None:
            raise InputError(f"{method} takes no accuracies; leave them out, or choose {' or '.join(FROM_ACCURACIES)}")
        return public(FROM_LABELS[method])(labels, **settings)
    if accuracy is None:
        raise InputError(f"{method} weighs votes by the workers' accuracies; give gold, or choose one-coin")
    return public(FROM_ACCURACIES[method])(labels, accuracy, **settings)


def aggregate_tables(
    labels: TableLike,
    method: str = AUTO,
    *,
    gold: TableLike | None = None,
    truth: TableLike | None = None,
    trust_gold: bool = False,
    output: AnyPath | None = None,
    workers: AnyPath | None = None,
    force: bool = False,
) -> Aggregated:
    """Answers from a label table, with every file that is to be written.

    labels: columns task, worker, label; method: as for :func:`vote`; gold: worker, correct, asked, or worker, task,
    label, truth, for the weighted votes; worker, true, answered for ``wmv-confusion``; truth: known answers task,
    label, to be held against, and to see how hard tasks are; trust_gold: whether gold is taken as it is, even where
    workers are below chance; output, workers: tables to write: of the answers, of the workers' accuracies.
    """
    for path in (output, workers):
        if path is not None:
            check_target(Path(path), None, force)
    true = {} if truth is None else read_true_labels(truth)
    table = read_labels(labels, tuple(true.values()))
    known = None if truth is None else true_classes(true, table, name_of(truth))
    if known is not None:
        tallied(table, known, np.zeros_like(known), 1, trust_gold)
    shares = tables = None
    if gold is not None and method in FROM_CONFUSIONS:
        tables = confusions(read_gold_by_class(gold, table, trust_gold))
    elif gold is not None:
        shares = read_gold_shares(gold, table, trust_gold)
    choice = chosen(table, known) if method == AUTO else None
    if choice is None:
        answers = vote(table, method, accuracy=shares, confusion=tables, known=known)
    else:
        answers = vote_by(choice, table, accuracy=shares, known=known)
    right = None if known is None else _share_right(answers, known)
    with together():
        if output is not None:
            write_answers(answers, table, Path(output), force)
        if workers is not None:
            write_accuracies(answers, table, Path(workers), force)
    return Aggregated(answers, table, right, 0 if known is None else int((known >= 0).sum()), choice)


def _share_right(answers: Answers, truth: np.ndarray[Any, Any]) -> float:
    known = truth >= 0
    return float((answers.answer[known] == truth[known]).mean())
