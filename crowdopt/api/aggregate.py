"""The verb aggregate without a plan: answers from labels, from arrays or from tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.answers import FROM_ACCURACIES, FROM_CONFUSIONS, FROM_LABELS, Answers
from crowdopt.answers.heeding import heeding
from crowdopt.api.binding import AnyPath
from crowdopt.crowd.confusion import confusions
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError
from crowdopt.files import together
from crowdopt.io.answers_table import read_gold_by_class, read_gold_shares, write_accuracies, write_answers
from crowdopt.io.folder import check_target
from crowdopt.io.label_table import read_labels, read_truth

AGGREGATIONS = (*FROM_LABELS, *FROM_ACCURACIES, *FROM_CONFUSIONS)
UNSURE = 0.9  # answers less sure than this are counted apart


@dataclass(frozen=True, eq=False)
class Aggregated:
    """Answers to the tasks of a label table.

    Parameters
    ----------
    answers : Answers
    labels : Labels
        The table.
    right : float, optional
        Share of right answers among the tasks whose truth is known.
    """

    answers: Answers
    labels: Labels
    right: float | None

    @property
    def unsure(self) -> int:
        """Answers less sure than UNSURE."""
        return int((self.answers.confidence < UNSURE).sum())


def aggregate(
    labels: Labels,
    method: str = "one-coin",
    *,
    accuracy: ArrayLike | None = None,
    confusion: ArrayLike | None = None,
    difficulty: bool = True,
    known: ArrayLike | None = None,
    **settings: Any,
) -> Answers:
    """Answers from labels, with confidences that heed difficulty which workers share, where labels show any.

    Parameters
    ----------
    labels : Labels
    method : str
        ``majority``, ``one-coin``, ``belief-propagation``, ``dawid-skene``, ``kos``; with accuracies also
        ``wmv-linear``, ``wmv-log``, with confusion tables ``wmv-confusion``.
    accuracy : (workers,) float, optional
        Each worker's chance to be right, for the weighted votes.
    confusion : (workers, classes, classes) float, optional
        Each worker's chances to say the third class where the second is true (crowdopt.crowd.confusion).
    difficulty : bool
        Whether the difficulty of tasks is looked for, by a method that knows workers' accuracies.
    known : (tasks,) int, optional
        Known classes, -1 where unknown, by which the difficulty shows better; answers do not heed them. Default: the
        setting ``truth``, which they do heed.
    **settings
        Of the method, in :mod:`crowdopt.answers`: ``iterations``, ``prior``, ``truth``, ``truncation``, …

    Returns
    -------
    Answers
        ``answer`` is (tasks,) int, a class of ``labels.classes``; ``confidence`` is (tasks,) float.

    Raises
    ------
    InputError
        If the method is unknown, needs accuracies or confusion tables, or takes none.
    """
    if method not in AGGREGATIONS:
        raise InputError(f"method must be one of {', '.join(AGGREGATIONS)}, not {method!r}")
    if confusion is not None and method not in FROM_CONFUSIONS:
        raise InputError(f"{method} takes no confusion tables; choose {' or '.join(FROM_CONFUSIONS)}")
    if method in FROM_CONFUSIONS:
        if confusion is None or accuracy is not None:
            raise InputError(f"{method} takes confusion tables and no accuracies; give gold with true and answered")
        return FROM_CONFUSIONS[method](labels, confusion, **settings)
    if method in FROM_LABELS:
        if accuracy is not None:
            raise InputError(f"{method} takes no accuracies; leave them out, or choose {' or '.join(FROM_ACCURACIES)}")
        answers: Answers = FROM_LABELS[method](labels, **settings)
    elif accuracy is None:
        raise InputError(f"{method} weighs votes by the workers' accuracies; give gold, or choose one-coin")
    else:
        answers = FROM_ACCURACIES[method](labels, accuracy, **settings)
    if not difficulty:
        return answers
    true = settings.get("truth") if known is None else known
    return heeding(answers, labels, None if true is None else np.asarray(true, dtype=np.int64))


def aggregate_tables(
    labels: AnyPath,
    method: str = "one-coin",
    *,
    gold: AnyPath | None = None,
    truth: AnyPath | None = None,
    output: AnyPath | None = None,
    workers: AnyPath | None = None,
    force: bool = False,
) -> Aggregated:
    """Answers from a label table on disk, with every file that is to be written.

    Parameters
    ----------
    labels : path
        Columns task, worker, label.
    method : str
        As for :func:`aggregate`.
    gold : path, optional
        Tallies worker, correct, asked, for the weighted votes; worker, true, answered for ``wmv-confusion``.
    truth : path, optional
        Known answers task, label, to be held against, and to see how hard tasks are.
    output, workers : path, optional
        Tables to write: of the answers, of the workers' accuracies.
    force : bool
        Whether files that are there may be replaced.

    Returns
    -------
    Aggregated

    Raises
    ------
    InputError
        If a table cannot be used, a file cannot be written, or the method cannot do it.
    """
    for path in (output, workers):
        if path is not None:
            check_target(Path(path), None, force)
    table, by_class = read_labels(labels), gold is not None and method in FROM_CONFUSIONS
    known = None if truth is None else read_truth(truth, table)
    tallies = read_gold_by_class(gold, table) if gold is not None and by_class else None
    shares = None if gold is None or by_class else read_gold_shares(gold, table)
    tables = None if tallies is None else confusions(tallies)
    answers = aggregate(table, method, accuracy=shares, confusion=tables, known=known)
    right = None if known is None else _share_right(answers, known)
    with together():
        if output is not None:
            write_answers(answers, table, Path(output), force)
        if workers is not None:
            write_accuracies(answers, table, Path(workers), force)
    return Aggregated(answers, table, right)


def _share_right(answers: Answers, truth: np.ndarray[Any, Any]) -> float:
    known = truth >= 0
    return float((answers.answer[known] == truth[known]).mean())
