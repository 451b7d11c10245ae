"""Online policies on the same streams of the same instance, each trial a row of its own.

Many trials summed up: means with intervals, and differences between policies that saw the same crowd.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdopt import jobs
from crowdopt.arrays import Floats, places
from crowdopt.core.registry import code_of
from crowdopt.core.solution import Solve
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.rules import RULES
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.io.campaign import LabelRecord, arrays_of, read_archive
from crowdopt.memory import refuse_beyond_memory
from crowdopt.notebooks import InFrames, number
from crowdopt.online.arrivals import Stream
from crowdopt.online.crowds import breach, breached, hold_out, recorded_stream, simulated_stream
from crowdopt.online.limits import Least
from crowdopt.online.policies import named
from crowdopt.online.policies.kos import Kos
from crowdopt.online.replay import replay
from crowdopt.online.run_score import Optimum, score

Row: TypeAlias = Mapping[str, Any]
Columns: TypeAlias = tuple[tuple[str, str, str], ...]  # title, figure and form of what is shown of each policy

NUMBER = re.compile(r"\d[\d.]*")
LEVEL = 0.95  # of the intervals
ROW = 250.0  # numbers of 64 bits that a row of a study takes, at least
BASELINE = "greedy"  # stands beside every ratio
AGAINST = ("ratio_bound", "error_realised", "cost")


def summarise(
    rows: Sequence[Row], order: Sequence[str], reference: str, against: Sequence[str] = AGAINST
) -> list[dict[str, Any]]:
    """One line per policy, in the given order: the mean of every figure, half-widths, differences to the reference.

    Intervals are Student's over trials; a difference is taken within each trial, where both policies saw the same
    order of workers and the same labels of each pair.

    rows: with ``text``, the policy as asked for, and ``trial``; reference: the policy to which the figures ``against``
    are compared; against: names of figures; -> each figure, its ``_half``, and those compared with ``_minus_`` the
    reference.
    """
    by_text = {text: [row for row in rows if row["text"] == text] for text in order}
    base = by_text.get(reference, [])
    return [_line(text, by_text[text], base, reference, against) for text in order if by_text[text]]


def shown_of(summary: Sequence[Row], columns: Columns, most: int) -> list[dict[str, Any]]:
    """So many policies, and the figures that are shown of each under their titles."""
    named = [("policy", "policy"), *((title, key) for title, key, _ in columns)]
    return [{title: line.get(key) for title, key in named} for line in summary[:most]]


def _line(
    text: str, rows: Sequence[Row], reference: Sequence[Row], name: str, compared: Sequence[str]
) -> dict[str, Any]:
    line: dict[str, Any] = {"policy": text, "trials": len(rows)}
    figures = [key for key in rows[0] if _is_figure(key, rows)]
    for key in figures:
        line[key], line[f"{key}_half"] = interval(_column(rows, key))
    against = {row["trial"]: row for row in reference}
    for key in compared:
        pairs = [(row[key], against[row["trial"]][key]) for row in rows if row["trial"] in against]
        gaps = [mine - theirs for mine, theirs in pairs if mine is not None and theirs is not None]
        mean, half = interval(np.array(gaps)) if gaps else (None, None)
        line[f"{key}_minus_{name}"], line[f"{key}_minus_{name}_half"] = mean, half
    line["notes"] = _notes(rows)
    return line


def _notes(rows: Sequence[Row]) -> list[str]:
    """Each note once, whatever its numbers, with those of the first trial that has it and how many do."""
    alike: dict[str, list[str]] = {}
    for row in rows:
        for note in row["notes"]:
            alike.setdefault(NUMBER.sub("", note), []).append(note)
    return [f"{same[0]} (alike in {len(same)} of {len(rows)} trials)" for same in alike.values()]


def shared_notes(lines: Sequence[Row]) -> list[str]:
    """Each note of the summary's policies once, whatever its numbers, with the first policy that has it."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        for note in line["notes"]:
            alike.setdefault(NUMBER.sub("", note), []).append((str(line["policy"]), note))
    return [f"{same[0][0]}{' and others' if len(same) > 1 else ''}: {same[0][1]}" for same in alike.values()]


def _is_figure(key: str, rows: Sequence[Row]) -> bool:
    return key not in ("trial", "seed") and any(isinstance(row[key], int | float) for row in rows)


def _column(rows: Sequence[Row], key: str) -> Floats:
    return np.array([row[key] for row in rows if row[key] is not None], dtype=np.float64)


def interval(values: Floats) -> tuple[float, float | None]:
    """Mean and half-width of Student's interval at LEVEL of a figure of each trial; of a single one no half-width."""
    if values.size < 2:
        return float(values.mean()), None
    from scipy.special import stdtrit

    quantile = float(stdtrit(values.size - 1, 0.5 + LEVEL / 2))
    return float(values.mean()), quantile * float(values.std(ddof=1)) / float(np.sqrt(values.size))


Rows = list[dict[str, Any]]
COLUMNS: Columns = (
    ("cost", "cost", "10.1f"),
    ("/bound", "ratio_bound", "7.3f"),
    ("/possible", "ratio_possible", "9.3f"),
    ("short", "short_share", "7.1%"),
    ("shortfall", "short_mean", "9.2%"),
    ("error", "error_realised", "7.4f"),
    ("claimed", "error_claimed", "7.4f"),
    ("unsure", "unfinished", "7.1%"),
)
# of a rule that is not linear
PROMISED: Columns = (("/promise", "ratio_promise", "9.3f"), ("missed", "missed_share", "7.1%"))


@dataclass(frozen=True, eq=False)
class Comparison(InFrames):
    """Policies side by side.

    Parameters
    ----------
    title : str
    optimum : Optimum
        Of the same instance, with all workers and skills known.
    rows : list of dict
        One per policy and trial.
    summary : list of dict
        One per policy: means, half-widths of 95 % intervals, differences to the reference.
    timings : list of dict
        One per policy: seconds per arrival; apart, because they differ between equal runs.
    reference : str
        The policy that differences are to.
    failed : list of str
        Rows that ended in an error, with it.
    least : Least, optional
        What is possible by the model; None where it does not apply.
    target : float
        Mean error that tasks may have.
    constant_error : float, optional
        Recorded labels: how often the commonest true class is wrong, for nothing at all.
    breach : str
        How the crowd breaks the model, if it does.
    undrawn : list of str
        What could not be drawn where it was written, in sentences.
    """

    title: str
    optimum: Optimum
    rows: Rows
    summary: Rows
    timings: Rows
    reference: str
    failed: list[str]
    least: Least | None = None
    constant_error: float | None = None
    target: float = 0.0
    breach: str = ""
    undrawn: list[str] = field(default_factory=list)

    @property
    def columns(self) -> Columns:
        """What is shown of each policy."""
        return COLUMNS + PROMISED * bool(self.optimum.promise)

    @property
    def offline(self) -> list[str]:
        """What plans cost that know all skills, in sentences."""
        best = self.optimum
        of_rule = RULES[best.rule].of_rule
        if best.bound is None:
            linear = f"there is no offline plan{of_rule} for this campaign"
            linear += "" if best.promise else ": costs have nothing to be held against"
        else:
            linear = (
                f"offline, skills known, no plan{of_rule} costs less than {number(best.bound)} (LP {number(best.lp)})"
            )
        if not best.promise:
            return [linear]
        promised = RULES[best.promise].of_rule
        if best.promise_bound is None:
            least = f"there is no offline plan{promised} for this campaign"
        else:
            least = f"offline, skills known, no plan{promised} costs less than {number(best.promise_bound)}"
        return [least, f"policies go by rule {best.rule}, {_relation(best.implied, best.promise)}: {linear}"]

    @property
    def advice(self) -> str:
        """Which policy kept the mean target at the least cost."""
        kept = [one for one in self.summary if one.get("error_realised", 1.0) <= self.target]
        if not kept:
            return f"none of these kept a mean error of {self.target:g}"
        best = min(kept, key=lambda one: float(one["cost"]))
        return f"cheapest that kept a mean error of {self.target:g}: {best['policy']}, cost {number(best['cost'])}"

    @property
    def in_words(self) -> str:
        """What plans cost that know all skills."""
        return "; ".join(self.offline)

    def notebook_rows(self, most: int) -> tuple[Rows, int]:
        """Each policy's means."""
        return shown_of(self.summary, self.columns, most), len(self.summary)


@dataclass(frozen=True, eq=False)
class Setting:
    """What all rows share: the instance, where labels come from, what gold is held out, prices, a breach if any."""

    instance: AssignmentInstance
    record: LabelRecord | None
    held: np.ndarray[Any, Any]
    prices: np.ndarray[Any, Any] | None
    breach: str = ""

    def stream(self, seed: int, trial: int, preliminary: int) -> Stream:
        """The stream of a trial: the same for every policy."""
        if self.record is None:
            simulated = simulated_stream(self.instance, (seed, trial), preliminary, prices=self.prices)
            return breached(simulated, breach(self.breach))
        recorded = recorded_stream(self.instance, self.record, (seed, trial), self.held, preliminary, self.prices)
        return breached(recorded, breach(self.breach))

    def constant_error(self) -> float | None:
        """How often the commonest true class is wrong, on the tasks that are judged; None for simulated labels."""
        if self.record is None:
            return None
        judged = self.record.truth[(self.record.truth >= 0) & ~self.held & (self.instance.need > COVERAGE)]
        return 1 - float(np.bincount(judged).max()) / judged.size if judged.size else None


def attainable(instance: AssignmentInstance, record: LabelRecord | None) -> AssignmentInstance:
    """The instance whose optimum runs are held against: pairs without a recorded label cannot be had there either."""
    if record is None:
        return instance
    had = np.zeros((instance.n_tasks, instance.n_workers), bool)
    had[record.task, record.worker] = True
    had[tuple(instance.collected.T)] = True
    missing = ~had
    missing[tuple(instance.forbidden.T)] = True
    return replace(instance, forbidden=np.argwhere(missing))


def _relation(implied: bool, promise: str) -> str:
    """What the rule that policies go by has to do with the promise."""
    if implied:
        return f"which implies {promise}'s promise"
    return "with needs that are mostly enough where tasks may be hard (missed: where they were not)"


def texts(policies: Sequence[str]) -> list[str]:
    """The policies to run: as asked for, each once, and greedy, which stands beside every ratio."""
    wanted = list(dict.fromkeys(text.strip() for text in policies if text.strip()))
    if not wanted:
        raise InputError("no policy is given; name some, as in --policies re-solve,greedy")
    if not any(text.partition(":")[0] == BASELINE for text in wanted):
        wanted.append(BASELINE)
    for text in wanted:
        policy = named(text)
        if isinstance(policy, Kos) and not policy.labels and _equal(policy, wanted) is None:
            raise InputError(f"policy {text} is to take as many labels as {policy.equal!r}, which is not compared")
    return wanted


def _equal(policy: Kos, wanted: Sequence[str]) -> str | None:
    """The policy whose total a kos matches: the one it names, or else the first that is none."""
    others = [text for text in wanted if not isinstance(named(text), Kos)]
    if not policy.equal:
        return others[0]
    return next((text for text in others if policy.equal in (text, text.partition(":")[0])), None)


def write_setting(setting: Setting, folder: Path) -> str:
    """Write what rows share as one archive, named by its content; returns the path."""
    instance, beside = BytesIO(), BytesIO()
    np.savez_compressed(instance, **arrays_of(setting.instance))
    arrays: dict[str, Any] = {"held": setting.held, "breach": np.array(setting.breach)}
    if setting.prices is not None:
        arrays["prices"] = setting.prices
    if setting.record is not None:
        arrays |= {name: getattr(setting.record, name) for name in ("task", "worker", "label", "truth")}
    np.savez_compressed(beside, **arrays)
    digest = sha256(instance.getvalue() + beside.getvalue()).hexdigest()[:16]
    for ending, content in (("", instance), (".beside", beside)):
        with draft(folder / f"{digest}{ending}.npz") as file:
            file.write(content.getbuffer())
    return str(folder / digest)


@lru_cache(maxsize=2)
def read_setting(path: str) -> Setting:
    """What :func:`write_setting` wrote."""
    with np.load(f"{path}.beside.npz", allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    record = None
    if "task" in arrays:
        record = LabelRecord(*(arrays[name] for name in ("task", "worker", "label", "truth")))
    instance = read_archive(Path(f"{path}.npz"))
    return Setting(instance, record, arrays["held"], arrays.get("prices"), str(arrays["breach"]))


def row(
    solve: Solve,
    setting: str,
    text: str,
    trial: int,
    seed: int,
    optimum: list[Any],
    possible: float | None,
    labels: int = 0,
    code: str = "",
) -> dict[str, Any]:
    """Play one policy over one trial's stream and score it.

    setting: path of the archive that all rows share; trial, seed: place of the trial, and the seed of all; possible:
    what no policy undercuts; labels: for a policy that is to take as many labels as another one; 0: it knows
    itself; code: digest of a third party's, so that a row of other code is another row; -> figures and seconds for each
    arrival, as plain JSON.
    """
    shared = read_setting(setting)
    policy = named(text)
    if labels:
        policy = replace(policy, labels=labels)
    stream = shared.stream(seed, trial, policy.preliminary(shared.instance.n_workers))
    run = replay(policy, stream, jobs.seed_of(seed, trial), solve)
    best = Optimum(*optimum)
    figures = {"text": text, "trial": trial, **score(run, best, possible)}
    return {"figures": figures, "seconds": run.seconds}


@dataclass(frozen=True)
class TrialOptions:
    """Which policies are compared, and over how many streams."""

    policies: Sequence[str]
    trials: int
    seed: int  # of all trials


def play(
    setting: Setting,
    asked: TrialOptions,
    row: Callable[..., dict[str, Any]],
    folder: Path,
    processes: int,
    optimum: Optimum,
    least: Least | None = None,
) -> Comparison:
    """All rows, those of kos last (they need others' totals), and what they come to.

    setting: where workers, tasks and labels come from; row: :func:`row` with solvers bound to it, at the top of a
    module that spawned processes can import; folder: where the setting and each finished row are kept; what is
    there is not computed again; processes: spawned processes; 0: in this one; least: what is possible, to hold
    costs against.
    """
    wanted, trials = asked.policies, asked.trials
    refuse_beyond_memory(ROW * trials * len(wanted), f"{trials} trials of {len(wanted)} policies")
    path = write_setting(setting, folder)
    best = list(asdict(optimum).values())
    possible = least.cost if least is not None and np.isfinite(least.cost) else None

    def job(text: str, trial: int, labels: int = 0) -> jobs.Job:
        given = {"seed": asked.seed, "optimum": best, "possible": possible, "labels": labels}
        if code := code_of(named(text)):
            given["code"] = code
        return jobs.Job.of(row, setting=path, text=text, trial=trial, **given)

    late = [text for text in wanted if isinstance(named(text), Kos) and not named(text).labels]
    early = [text for text in wanted if text not in late]
    rows = jobs.run([job(text, k) for k in range(trials) for text in early], folder / "rows", processes, title="trials")
    totals = {(one.arguments["text"], one.arguments["trial"]): _total(one) for one in rows}
    matched, orphans = [], []
    for k in range(trials):
        for text in late:
            equal = _matched(named(text), wanted, totals, trials)
            if totals[equal, k]:
                matched.append(job(text, k, totals[equal, k]))
            else:
                orphans.append(_orphan(job(text, k), equal))
    rows += jobs.run(matched, folder / "rows", processes, title="kos") if matched else []
    rows += orphans
    comparison = _comparison(setting, wanted, optimum, rows)
    kept = replace(comparison, least=least, constant_error=setting.constant_error())
    return replace(kept, breach=setting.breach, target=float(setting.instance.epsilon.mean()))


def _total(one: jobs.Row) -> int:
    return 0 if one.error else int(one.result["figures"]["labels"])


def _matched(policy: Any, wanted: Sequence[str], totals: Mapping[tuple[str, int], int], trials: int) -> str:
    """The policy whose totals a kos takes: the one it names; else the first that has one in every trial."""
    whole = [text for text in wanted if all(totals.get((text, k)) for k in range(trials))]
    return _equal(policy, wanted if policy.equal or not whole else whole) or ""


def _orphan(job: jobs.Job, equal: str) -> jobs.Row:
    return jobs.Row(
        job.function,
        job.arguments,
        error=f"InputError: {equal}, whose labels it was to equal, has none; name another policy, as in kos:equal=NAME",
        fault=jobs.Fault.REFUSED,
    )


def _comparison(setting: Setting, wanted: Sequence[str], optimum: Optimum, done: Sequence[jobs.Row]) -> Comparison:
    good = [one.result for one in done if not one.error]
    failed = [f"{one.arguments['text']}, trial {one.arguments['trial']}: {one.why}" for one in done if one.error]
    place = places(wanted)
    rows = sorted((one["figures"] for one in good), key=lambda one: (one["trial"], place[one["text"]]))
    timings = [
        {
            "policy": text,
            "median_seconds_per_arrival": float(np.median(seconds)),
            "mean_seconds_per_arrival": float(np.mean(seconds)),
            "worst_seconds_per_arrival": float(np.max(seconds)),
        }
        for text in wanted
        if (seconds := [s for one in good if one["figures"]["text"] == text for s in one["seconds"]])
    ]
    reference = wanted[0]
    summary = _with_failures(summarise(rows, wanted, reference), wanted, done)
    return Comparison(setting.instance.title, optimum, rows, summary, timings, reference, failed)


def _with_failures(summary: Rows, wanted: Sequence[str], done: Sequence[jobs.Row]) -> Rows:
    """How many trials of each policy failed; one that always did has a line of its own that says why."""
    errors: dict[str, list[str]] = {text: [] for text in wanted}
    for one in done:
        if one.error:
            errors[one.arguments["text"]].append(one.error)
    lines = {line["policy"]: line for line in summary}
    return [
        {**lines.get(text, {"policy": text, "trials": 0, "notes": said[:1]}), "failed": len(said)}
        for text, said in errors.items()
    ]


def with_gold(
    instance: AssignmentInstance, record: LabelRecord | None, share: float, seed: int
) -> tuple[AssignmentInstance, np.ndarray[Any, Any]]:
    """Recorded labels: some tasks of known truth serve as gold. Simulated ones need none held out.

    record: None: labels are simulated; share: of the tasks of known truth, held out as gold; in [0, 1); -> instance:
    without a need for the tasks that are held out; held (tasks,).
    """
    if record is None:
        return instance, np.zeros(instance.n_tasks, bool)
    if not 0 <= share < 1:
        raise InputError(f"the share of tasks held out as gold must lie in [0, 1), not {share}")
    return hold_out(instance, record.truth, share, seed)
