"""Trials behind benchmarks/adaptive.py: one function a table, one call a row."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.real_data import folder_of
from crowdopt import AssignmentInstance, solve_program
from crowdopt.answers.audit.tariff import Tariff
from crowdopt.crowd.alike import of_workers
from crowdopt.io.campaign import LabelRecord
from crowdopt.online.arrivals import Stream
from crowdopt.online.crowds import breach, breached, hold_out, recorded_stream, simulated_stream
from crowdopt.online.limits import least
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import Optimum, score, weighted_vote
from crowdopt.studies.online_trials import after_audit, certified

TASKS, WORKERS, CAPACITY = 1000, 300, 200
GOLD = {"spammers and hammers": 20, "everyone .6414": 20, "U(.5, 1)": 10, "Beta(2.3, 2)": 10, "three types": 10}
PAPER, FIRST, SEQUENTIAL, MAJORITY = "the paper's algorithm", "gold first", "learning on the job", "majority"
LINES: dict[str, tuple[str, tuple[float, ...]]] = {  # a policy over error targets, or over labels in all
    MAJORITY: ("kos:labels={total}:inference=majority", (4000, 8000, 16000, 32000)),
    PAPER: ("main-algorithm:gold={gold}:gamma=.3", (0.45, 0.3, 0.2, 0.1)),
    FIRST: ("adaptive:gold={gold}", (0.2, 0.1, 0.05)),
    SEQUENTIAL: ("sequential", (0.2, 0.1, 0.05)),
}
NOTHING = Optimum(None, None, None)
AUDIT = Tariff(checks=100, price=20.0)  # of recorded answers
FIGURES = ("labels", "error_realised", "error_claimed", "unfinished")
POOL, SHARES = (0.9, 0.75, 0.6), (0.1, 0.3, 0.6)  # the three-class pool of the budget
EACH = 5
EVERYTHING = "all labels there are, majority"


def accuracies(setting: str, rng: np.random.Generator, workers: int = WORKERS) -> np.ndarray:
    """Skills of a crowd, (types, workers)."""
    if setting == "spammers and hammers":
        return np.where(rng.random(workers) < 0.5, 0.5, 0.7)[None]
    if setting == "everyone .6414":
        return np.full((1, workers), 0.6414)
    if setting == "U(.5, 1)":
        return rng.uniform(0.5, 1, (1, workers))
    if setting == "Beta(2.3, 2)":
        return rng.beta(2.3, 2, (1, workers))
    return np.where(rng.integers(0, 3, workers) == np.arange(3)[:, None], 0.7, 0.5)


def crowd(setting: str, epsilon: float, seed: int, workers: int = WORKERS, tasks: int = TASKS) -> AssignmentInstance:
    """Workers of a setting, 200 tasks each."""
    skill = accuracies(setting, np.random.default_rng([seed, workers]), workers)
    room = np.full(workers, CAPACITY)
    return AssignmentInstance(skill, np.arange(tasks) % len(skill), room, epsilon, rule="hoeffding")


def played(text: str, of: Stream, seed: int, audit: Tariff | None = None) -> dict[str, Any]:
    """What a policy took, reached, and believes it reached; what an audit would certify."""
    run = replay(named(text), of, seed, solve_program)
    found = score(run, NOTHING)
    seconds, sure = float(run.seconds.sum()), {} if audit is None else certified(run, audit, seed)
    facts = {"notes": run.notes, "seconds": seconds, "gold": run.labels["gold"]}
    return {**{key: found[key] for key in FIGURES}, **facts, **sure}


def line(setting: str, name: str, at: float, seed: int, tasks: int = TASKS) -> dict[str, Any]:
    """One policy at one target on one crowd."""
    text, _ = LINES[name]
    epsilon = at if at < 0.5 else 0.1

    def draw(rng: np.random.Generator, count: int) -> AssignmentInstance:
        return crowd(setting, epsilon, int(rng.integers(2**31)), count, tasks)

    of = simulated_stream(crowd(setting, epsilon, seed, tasks=tasks), (seed,), round(0.3 * WORKERS), draw)
    return played(text.format(gold=GOLD[setting], total=round(at * tasks / TASKS)), of, seed)


def bound(setting: str, epsilon: float, seed: int) -> dict[str, Any]:
    """What no policy can do better on that crowd; with several types, where skills are known."""
    found = least(crowd(setting, epsilon, seed), solve_program)
    return {"information": found.information, "known": found.known, "unknown": found.unknown, "cost": found.cost}


def broken(how: str, setting: str, text: str, epsilon: float, seed: int) -> dict[str, Any]:
    """One policy on one crowd that breaks the model."""
    of = breached(simulated_stream(crowd(setting, epsilon, seed), (seed,)), breach(how))
    return played(text, of, seed)


def bought(text: str, best: bool, seed: int) -> dict[str, Any]:
    """Three-class pool: 300 tasks, 90 workers of capacity 100, ``best``: only the best, in order."""
    skill = np.random.default_rng([seed, 5]).choice(POOL, 90, p=SHARES)
    instance = AssignmentInstance(skill[None], np.zeros(300, np.int64), np.full(90, 100), 0.1)
    if best:
        instance = of_workers(instance, np.argsort(-skill, kind="stable")[: EACH * 300 // 100])
    return played(text, simulated_stream(instance, (seed,), shuffle=not best), seed)


def folder() -> Path | None:
    """Where label sets lie, if anywhere."""
    found = os.environ.get("CROWDOPT_DATA")
    return Path(found) if found and Path(found).is_dir() else None


def replayed(data: str, typed: bool, text: str, epsilon: float, seed: int) -> dict[str, Any]:
    """One policy on recorded labels in a random order of the workers; a random half of the tasks is gold."""
    record, instance, held = halved(data, typed, epsilon, seed)
    judged = record.truth[~held & (record.truth >= 0)]
    constant = 1 - float(np.bincount(judged).max()) / judged.size
    if text == EVERYTHING:
        there, ones = ~held[record.task], np.ones(record.task.size)
        tasks, labels = record.task[there], record.label[there]
        answers = weighted_vote(tasks, labels, ones[there], record.truth.size, instance.classes)
        wrong, count = (answers != record.truth)[~held & (record.truth >= 0)], int(there.sum())
        found = {"labels": count, "error_realised": float(wrong.mean()), "constant": constant}
        return {**dict.fromkeys(FIGURES), **found, **after_audit(wrong, count, AUDIT, seed)}
    of = recorded_stream(instance, record, (seed,), held, named(text).preliminary(instance.n_workers))
    return {**played(text, of, seed, AUDIT), "constant": constant}


def recorded(data: str, typed: bool, epsilon: float, seed: int, policy: Any) -> Stream:
    """The stream of recorded labels that a policy meets on a split."""
    record, instance, held = halved(data, typed, epsilon, seed)
    return recorded_stream(instance, record, (seed,), held, policy.preliminary(instance.n_workers))


def halved(data: str, typed: bool, epsilon: float, seed: int) -> tuple[LabelRecord, AssignmentInstance, np.ndarray]:
    """Recorded labels, the instance that policies see of them, and which tasks are held out as gold."""
    place = folder_of(data)
    tables = {name: _table(place / f"{name}.csv") for name in ("labels", "truth", "types")}
    tasks = {name: k for k, name in enumerate(dict.fromkeys(row["task"] for row in tables["labels"]))}
    workers = {name: k for k, name in enumerate(dict.fromkeys(row["worker"] for row in tables["labels"]))}
    task = np.array([tasks[row["task"]] for row in tables["labels"]])
    worker = np.array([workers[row["worker"]] for row in tables["labels"]])
    names = sorted({row["label"] for name in ("labels", "truth") for row in tables[name]})
    label = np.array([names.index(row["label"]) for row in tables["labels"]])
    truth = np.full(len(tasks), -1)
    truth[[tasks[row["task"]] for row in tables["truth"]]] = [names.index(row["label"]) for row in tables["truth"]]
    kind = np.zeros(len(tasks), np.int64)
    if typed and tables["types"]:
        types = sorted({row["type"] for row in tables["types"]})
        kind[[tasks[row["task"]] for row in tables["types"]]] = [types.index(row["type"]) for row in tables["types"]]
    nobody = np.full((int(kind.max()) + 1, len(workers)), 0.5)  # skills are not told to anybody here
    instance = AssignmentInstance(nobody, kind, np.bincount(worker), epsilon, classes=len(names))
    instance, held = hold_out(instance, truth, 0.5, seed)
    return LabelRecord(task, worker, label, truth), instance, held


def _table(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
