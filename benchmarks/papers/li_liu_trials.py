"""One trial of the experiments of Li & Liu 2015, Section 4: a pool, its control questions, every method at every K.

A method hires by the control questions alone and answers the other items from its workers' labels alone. EM starts
from the shares of votes and sees neither the control items nor their answers. Ties of the vote go to the first class,
ties of the top-K ranking to the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from benchmarks.papers.real_data import folder_of
from crowdopt.answers import Answers, dawid_skene, one_coin, wmv_linear, wmv_log
from crowdopt.crowd.labels import Labels
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.ranking import RULES
from crowdopt.io.tables import read_labels, read_truth

LINEAR = {  # figures 1 and 2: who is hired; all vote by WMV-linear
    "top K": "top-k",
    "selected (Algorithm 1)": "algorithm1",
    "plug-in": "plug-in",
    "variance-normalised (ours)": "variance-normalised",
}
SEVEN = {  # figures 3 and 4: who is hired, how their labels are combined
    "WMV-lin top K": ("top-k", "linear"),
    "WMV-lin selected": ("algorithm1", "linear"),
    "WMV-log selected": ("algorithm1", "log"),
    "EM random K": ("random-k", "em"),
    "EM top K": ("top-k", "em"),
    "EM selected": ("algorithm1", "em"),
    "WMV-lin plug-in": ("plug-in", "linear"),
}
EM = {"one-coin": one_coin, "dawid-skene": dawid_skene}


def simulated(
    seed: int,
    workers: int = 31,
    items: int = 1000,
    controls: int = 10,
    a: float = 2.3,
    b: float = 2.0,
    sizes: list[int] | None = None,
    truncations: list[float] | None = None,
) -> dict[str, Any]:
    """Binary items, accuracies from Beta(a, b): accuracy and workers used, by method, one number per K.

    With ``truncations`` the methods are WMV-linear and WMV-log at each of them, on the workers Algorithm 1 selects.
    """
    rng = np.random.default_rng(seed)
    skill = rng.beta(a, b, workers)
    correct = rng.binomial(controls, skill)
    labels, truth = drawn(skill, items, rng)
    votes = {name: (rule, "linear") for name, rule in LINEAR.items()}
    if truncations is not None:
        votes = {"WMV-linear": ("algorithm1", "linear")}
        votes |= {f"WMV-log, {t:g}": ("algorithm1", f"log:{t}") for t in truncations}
    return trial(correct, controls, labels, truth, votes, sizes or list(range(3, workers + 1)), rng)


def drawn(skill: np.ndarray, items: int, rng: np.random.Generator) -> tuple[Labels, np.ndarray]:
    """A dense table of binary labels, and the truth."""
    truth = rng.integers(0, 2, items)
    said = np.where(rng.random((items, skill.size)) < skill, truth[:, None], 1 - truth[:, None])
    task, worker = (part.reshape(-1) for part in np.indices(said.shape))
    ids = tuple(map(str, range(items))), tuple(map(str, range(skill.size))), ("0", "1")
    return Labels(task, worker, said.reshape(-1), *ids), truth


def real(seed: int, dataset: str, controls: int = 10, em: str = "one-coin") -> dict[str, Any]:
    """A real label set: ``controls`` of its items drawn as control questions, the others answered; K from 3 to all."""
    rng = np.random.default_rng(seed)
    labels, truth = loaded(dataset)
    control = rng.choice(truth.size, controls, replace=False)
    asked, rest = np.isin(labels.task, control), ~np.isin(labels.task, control)
    right = truth[labels.task] == labels.label
    correct = np.bincount(labels.worker[asked], weights=right[asked], minlength=len(labels.workers)).astype(int)
    others = Labels(
        labels.task[rest], labels.worker[rest], labels.label[rest], labels.tasks, labels.workers, labels.classes
    )
    counted = np.where(np.isin(np.arange(truth.size), control), -1, truth)
    return trial(correct, controls, others, counted, SEVEN, list(range(3, len(labels.workers) + 1)), rng, em)


@cache
def loaded(dataset: str) -> tuple[Labels, np.ndarray]:
    """A folder of CROWDOPT_DATA."""
    folder = folder_of(dataset)
    labels = read_labels(folder / "labels.csv")
    return labels, read_truth(folder / "truth.csv", labels)


def trial(
    correct: np.ndarray,
    asked: int,
    labels: Labels,
    truth: np.ndarray,
    methods: dict[str, tuple[str, str]],
    sizes: list[int],
    rng: np.random.Generator,
    em: str = "one-coin",
) -> dict[str, Any]:
    """Every method at every K; items with truth -1 do not count."""
    counted = truth >= 0
    classes, ties = len(labels.classes), int(rng.integers(2**62))

    @cache
    def share_right(members: tuple[int, ...], vote: str) -> float:
        answer = _answer(labels, np.array(members), correct / asked, vote, em)
        return float((answer[counted] == truth[counted]).mean())

    found: dict[str, Any] = {"sizes": sizes, "accuracy": {}, "used": {}}
    for name, (rule, vote) in methods.items():
        sets = [_hired(rule, SelectionInstance(correct, asked, classes, k), ties) for k in sizes]
        found["accuracy"][name] = [share_right(members, vote) for members in sets]
        found["used"][name] = [len(members) for members in sets]
    return found


def _hired(rule: str, instance: SelectionInstance, ties: int) -> tuple[int, ...]:
    rng = np.random.default_rng([ties, instance.most if rule == "random-k" else 0])
    return tuple(sorted(RULES[rule](instance, rng).tolist()))


def _answer(labels: Labels, members: np.ndarray, share: np.ndarray, vote: str, em: str) -> np.ndarray:
    own = np.isin(labels.worker, members)
    theirs = replace(labels, task=labels.task[own], worker=labels.worker[own], label=labels.label[own])
    how, _, truncation = vote.partition(":")
    votes: dict[str, Callable[[], Answers]] = {
        "linear": lambda: wmv_linear(theirs, share),
        "log": lambda: wmv_log(theirs, share, *([float(truncation)] if truncation else [])),
        "em": lambda: EM[em](theirs, iterations=100),
    }
    return votes[how]().answer
