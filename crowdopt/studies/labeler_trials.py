"""Policies of asking on the same streams, each trial a row of its own, and what the rows come to.

What all rows of a study of asking share: where labelers and labels come from; one archive, named by its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdopt import jobs
from crowdopt.core.registry import code_of
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.labelers.arrivals import Labelers, LabelTable, TaskStream, drawn_labelers, recorded_tasks, simulated_tasks
from crowdopt.labelers.asking import replay
from crowdopt.labelers.policies import named
from crowdopt.labelers.regret import curves, judged, score
from crowdopt.memory import refuse_beyond_memory
from crowdopt.notebooks import InFrames
from crowdopt.studies.online_trials import ROW, Columns, interval, shown_of, summarise


@dataclass(frozen=True, eq=False)
class DrawnLabelers:
    """Fresh labelers in every trial: skills uniform on [low, high] given that the majority of all beats a guess."""

    count: int  # M
    # range of skills
    low: float
    high: float
    cost: float  # of a label

    @staticmethod
    def of(count: int, low: float = 0.0, high: float = 1.0, cost: float = 0.0) -> DrawnLabelers:
        """A draw of so many labelers, skills in [low, high]; refused at once where nothing can be drawn."""
        drawn = DrawnLabelers(count, low, high, cost)
        stream_of(drawn, 1, 0, 0)
        return drawn


@dataclass(frozen=True, eq=False)
class RecordedLabels(LabelTable):
    """Labels that people once gave, and what is known of the truth."""

    def __post_init__(self) -> None:
        if len(self.label) < 2:
            raise InputError("the label table has one task only; a run needs one to start from and one to judge")
        if (self.truth < 0).all():
            raise InputError("the truth of no task is known; give --truth, or nothing can be judged")


Setting: TypeAlias = Labelers | DrawnLabelers | RecordedLabels
SOURCES: dict[str, type[Any]] = {kind.__name__: kind for kind in (Labelers, DrawnLabelers, RecordedLabels)}


def stream_of(setting: Setting, horizon: int, seed: int, trial: int) -> TaskStream:
    """The tasks of a trial, labels simulated or recorded."""
    if isinstance(setting, RecordedLabels):
        return recorded_tasks(setting, horizon, (seed, trial))
    if isinstance(setting, DrawnLabelers):
        setting = drawn_labelers(setting.count, (seed, trial), setting.low, setting.high, setting.cost)
    return simulated_tasks(setting, horizon, (seed, trial))


def write_setting(setting: Setting, folder: Path) -> str:
    """Write it as one archive, named by its content; returns the path."""
    values = {field.name: getattr(setting, field.name) for field in fields(setting)}
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in values.items() if value is not None}
    kind = type(setting).__name__
    digest = sha256(kind.encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    path = folder / f"{kind}-{digest.hexdigest()[:16]}.npz"
    with draft(path) as file:
        np.savez_compressed(file, **arrays)
    return str(path)


@lru_cache(maxsize=4)
def read_setting(path: str) -> Setting:
    """What :func:`write_setting` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        values = {name: stored[name] if stored[name].ndim else stored[name].item() for name in stored.files}
    if "names" in values:
        values["names"] = tuple(values["names"].tolist())
    setting: Setting = SOURCES[Path(path).name.partition("-")[0]](**values)
    return setting


Rows = list[dict[str, Any]]

COLUMNS: Columns = (
    ("reward", "reward", "7.4f"),
    ("exploiting", "reward_exploiting", "10.4f"),
    ("right", "right", "7.4f"),
    ("regret", "regret", "8.1f"),
    ("cost regret", "cost_regret", "11.1f"),
    ("labels", "labels", "8.0f"),
    ("repeats", "repeats", "7.0f"),
)
AGAINST = ("reward", "right", "regret", "cost")  # figures that are compared to the first policy's, trial by trial


@dataclass(frozen=True, eq=False)
class Learning(InFrames):
    """Policies of asking side by side.

    Parameters
    ----------
    rows : list of dict
        One per policy and trial (crowdopt.labelers.regret).
    summary : list of dict
        One per policy: means, half-widths of 95 % intervals, differences to the reference.
    curves : list of dict
        One per policy and checkpoint: mean and band of cumulated regret, cost regret and average reward.
    timings : list of dict
        One per policy: seconds of a run; apart, because they differ between equal runs.
    reference : str
        The policy that differences are to.
    failed : list of str
        Rows that ended in an error, with it.
    horizon : int
        Tasks of a run.
    source : str
        Where labelers and labels come from, in words.
    undrawn : list of str
        What could not be drawn where it was written, in sentences.
    """

    rows: Rows
    summary: Rows
    curves: Rows
    timings: Rows
    reference: str
    failed: list[str]
    horizon: int
    source: str = ""
    undrawn: list[str] = field(default_factory=list)

    @property
    def columns(self) -> Columns:
        """What is shown of each policy."""
        return COLUMNS

    @property
    def in_words(self) -> str:
        """What was tried on what."""
        return f"{self.source}; T = {self.horizon}"

    def notebook_rows(self, most: int) -> tuple[Rows, int]:
        """Each policy's means."""
        return shown_of(self.summary, COLUMNS, most), len(self.summary)


def texts(policies: Sequence[str]) -> list[str]:
    """The policies to run, each once."""
    wanted = list(dict.fromkeys(text.strip() for text in policies if text.strip()))
    if not wanted:
        raise InputError("no policy is given; name some, as in --policies ls-ol,full-majority")
    for text in wanted:
        named(text)
    return wanted


def row(setting: str, text: str, trial: int, seed: int, horizon: int, code: str = "") -> dict[str, Any]:
    """Play one policy over one trial's stream: figures, curves and seconds, as plain JSON; a job (crowdopt.jobs).

    code: digest of a third party's, so that a row of other code is another row.
    """
    stream = stream_of(read_setting(setting), horizon, seed, trial)
    run = replay(named(text), stream, jobs.seed_of(seed, trial))
    played = judged(run)
    return {
        "figures": {"text": text, "trial": trial, **score(played)},
        "curves": curves(played),
        "seconds": run.seconds,
    }


def play(
    setting: Setting, wanted: Sequence[str], trials: int, seed: int, horizon: int, folder: Path, processes: int
) -> Learning:
    """All rows, and what they come to.

    setting: where labelers and tasks come from; trials, seed: how many trials, and the seed of all; horizon: tasks that
    arrive in each; folder: where the setting and each finished row are kept; what is there is not computed again;
    processes: spawned processes; 0: in this one.
    """
    refuse_beyond_memory(ROW * trials * len(wanted), f"{trials} trials of {len(wanted)} policies")
    length = stream_of(setting, horizon, seed, 0).horizon
    path = write_setting(setting, folder)
    codes = {text: {"code": code} if (code := code_of(named(text))) else {} for text in wanted}
    todo = [
        jobs.Job.of(row, setting=path, text=text, trial=k, seed=seed, horizon=horizon, **codes[text])
        for k in range(trials)
        for text in wanted
    ]
    done = jobs.run(todo, folder / "rows", processes, title="trials")
    failed = [f"{one.arguments['text']}, trial {one.arguments['trial']}: {one.why}" for one in done if one.error]
    return _learning([one.result for one in done if not one.error], wanted, failed, length)


def _learning(good: Rows, wanted: Sequence[str], failed: list[str], length: int) -> Learning:
    """What the rows that did not fail come to."""
    by_text = {text: [one for one in good if one["figures"]["text"] == text] for text in wanted}
    rows = [one["figures"] for one in good]
    summary = summarise(rows, wanted, wanted[0], AGAINST)
    bands = [point for text in wanted if by_text[text] for point in _bands(text, [r["curves"] for r in by_text[text]])]
    timings = [
        {"policy": text, "mean_seconds": float(np.mean(spent)), "worst_seconds": float(np.max(spent))}
        for text in wanted
        if (spent := [one["seconds"] for one in by_text[text]])
    ]
    return Learning(rows, summary, bands, timings, wanted[0], failed, length)


def _bands(text: str, trials: Sequence[dict[str, list[float]]]) -> Rows:
    times = trials[0]["t"]
    values = {key: np.array([trial[key] for trial in trials]) for key in trials[0] if key != "t"}
    values["reward"] = values["reward"] / np.array(times)
    points = []
    for k, t in enumerate(times):
        point: dict[str, Any] = {"policy": text, "t": t}
        for key, table in values.items():
            mean, half = interval(table[:, k])
            point |= {key: mean, f"{key}_low": mean - (half or 0.0), f"{key}_high": mean + (half or 0.0)}
        points.append(point)
    return points
