"""Ho, Jabbari & Vaughan 2013, Figure 2: k kinds of task, each worker good at one; s = 10 gold tasks per kind.

python -m benchmarks.papers.hjv_fig2 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

import numpy as np

from benchmarks.papers.hjv_report import Curves, picture, write
from benchmarks.papers.hjv_trials import EPSILONS, ITERATIONS, KOS, MAIN, TOTALS, trial
from benchmarks.papers.li_liu_report import Claim, all_hold, arguments, computed, shown, verdict

KINDS = (1, 2, 3)
GOLD = 10
TARGET = 20_000  # labels at which the mean curves are compared; all of them pass it


def claims(panels: list[Curves]) -> list[Claim]:
    """Section 6.2, sentence by sentence."""
    one, three = panels[0], panels[-1]
    count = len(TOTALS)
    worse = three.fixed - one.fixed
    at = "; ".join(f"{TOTALS[k] // 1000}k labels: {shown(worse[:, k], count)}" for k in range(count))
    verdicts = [verdict(worse[:, k], count) for k in range(count)]
    found = [
        Claim("message passing degrades quickly when k grows", f"error at k = 3 less k = 1: {at}", all_hold(verdicts))
    ]
    kos = [_at(curves, KOS, TARGET) for curves in panels]
    ours = [_at(curves, MAIN, TARGET) for curves in panels]
    said = "; ".join(f"k = {k}: ours {_error(a)}, KOS {_error(b)}" for k, a, b in zip(KINDS, ours, kos, strict=True))
    slower = None not in (ours[0], ours[-1], kos[0], kos[-1]) and ours[-1] - ours[0] < kos[-1] - kos[0]
    found.append(Claim(f"ours much more slowly (at {TARGET // 1000}k labels)", said, "yes" if slower else "no"))
    for k, curves in zip(KINDS, panels, strict=True):
        gaps = curves.error[KOS] - curves.error[MAIN]
        signs = [verdict(gaps[:, e], len(EPSILONS)) for e in range(len(EPSILONS))]
        where = ", ".join(f"{epsilon:g}: {signs[e]}" for e, epsilon in enumerate(EPSILONS))
        found.append(
            Claim(f"(picture) ours is better at equal labels, k = {k}", f"by epsilon: {where}", all_hold(signs))
        )
    return found


def _at(curves: Curves, method: str, total: float) -> float | None:
    """Error of the mean curve at a total of labels, linearly interpolated; None outside the curve."""
    labels, error = curves.labels[method].mean(axis=0), curves.error[method].mean(axis=0)
    order = np.argsort(labels)
    if not labels.min() <= total <= labels.max():
        return None
    return float(np.interp(total, labels[order], error[order]))


def _error(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


def main() -> None:
    """Run what is missing, then write curves, claims and picture."""
    given = arguments(__doc__, 40)
    rows = computed(trial, given, 2, [{"kind": f"K{k}", "gold": GOLD} for k in KINDS])
    panels = {f"k = {k}": Curves(part) for k, part in zip(KINDS, rows, strict=True)}
    note = f"{given.trials} trials, s = {GOLD}, gamma = .3, KOS with {ITERATIONS} iterations, seed {given.seed}"
    write(panels, claims(list(panels.values())), given.output, "fig2", f"Figure 2. {note}; 95 % intervals.")
    picture(panels, given.output / "fig2.svg", "k kinds of task, each worker good at one", note)


if __name__ == "__main__":
    main()
