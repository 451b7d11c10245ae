"""What figures 3 and 4 share: seven methods on a real label set, its claims, its pictures."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.papers.li_liu_report import (
    Claim,
    Trials,
    all_hold,
    computed,
    everywhere,
    picture,
    shown,
    verdict,
    write,
)
from benchmarks.papers.li_liu_trials import SEVEN, real
from benchmarks.papers.real_data import folder_of

WMV_TOP, LINEAR, LOG, EM_RANDOM, EM_TOP, EM_SELECTED, PLUG_IN = SEVEN


def rise_and_fall(trials: Trials, name: str) -> Claim:
    """Whether accuracy rises to a peak and then falls, the peak being that of the means."""
    accuracy = trials.accuracy[name]
    peak = int(accuracy.mean(axis=0).argmax())
    rise, fall = accuracy[:, peak] - accuracy[:, 0], accuracy[:, peak] - accuracy[:, -1]
    return Claim(
        f"{name} rises with K, then falls (3a, Section 5)",
        f"best at K = {trials.across[peak]:g}: {shown(rise)} points above K = {trials.across[0]:g}, "
        f"{shown(fall)} above K = {trials.across[-1]:g} (picked among {trials.across.size} means: a little too high)",
        all_hold([verdict(rise, trials.across.size), verdict(fall, trials.across.size)]),
    )


def common_claims(trials: Trials) -> list[Claim]:
    """What the paper says of all its real data."""
    found = [rise_and_fall(trials, EM_TOP)]
    said, holds = everywhere(trials, LINEAR, WMV_TOP)
    found.append(Claim("WMV-lin selected beats WMV-lin top K", said, holds))
    large = np.flatnonzero(trials.across > trials.across.max() / 2)
    for mine in (LINEAR, LOG, EM_SELECTED):
        parts = {other: everywhere(trials, mine, other, points=large) for other in (EM_TOP, EM_RANDOM)}
        said = "; ".join(f"against {other}: {text}" for other, (text, _) in parts.items())
        holds = all_hold([verdict for _, verdict in parts.values()])
        found.append(Claim(f"{mine} beats EM top K and EM random K for large K (here: above half)", said, holds))
    gap = trials.accuracy[LINEAR][:, -1] - trials.accuracy[LOG][:, -1]
    found.append(
        Claim("WMV-log is not as good as WMV-linear (Section 5)", f"linear less log: {shown(gap)} points", verdict(gap))
    )
    gap = trials.accuracy[LINEAR][:, -1] - trials.accuracy[PLUG_IN][:, -1]
    found.append(
        Claim("(1a, not claimed here) selected beats plug-in", f"{shown(gap)} points at the largest K", verdict(gap))
    )
    return found


def figure(given: argparse.Namespace, number: int, dataset: str, limit: int, of_workers: str) -> None:
    """Run what is missing, then write figure, workers used, summary and claims."""
    folder_of(dataset)  # before any trial starts
    (rows,) = computed(real, given, number, [{"dataset": dataset, "em": given.em}])
    trials = Trials(rows, rows[0]["sizes"])
    name = f"fig{number}" + ("" if given.em == "one-coin" else f"_{given.em}")
    used = trials.used[LINEAR]
    most = max(used.mean(axis=0))
    share = 100 * (used[:, -1] <= limit).mean()
    workers = Claim(
        of_workers,
        f"on average at most {most:.2f} ({shown(used[:, -1], unit=1)} at the largest K); "
        f"{limit} or fewer in {share:.0f} % of the trials",
        "on average" if most <= limit else "no",
    )
    note = f"{dataset}: {given.trials} trials, 10 control items each, EM {given.em}, seed {given.seed}; 95 % intervals"
    write(trials, [workers, *common_claims(trials)], given.output, name, f"Figure {number}. {note}.")
    share_right = "share of the other items answered correctly"
    title = "Seven ways to hire and to vote"
    picture([(trials, "accuracy", "budget K (workers)", share_right)], given.output / f"{name}.png", title, note)
    sets = trials.renamed({"top K, random K": WMV_TOP, "selected (Algorithm 1)": LINEAR, "plug-in": PLUG_IN})
    of_use = [(sets, "used", "budget K (workers)", "workers used")]
    picture(of_use, given.output / f"{name}_workers.png", "Workers actually used", note)
