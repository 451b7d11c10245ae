"""Ho, Jabbari & Vaughan 2013, Figure 1: one kind of task, one or two kinds of worker; s = 20 gold tasks.

python -m benchmarks.papers.hjv_fig1 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

import numpy as np

from benchmarks.papers.hjv_report import Curves, picture, write
from benchmarks.papers.hjv_trials import EPSILONS, ITERATIONS, KOS, MAIN, OURS, TOTALS, trial
from benchmarks.papers.li_liu_report import Claim, all_hold, arguments, computed, interval, shown, verdict

CROWDS = {"everyone .6414": "U", "half spammers (.5), half hammers (.7)": "HS"}
GOLD = 20
SAME = 0.02  # share of wrong answers; a difference within it is "almost identical" in a picture like the paper's


def claims(uniform: Curves, diverse: Curves) -> list[Claim]:
    """Section 6.1, sentence by sentence; all intervals over all points together (Bonferroni)."""
    gap = diverse.fixed - uniform.fixed
    count = len(TOTALS)
    close = [_close(gap[:, k], count) for k in range(count)]
    at = "; ".join(f"{TOTALS[k] // 1000}k labels: {shown(gap[:, k], count)}" for k in range(count))
    found = [
        Claim(
            "message passing is almost identical in the two settings",
            f"error with two kinds of worker less error with one, points: {at}",
            all_hold(close),
        )
    ]
    for curves, says, sign in (
        (uniform, "ours performs relatively poorly with uniform workers", 1),
        (diverse, "ours outperforms message passing with two kinds of worker", -1),
    ):
        gaps = sign * (curves.error[MAIN] - curves.error[KOS])
        verdicts = [verdict(gaps[:, k], len(EPSILONS)) for k in range(len(EPSILONS))]
        where = ", ".join(f"{e:g}: {verdicts[k]}" for k, e in enumerate(EPSILONS))
        said = " less ".join(("ours", "KOS")[::sign])
        found.append(Claim(says, f"error, {said}, at equal labels, by epsilon: {where}", all_hold(verdicts)))
    return [*found, *_further(uniform, "uniform"), *_further(diverse, "diverse")]


def _close(gap: np.ndarray, comparisons: int) -> str:
    """Whether a mean difference is within SAME: yes or no where its interval says so, else open."""
    _, low, high = interval(gap, comparisons)
    return "yes" if low >= -SAME and high <= SAME else "no" if low > SAME or high < -SAME else "open"


def _further(curves: Curves, crowd: str) -> list[Claim]:
    """Fewest labels with which a method reaches an error of 10 %, by linear interpolation of its mean curve."""
    base = reaching(curves, MAIN)
    said = "; ".join(f"{name}: {_labels(reaching(curves, name))}" for name in OURS)
    return [
        Claim(f"(not in the paper) labels for an error of .1, {crowd} workers", f"printed {_labels(base)}; {said}", "–")
    ]


def reaching(curves: Curves, method: str, target: float = 0.1) -> float | None:
    """Labels at which the mean curve first comes down to the target."""
    labels, error = curves.labels[method].mean(axis=0), curves.error[method].mean(axis=0)
    order = np.argsort(labels)
    labels, error = labels[order], error[order]
    below = np.flatnonzero(error <= target)
    if below.size == 0 or below[0] == 0:
        return None if below.size == 0 else float(labels[0])
    k = int(below[0])
    share = (error[k - 1] - target) / (error[k - 1] - error[k])
    return float(labels[k - 1] + share * (labels[k] - labels[k - 1]))


def _labels(value: float | None) -> str:
    return "not reached" if value is None else f"{value / 1000:.1f}k"


def main() -> None:
    """Run what is missing, then write curves, claims and picture."""
    given = arguments(__doc__, 40)
    rows = computed(trial, given, 1, [{"kind": kind, "gold": GOLD} for kind in CROWDS.values()])
    panels = {crowd: Curves(part) for crowd, part in zip(CROWDS, rows, strict=True)}
    note = f"{given.trials} trials, s = {GOLD}, gamma = .3, KOS with {ITERATIONS} iterations, seed {given.seed}"
    write(panels, claims(*panels.values()), given.output, "fig1", f"Figure 1. {note}; 95 % intervals.")
    picture(panels, given.output / "fig1.svg", "One kind of task, one or two kinds of worker", note)


if __name__ == "__main__":
    main()
