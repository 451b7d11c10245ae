"""The verb learn: policies that learn whom to ask, on the same tasks, against the best set of labelers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.errors import InputError
from crowdopt.io.cells import Frame
from crowdopt.io.results import LEARNING, WORK, check_comparison, read_skills, read_table_of_labels, write_learning
from crowdopt.labelers.arrivals import Labelers
from crowdopt.labelers.policies import policies as policies
from crowdopt.pages import write_page
from crowdopt.pages.charts import Undrawn, save_all
from crowdopt.pages.learning_page import KIND, charts
from crowdopt.said import Listed, Said, Verb
from crowdopt.studies.labeler_trials import DrawnLabelers as DrawnLabelers
from crowdopt.studies.labeler_trials import Learning as Learning
from crowdopt.studies.labeler_trials import RecordedLabels as RecordedLabels
from crowdopt.studies.labeler_trials import Setting, play, texts
from crowdopt.studies.online_trials import shared_notes as shared_notes
from crowdopt.verbs.binding import AnyPath, TableLike, keywords
from crowdopt.verbs.study_options import StudyOptions, policy_table
from crowdopt.version import __version__

LabelersLike: TypeAlias = ArrayLike | Setting


@dataclass(frozen=True, kw_only=True)
class LearnOptions(StudyOptions):
    """Options of a study: its policies, its labelers, and how often they are tried.

    Parameters
    ----------
    policies : sequence of str
        Policies, separated by commas; a policy's options follow colons: ls-ol:g1=10:g2=.1.
    skills : path or frame, optional
        Table of skills: worker,accuracy[,price] and, for contexts, type or at.
    labels : path or frame, optional
        Replay these labels (task,worker,label).
    truth : path or frame, optional
        Known answers to these tasks: task,label.
    types : path or frame, optional
        Types of these tasks: task,type.
    draw : str, optional
        Draw M labelers for each trial, with uniform skills and a majority above 1/2: M or M:LOW:HIGH.
    horizon : int
        Number of tasks of a run, T. Of a table at most its tasks less one, which is the initial tester.
    classes : int
        Number of classes of simulated labels.
    cost : float
        Cost of a label that has no price.
    """

    policies: Listed = field(kw_only=False)
    skills: TableLike | None = None
    labels: TableLike | None = None
    truth: TableLike | None = None
    types: TableLike | None = None
    draw: str | None = None
    horizon: int = 2000
    classes: int = 2
    cost: float = 0.0


@keywords(LearnOptions)
def learn(labelers: LabelersLike | Frame | None, asked: LearnOptions) -> Learning:
    """Run policies that learn whom to ask, on the same tasks and labels, and hold each against the best set.

    Parameters
    ----------
    labelers : (labelers,) float, (kinds, labelers) float, table, Labelers, DrawnLabelers or RecordedLabels, optional
        Skills, as numbers or as a file or frame as for ``skills``; labelers with costs, kinds of task or contexts;
        fresh ones in each trial; or recorded labels.
        None where they come from one of ``skills``, ``labels`` and ``draw``.

    Returns
    -------
    Learning

    Raises
    ------
    InputError
        If a policy or option is unknown, the skills are none, labelers come from nowhere or from two places, or
        something cannot be read or written.

    Reads
    -----
    skills worker,accuracy[,type][,at][,price], or labels and truth, or nothing with --draw

    Writes
    ------
    the folder: tables of trials, means and curves, charts, a page

    Examples
    --------
    ::

        crowdopt learn --draw 10 --policies ls-ol,full-majority --trials 3 -o learned
    """
    if asked.output is not None:
        check_comparison(Path(asked.output), asked.force, LEARNING)
    if _is_table(labelers):
        labelers, asked = None, replace(asked, skills=labelers)
    if labelers is None:
        labelers = _from_options(asked)
    elif any(one is not None for one in (asked.skills, asked.labels, asked.truth, asked.types, asked.draw)):
        raise InputError("labelers come from one source; give an instance, or one of skills, labels and draw")
    if asked.trials < 1 or asked.horizon < 1:
        raise InputError(f"trials and horizon must be at least 1, not {asked.trials} and {asked.horizon}")
    wanted, setting = texts(asked.policies), _setting(labelers)
    with TemporaryDirectory() as spare:
        folder = Path(spare) if asked.output is None else Path(asked.output) / WORK
        learning = replace(
            play(setting, wanted, asked.trials, asked.seed, asked.horizon, folder, asked.processes),
            source=_source(setting),
        )
    if asked.output is None:
        return learning
    return replace(learning, undrawn=_write(learning, Path(asked.output), asked.trials, asked.seed))


def read_labels(
    labels: TableLike, truth: TableLike, *, types: TableLike | None = None, cost: float = 0.0
) -> RecordedLabels:
    """Labels that people once gave, to learn from.

    labels: columns task, worker, label; truth: columns task, label; types: columns task, type; cost: of a label.
    """
    return RecordedLabels(**read_table_of_labels(labels, truth, types, cost))


def _is_table(labelers: Any) -> bool:
    return isinstance(labelers, str | Path | Mapping) or hasattr(labelers, "columns")


def _setting(labelers: Any) -> Setting:
    if isinstance(labelers, Labelers | DrawnLabelers | RecordedLabels):
        return labelers
    table = np.atleast_2d(np.asarray(labelers, dtype=np.float64))
    return Labelers(table, np.zeros(table.shape[-1]))


def _from_options(asked: LearnOptions) -> LabelersLike:
    skills, labels, truth = asked.skills, asked.labels, asked.truth
    if sum(one is not None for one in (skills, labels, asked.draw)) != 1:
        raise InputError("labelers come from one of --skills, --labels with --truth, or --draw; give exactly one")
    if labels is not None:
        if truth is None:
            raise InputError("--labels needs --truth: without any known answer nothing can be judged")
        return read_labels(labels, truth, types=asked.types, cost=asked.cost)
    if truth is not None or asked.types is not None:
        raise InputError("--truth and --types belong to recorded labels; give them with --labels")
    if skills is not None:
        return Labelers(**read_skills(skills, asked.cost, asked.classes))
    if asked.classes != 2:
        raise InputError("--draw draws labelers of two classes; for more, write their skills and give --skills")
    return DrawnLabelers.of(*_drawn(str(asked.draw)), asked.cost)


def _drawn(text: str) -> tuple[int, float, float]:
    try:
        count, *between = text.split(":")
        low, high = map(float, between) if between else (0.0, 1.0)
        return int(count), low, high
    except ValueError:
        raise InputError(f"--draw is a number of labelers, or M:LOW:HIGH as in 5:.6:1, not {text!r}") from None


def _source(setting: Setting) -> str:
    if isinstance(setting, RecordedLabels):
        count, many = setting.label.shape[1], len(setting.label)
        return f"{count} labelers of a table of {many} tasks: one answer of each pair, so testers are labelled once"
    if isinstance(setting, DrawnLabelers):
        between = f"[{setting.low:g}, {setting.high:g}]"
        return f"{setting.count} labelers, fresh in each trial, skills uniform on {between}, majority above 1/2"
    kinds = f", {len(setting.accuracy)} kinds of task" if setting.accuracy.shape[0] > 1 else ""
    return f"{setting.accuracy.shape[1]} labelers of given skills{kinds}, simulated labels"


def _write(found: Learning, folder: Path, trials: int, seed: int) -> list[str]:
    """Write tables, page and charts of a study; returns what could not be drawn, as sentences."""
    facts = {
        "title": "Learning whom to ask",
        "source": found.source,
        "horizon": found.horizon,
        "trials": trials,
        "seed": seed,
        "reference": found.reference,
        "failed": found.failed,
        "version": __version__,
        "policies": found.summary,
        "curves": found.curves,
        "rows": found.rows,
    }
    tables = {
        "trials.csv": found.rows,
        "summary.csv": found.summary,
        "curves.csv": found.curves,
        "timings.csv": found.timings,
    }
    undrawn = []
    try:
        save_all({f"{name}.png": chart for name, chart in charts(facts).items()}, folder)
        write_page(folder, facts, KIND)
    except Undrawn as error:
        undrawn.append(str(error))
    write_learning(folder, facts, tables)  # its mark says that all is there
    return undrawn


def _said(found: Learning, output: AnyPath) -> Said:
    facts = {"learned": str(output), "policies": found.summary, "failed": found.failed}
    lines = [found.in_words, *policy_table(found.summary, found.columns), *shared_notes(found.summary)]
    lines += [*found.failed, *found.undrawn, f"wrote {output}"]
    return Said(facts, lines, int(bool(found.failed)))


VERBS = (Verb("learn", learn, _said, needs=("output",), prepared=lambda as_json, **typed: {**typed, "labelers": None}),)
