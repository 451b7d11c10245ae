"""The calls about learning whom to ask: many trials of policies, and what is written down of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from crowdopt.crowd.labelers import Labelers
from crowdopt.errors import InputError
from crowdopt.io import learning_folder
from crowdopt.io.comparison_folder import WORK, check_comparison
from crowdopt.io.learning_folder import LEARNING, read_table_of_labels, write_learning
from crowdopt.report import write_page
from crowdopt.report.charts import save
from crowdopt.report.learning_page import charts, markdown
from crowdopt.studies.labeler_setting import DrawnLabelers, GivenLabelers, RecordedLabels, Setting
from crowdopt.studies.labeler_trials import Learning, play, texts
from crowdopt.version import __version__

__all__ = [
    "LEARNING",
    "WORK",
    "DrawnLabelers",
    "RecordedLabels",
    "check",
    "learn",
    "read_labels",
    "read_skills",
    "source",
    "write",
]


def learn(
    labelers: Labelers | Setting | Any,
    policies: Sequence[str],
    horizon: int = 2000,
    trials: int = 20,
    seed: int = 0,
    processes: int = 0,
    folder: Path | None = None,
) -> Learning:
    """Run policies that learn whom to ask, on the same tasks and labels, and hold each against the best set.

    Parameters
    ----------
    labelers : (labelers,) float, Labelers, Drawn or Table
        Skills; labelers with costs, kinds of task or contexts; fresh ones in each trial; or a table of real labels.
    policies : sequence of str
        Such as ``ls-ol:g1=10:g2=.1``.
    horizon : int
        T; of a table at most its tasks less one, which is the initial tester.
    trials, seed : int
        Each trial has its own order of labelers, tasks and labels.
    processes : int
        Spawned processes; 0: in this one.
    folder : Path, optional
        Where finished rows are kept, so that a second call goes on from them.

    Raises
    ------
    InputError
        If a policy or option is unknown, or the skills are none.
    """
    if trials < 1 or horizon < 1:
        raise InputError(f"trials and horizon must be at least 1, not {trials} and {horizon}")
    wanted, setting = texts(policies), _setting(labelers)
    with TemporaryDirectory() as spare:
        return play(setting, wanted, trials, seed, horizon, folder or Path(spare), processes)


def _setting(labelers: Any) -> Setting:
    if isinstance(labelers, GivenLabelers | DrawnLabelers | RecordedLabels):
        return labelers
    if not isinstance(labelers, Labelers):
        skills = np.atleast_2d(np.asarray(labelers, dtype=np.float64))
        labelers = Labelers(skills, np.zeros(skills.shape[-1]))
    return GivenLabelers.of(labelers)


def read_skills(path: Path, cost: float, classes: int) -> Labelers:
    """Labelers from ``worker[,type or at],accuracy[,price]``; ``cost`` is that of a label without a price."""
    return Labelers(**learning_folder.read_skills(path, cost, classes))


def read_labels(labels: Path, truth: Path, types: Path | None = None, cost: float = 0.0) -> RecordedLabels:
    """A table of real labels (task,worker,label), its truth (task,label), and types of its tasks (task,type)."""
    return RecordedLabels(**read_table_of_labels(labels, truth, types, cost))


def source(labelers: Any) -> str:
    """Where labelers and labels come from, in words."""
    setting = _setting(labelers)
    if isinstance(setting, RecordedLabels):
        count, many = setting.label.shape[1], len(setting.label)
        return f"{count} labelers of a table of {many} tasks: one answer of each pair, so testers are labelled once"
    if isinstance(setting, DrawnLabelers):
        low, high = float(setting.low[0]), float(setting.high[0])
        return (
            f"{int(setting.count[0])} labelers, fresh in each trial, skills uniform on [{low:g}, {high:g}], a_min > 1/2"
        )
    kinds = f", {len(setting.accuracy)} kinds of task" if setting.accuracy.shape[0] > 1 else ""
    return f"{setting.accuracy.shape[1]} labelers of given skills{kinds}, simulated labels"


def check(folder: Path, force: bool) -> None:
    """Refuse a folder that holds a finished study or something else."""
    check_comparison(folder, force, LEARNING)


def write(found: Learning, setting: Any, folder: Path, trials: int, seed: int) -> list[str]:
    """Write tables, page and charts of a study; returns what could not be drawn, as sentences."""
    facts = {
        "title": "Learning whom to ask",
        "source": source(setting),
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
    write_learning(folder, facts, tables, markdown(facts))
    try:
        for name, chart in charts(facts).items():
            save(chart, folder / f"{name}.png")
        write_page(folder)
    except InputError as error:
        return [str(error)]
    return []
