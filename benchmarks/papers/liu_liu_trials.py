"""One trial of Liu & Liu 2015, Section 6: every policy on the same labelers, tasks and labels."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from crowdopt.crowd.labels import REPEAT
from crowdopt.labelers.arrivals import KINDS, Labelers, TaskStream, drawn_labelers, recorded_tasks, simulated_tasks
from crowdopt.labelers.asking import AskingRecord, replay
from crowdopt.labelers.policies import named
from crowdopt.labelers.regret import curves, judged, score
from crowdopt.verbs import learn

TABLE_1 = (0.763, 0.781, 0.625, 0.783, 0.727)
HORIZON, COST = 2000, 0.02

FULL, RANDOM, ORACLE = "full-majority", "random-set", "oracle"
SIMPLE, WEIGHTED, OURS = "ls-ol:g1=20:g2=.1", "ls-ol-weighted:g1=20:g2=.1", "em-then-exploit"
REPEATING, PRINTED, TIGHT = "ls-ol:g1=10:g2=1", "ls-ol:constants=printed", "ls-ol:constants=tight"
NAMES = {
    FULL: "full majority",
    RANDOM: "random set",
    ORACLE: "oracle",
    SIMPLE: "LS_OL (20, .1)",
    REPEATING: "LS_OL (10, 1)",
    PRINTED: "LS_OL, printed constants",
    TIGHT: "LS_OL, tight constants",
    WEIGHTED: "LS_OL weighted (20, .1)",
    OURS: "testers once, EM (ours)",
}


def stream(labelers: int, low: float, high: float, seed: int) -> TaskStream:
    """Fresh skills, uniform on [low, high] given that the majority of all beats a guess; labelers = 0: Table 1's."""
    if labelers == 0:
        people = Labelers(np.array([TABLE_1]), np.full(5, COST))
    else:
        people = drawn_labelers(labelers, (seed,), low, high, COST)
    return simulated_tasks(people, HORIZON, (seed,))


def trial(labelers: int, low: float, high: float, policies: list[str], seed: int) -> dict[str, Any]:
    """Scores and curves of every policy."""
    return played(stream(labelers, low, high, seed), policies, seed)


def played(of: TaskStream, policies: list[str], seed: int) -> dict[str, Any]:
    """Each policy on the stream."""
    found = {}
    for text in policies:
        one = judged(replay(named(text), of, seed))
        found[text] = {"figures": score(one), "curves": curves(one)}
    return found


@cache
def recorded(labels: str, truth: str) -> learn.RecordedLabels:
    """The label table, read once a process."""
    return learn.read_labels(labels, truth, cost=COST)


def real(labels: str, truth: str, policies: list[str], seed: int) -> dict[str, Any]:
    """The same on recorded labels in a random order; errors so far, and disagreements with the majority, over time."""
    table = recorded(labels, truth)
    of = recorded_tasks(table, len(table.label), (seed, 0))
    runs = {text: replay(named(text), of, seed) for text in policies}
    scores = played(of, policies, seed)
    for text, run in runs.items():
        scores[text]["errors"] = _errors(run)
    scores["disagreement"] = _disagreement(of)
    return scores


def _errors(run: AskingRecord) -> list[float]:
    """Share of wrong answers up to each task."""
    wrong = np.cumsum(run.answer[1:] != run.stream.truth[1:])
    return (wrong / np.arange(1, wrong.size + 1)).tolist()


def _disagreement(of: TaskStream) -> dict[str, list[int]]:
    """By labeler: how often they have differed from the majority of all up to each task, by name."""
    counts = np.stack([(of.label == k).sum(axis=1) for k in range(of.labelers.classes)], axis=1)
    apart = np.cumsum(of.label != counts.argmax(axis=1)[:, None], axis=0)
    return {name: apart[:, k].tolist() for k, name in enumerate(of.labelers.names)}


def long_run(skills: list[list[float]], policies: list[str], horizon: int, times: list[int], seed: int) -> Any:
    """Regret of each policy at some times of a long stream; as many kinds of task as rows of skills."""
    people = Labelers(np.array(skills), np.full(len(skills[0]), COST))
    of = simulated_tasks(people, horizon, (seed,))
    found = {}
    for text in policies:
        run = replay(named(text), of, seed)
        one = judged(run)
        regret = np.cumsum(np.nan_to_num(one.best - one.utility))
        repeats = np.cumsum(run.kind[1:] == KINDS.index(REPEAT))
        found[text] = {"regret": regret[np.array(times) - 1].tolist(), "repeats": repeats[np.array(times) - 1].tolist()}
    return found
