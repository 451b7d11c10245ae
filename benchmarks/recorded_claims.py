"""What policies claim of recorded labels and what is true: by labels alone, and with looks of an expert.

python -m benchmarks.recorded_claims [--sets A,B] [--splits N] [--processes P] [-o FOLDER]

A random half of each set's tasks is gold, the other half is judged; splits are seeds 0 to N - 1. A policy buys the same
labels with looks and without, so each run is made once, and looks are drawn 25 times from its answers as the policy
draws them. Finished rows are kept in the folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.papers.real_data import folder_of
from crowdopt import solve_program
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.io.campaign import LabelRecord
from crowdopt.io.tables import labels_of, read_label_table, read_true_labels, true_classes
from crowdopt.jobs import Job, run
from crowdopt.online.arrivals import Stream
from crowdopt.online.checked_claims import CheckedAnswers, drawn, looks_at
from crowdopt.online.crowds import hold_out, recorded_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of

SETS = "bluebird,quiz_medicine,rte,zencrowd_core5,zencrowd_all"
POLICY = "sequential"
TARGETS = (0.1, 0.05)
DRAWS = 25
KEYS = ("labels", "looks", "claimed", "wrong", "claimed_after", "wrong_after")
HEAD = ("labels of", "target", "policy", "labels", "looks", "claimed → true, by labels alone", "true / claimed")
MORE = ("claimed → true, with looks", "true / claimed, 95 %")


def row(data: str, text: str, epsilon: float, seed: int) -> dict[str, float]:
    """One policy on one split, before looks and on average of those drawn; a job."""
    of = recorded(data, epsilon, seed, named(text))
    policy = named(f"{text}:checks=0")
    return _with_looks(of, replay(policy, of, seed, solve_program), named(text).checks, seed)


def recorded(data: str, epsilon: float, seed: int, policy: Any) -> Stream:
    """Recorded labels as a policy meets them: skills are told to nobody, a random half of the tasks is gold."""
    place = folder_of(data)
    known = read_true_labels(place / "truth.csv")
    labels = labels_of(read_label_table(place / "labels.csv"), tuple(known.values()))
    truth = true_classes(known, labels, "truth.csv")
    nobody, kind, count = np.full((1, len(labels.workers)), 0.5), np.zeros(truth.size, int), len(labels.classes)
    crowd = AssignmentInstance(nobody, kind, labels.counts, epsilon, classes=count)
    instance, held = hold_out(crowd, truth, 0.5, seed)
    record = LabelRecord(labels.task, labels.worker, labels.label, truth)
    return recorded_stream(instance, record, (seed,), held, policy.preliminary(instance.n_workers))


def _with_looks(of: Stream, of_run: Any, share: float, seed: int) -> dict[str, float]:
    """Figures of KEYS; a task without an answer is a fair guess."""
    judged = (of.truth >= 0) & (of.instance.need > COVERAGE)
    answers, claims = answers_of(of_run), of_run.claims
    guess = 1 - 1 / of.instance.classes
    error = np.where(answers < 0, guess, answers != of.truth)
    there = judged & (answers >= 0)
    count = looks_at(of_run.total_labels, share, int(there.sum()))
    after = []
    for draw in range(DRAWS):
        tasks = drawn(claims, there, count, np.random.default_rng([seed, draw]))
        looks = CheckedAnswers(tasks, of.truth[tasks], answers[tasks])
        left = np.where(np.isin(np.arange(error.size), tasks), 0.0, error)
        after.append((looks.claims(claims, of.instance.classes)[judged].mean(), left[judged].mean()))
    figures = (of_run.total_labels, count, claims[judged].mean(), error[judged].mean(), *np.mean(after, axis=0))
    return dict(zip(KEYS, map(float, figures), strict=True))


def ratio(true: np.ndarray, claimed: np.ndarray) -> tuple[float, float]:
    """Of sums over splits, and the half-width of its 95 % interval by how the splits differ."""
    found = float(true.sum() / claimed.sum())
    spread = float(np.std(true - found * claimed, ddof=1)) / float(claimed.mean())
    return found, float(student.ppf(0.975, true.size - 1)) * spread / true.size**0.5


def line(names: Sequence[str], rows: Sequence[dict[str, float]]) -> str:
    """Means over splits, and ratios of these."""
    column = {key: np.array([one[key] for one in rows]) for key in KEYS}
    mean = {key: float(values.mean()) for key, values in column.items()}
    before, _ = ratio(column["wrong"], column["claimed"])
    after, half = ratio(column["wrong_after"], column["claimed_after"])
    cells = [*names, f"{mean['labels']:.0f}", f"{mean['looks']:.0f}"]
    cells += [f"{mean['claimed']:.3f} → {mean['wrong']:.3f}", f"{before:.2f}"]
    cells += [f"{mean['claimed_after']:.3f} → {mean['wrong_after']:.3f}", f"{after:.2f} ± {half:.2f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """A line for each set, target and policy; then all sets together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    sets = given.sets.split(",")
    for data in sets:
        folder_of(data)
    print(f"{given.splits} splits, looks drawn {DRAWS} times from each\n\n| {' | '.join((*HEAD, *MORE))} |")
    print(f"|{'---|' * len((*HEAD, *MORE))}")
    for target in TARGETS:
        pooled = []
        for data in sets:
            asked = [Job.of(ROW, data=data, text=POLICY, epsilon=target, seed=k) for k in range(given.splits)]
            done = run(asked, given.output, given.processes)
            if broken := [one.error for one in done if one.error]:
                raise SystemExit(f"{data}: {broken[0]}")
            rows = [one.result for one in done]
            pooled += rows
            print(line((data, f"{target:g}", POLICY), rows), flush=True)
        print(line(("all", f"{target:g}", POLICY), pooled), flush=True)


if __name__ == "__main__":
    from benchmarks.recorded_claims import row as ROW  # by its import path: processes are to find it

    main()
