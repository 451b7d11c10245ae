"""One row: a subject run in a process of its own, watched, and its answer judged here."""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import crowdopt
from crowdopt.benching.judge import WRONG, Judgement, judge_plan, judge_solution
from crowdopt.benching.sources import open_problem
from crowdopt.benching.subject import Subject, reference
from crowdopt.confine import Ending, run_confined
from crowdopt.documents import finite
from crowdopt.errors import ProgramWarning

LOADING = 300.0  # seconds that loading, compiling once and building may take before the solver's clock starts
LONGEST = 300  # characters of an error that are kept
REFUSED, FAILED, CRASHED, LATE, GREEDY = "refused", "failed", "crashed", "out of time", "out of memory"
FIELDS = ("value", "bound", "violation", "fraction")


@dataclass
class Watch:
    """Whether a subject's time is up: its limit and grace count from the moment at which it starts to solve."""

    subject: Subject
    events: Path
    began: float | None = None

    def is_over(self, elapsed: float) -> bool:
        """Whether so many seconds after the start are too many."""
        limits = self.subject.limits
        if elapsed < limits.seconds:
            return False
        if self.began is None:
            self.began = next((event["at"] for event in read_events(self.events) if event["stage"] == "solving"), None)
        loading = LOADING if self.began is None else self.began
        return elapsed > loading + limits.seconds + limits.grace


def measure(versions: dict[str, str], attempt: int = 0, **arguments: Any) -> dict[str, Any]:
    """Run a subject and judge it, for a row of a benchmark; other versions or attempts are other rows."""
    subject = Subject.of(arguments)
    with TemporaryDirectory(prefix="crowdopt-bench-") as scratch:
        folder = Path(scratch)
        (folder / "subject.json").write_text(json.dumps(arguments), encoding="utf-8")
        command = [sys.executable, "-X", "faulthandler", "-m", "crowdopt.benching.child", str(folder)]
        watch = Watch(subject, folder / "events.jsonl")
        before = reference()
        ending = run_confined(command, _environment(subject), folder / "said", subject.limits.megabytes, watch.is_over)
        return {**_row(subject, ending, folder), "reference": max(before, reference())}


def _environment(subject: Subject) -> dict[str, str]:
    home = str(Path(crowdopt.__file__).parent.parent)
    paths = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, **subject.limits.environment, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def _row(subject: Subject, ending: Ending, folder: Path) -> dict[str, Any]:
    events = read_events(folder / "events.jsonl")
    done = _done(folder) if ending.kind == "finished" else None
    judgement = _ended(subject, ending, events, folder) if done is None else _judged(subject, done, folder)
    facts = {key: finite(value) for key, value in asdict(judgement).items() if key in FIELDS}
    return {
        "outcome": judgement.outcome,
        "why": judgement.why,
        **facts,
        "proof": judgement.proof,
        "gap": judgement.gap,
        "claimed": None if done is None else done.get("status"),
        "raw": None if done is None else done.get("raw"),
        "family": _told(events, "family"),
        "about": _told(events, "about") or "",
        "claimed_bound": None if done is None else done.get("claimed_bound"),
        "size": _told(events, "size"),
        "timings": _timings(ending, events, done),
        "megabytes": max(ending.megabytes, (done or {}).get("megabytes") or 0.0),
        "megabytes_before": (done or {}).get("megabytes_before"),
        "host": platform.node(),
    }


def _told(events: list[dict[str, Any]], what: str) -> Any:
    return next((event[what] for event in events if what in event), None)


def read_events(path: Path) -> list[dict[str, Any]]:
    """The lines that a subject has left so far; one that is cut off in the middle does not count."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def _done(folder: Path) -> dict[str, Any] | None:
    path = folder / "done.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _ended(subject: Subject, ending: Ending, events: list[dict[str, Any]], folder: Path) -> Judgement:
    """A subject that gave no answer, because it was killed or fell over."""
    stage = {
        "started": "loading",
        "imported": "warming up",
        "warm": "opening the problem",
        "open": "building",
        "solving": "solving",
    }
    last = events[-1]["stage"] if events else ""
    doing = stage.get(last, "answering" if last else "starting")
    if ending.kind == "memory":
        return Judgement(GREEDY, f"killed while {doing}: it took more than the {subject.limits.megabytes:g} MB allowed")
    if ending.kind == "time":
        return Judgement(LATE, f"killed while {doing}: it did not keep its time limit of {subject.limits.seconds:g} s")
    said = (folder / "said").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    words = next((line for line in said if "rror" in line or "abort" in line.lower()), said[-1] if said else "silence")
    return Judgement(CRASHED, f"{_how(ending.status)} while {doing}: {words[:LONGEST]}")


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"killed by {Signals(-status).name}"
    return f"ended with status {status}"


def _judged(subject: Subject, done: dict[str, Any], folder: Path) -> Judgement:
    if "error" in done:
        kind, _, sentence = done["error"].partition(": ")
        if kind in ("BackendMissing", "InputError"):
            return Judgement(REFUSED, sentence[:LONGEST])
        if kind == "BackendFailed":
            return Judgement(FAILED if " failed: " in sentence else WRONG, sentence[:LONGEST])
        return Judgement(FAILED, done["error"][:LONGEST])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProgramWarning)  # told when the cases were listed
        problem = open_problem(subject.problem, subject.seed)
    claim, bound = done["status"], done["claimed_bound"]
    if not (folder / "solution.npz").exists():
        return judge_plan(problem, claim, bound, folder)
    with np.load(folder / "solution.npz", allow_pickle=False) as stored:
        arrays = {name: np.asarray(stored[name], dtype=np.float64) for name in stored.files}
    return judge_solution(problem.build(subject.program), claim, bound, arrays)


def _timings(ending: Ending, events: list[dict[str, Any]], done: dict[str, Any] | None) -> dict[str, float | None]:
    """Seconds of every part; ``wall`` and ``cpu`` are those of the whole process tree."""
    at = {event["stage"]: event["at"] for event in events}
    parts: dict[str, float | None] = {"load": at.get("warm"), "build": None, "hand_over": None, "solve": None}
    parts |= {"read_back": None, "total": None}
    return {**parts, **((done or {}).get("timings") or {}), "wall": ending.seconds, "cpu": ending.cpu}
