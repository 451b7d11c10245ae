"""The calls from labels to answers, and the rehearsal of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdopt.answers import FROM_ACCURACIES, FROM_LABELS, Answers
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError
from crowdopt.io.answers_folder import Answered, read_answers, write_answers
from crowdopt.io.rehearsal import write_rehearsal

AGGREGATIONS = (*FROM_LABELS, *FROM_ACCURACIES)


def answers(
    labels: str | Path, plan: str | Path, campaign: str | Path, folder: str | Path | None = None, force: bool = False
) -> Answered:
    """Answers from the labels of a plan: weighted votes, exact posteriors, what is missing; and the next campaign.

    Parameters
    ----------
    labels : path
        Columns task, worker, label: what came back.
    plan, campaign : path
        The plan's folder, and that of the campaign it was made for.
    folder : path, optional
        Where to write answers.csv, missing.csv and ``campaign/``, the campaign with these labels in, ready to solve.

    Raises
    ------
    InputError
        If something cannot be read, or the folder cannot be written.
    """
    found = read_answers(labels, plan, campaign)
    if folder is not None:
        write_answers(found, folder, force)
    return found


def rehearse(
    campaign: str | Path,
    plan: str | Path,
    output: str | Path,
    truth: str | Path | None = None,
    seed: int = 0,
    lost: float = 0.0,
    force: bool = False,
) -> int:
    """Simulate the labels of a plan by the campaign's own skills and write their table; returns their number."""
    return write_rehearsal(campaign, plan, output, truth, seed, lost, force)


def aggregate(labels: Labels, method: str = "one-coin", accuracy: Any = None, **settings: Any) -> Answers:
    """Answers from labels.

    Parameters
    ----------
    labels : Labels
    method : str
        ``majority``, ``one-coin``, ``dawid-skene``, ``kos``; with accuracies also ``wmv-linear``, ``wmv-log``.
    accuracy : (workers,) float, optional
        Each worker's chance to be right, for the weighted votes.
    **settings
        Of the method, in :mod:`crowdopt.answers`: ``iterations``, ``prior``, ``truth``, ``truncation``, …

    Raises
    ------
    InputError
        If the method is unknown, needs accuracies, or takes none.
    """
    if method not in AGGREGATIONS:
        raise InputError(f"method must be one of {', '.join(AGGREGATIONS)}, not {method!r}")
    if method in FROM_LABELS:
        if accuracy is not None:
            raise InputError(f"{method} takes no accuracies; leave them out, or choose {' or '.join(FROM_ACCURACIES)}")
        found: Answers = FROM_LABELS[method](labels, **settings)
        return found
    if accuracy is None:
        raise InputError(f"{method} weighs votes by the workers' accuracies; give gold, or choose one-coin")
    return FROM_ACCURACIES[method](labels, accuracy, **settings)
