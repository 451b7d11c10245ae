"""Small streams of tasks of every kind, and every policy with its options."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from crowdopt.labelers.arrivals import Labelers, LabelTable, TaskStream, recorded_tasks, simulated_tasks
from crowdopt.labelers.asking import LabelerReplay
from crowdopt.labelers.policies import named

SKILLS = np.array([0.9, 0.55, 0.7, 0.8, 0.62, 0.75])
COST = np.array([0.02, 0.01, 0.05, 0.02, 0.01, 0.02])
OPTIONS = {  # every policy there is, and the options that make it do something else
    "ls-ol": ["", ":g1=2:g2=2", ":constants=printed", ":constants=tight:eta=.5", ":g1=2:g2=2:delay=5"],
    "ls-ol-weighted": ["", ":g1=3:g2=1:tolerance=.1", ":price=.5", ":constants=printed:c=3"],
    "ls-ol-vetting": ["", ":g1=4:g2=1:most=2:threshold=.3"],
    "ls-ol-context": ["", ":g1=2:g2=1:z=.3", ":weighted:vetting:g1=2"],
    "em-then-exploit": [":testers=50", ":testers=50:votes=majority", ":testers=30:price=.5"],
    "full-majority": [""],
    "oracle": ["", ":votes=weighted", ":price=.5"],
    "random-set": ["", ":size=2"],
}
EVERY = [name + options for name, more in OPTIONS.items() for options in more]
KINDS = ("one kind", "two kinds", "contexts", "three classes", "table")


def stream(kind: str = "one kind", seed: int = 0, horizon: int = 90) -> TaskStream:
    """A stream of that kind."""
    if kind == "table":
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, horizon + 1)
        label = np.where(rng.random((truth.size, 6)) < SKILLS, truth[:, None], 1 - truth[:, None])
        label[rng.random(label.shape) < 0.1] = -1
        truth[::7] = -1
        table = LabelTable(label, truth, np.zeros(truth.size, np.int64), COST, 2, tuple("abcdef"))
        return recorded_tasks(table, horizon, (seed,))
    at = np.array([0.0, 1.0]) if kind == "contexts" else None
    rows = np.stack([SKILLS, SKILLS[::-1]][: 2 if kind in ("two kinds", "contexts") else 1])
    return simulated_tasks(Labelers(rows, COST, 3 if kind == "three classes" else 2, at), horizon, (seed,))


def start(text: str, of: TaskStream, seed: int = 0) -> LabelerReplay:
    return LabelerReplay(named(text), of, seed)


def scrambled(of: TaskStream, until: int) -> TaskStream:
    """Another future: other labels, coins and contexts from a task on, and another truth altogether."""
    rng = np.random.default_rng(7)
    label, coin, context = of.label.copy(), of.coin.copy(), of.context.copy()
    label[until:] = rng.integers(0, of.labelers.classes, label[until:].shape)
    coin[until:] = rng.random(coin[until:].size)
    context[until:] = rng.permutation(context[until:])
    return replace(of, label=label, coin=coin, context=context)


def with_other_truth(of: TaskStream) -> TaskStream:
    """The truth permuted after labels were drawn; repeats keep theirs."""
    kept = {field.name: getattr(of, field.name) for field in fields(of)}
    return KeepsRepeats(**kept | {"truth": np.random.default_rng(5).permutation(of.truth)}, first=of)


@dataclass(frozen=True, eq=False)
class KeepsRepeats(TaskStream):
    """Repeats as another stream gives them."""

    first: TaskStream | None = None

    def repeated(self, task, number):
        return self.first.repeated(task, number)
