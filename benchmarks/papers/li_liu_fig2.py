"""Li & Liu 2015, Figure 2: accuracy against (a) the number of control questions n and (b) a of Beta(a, 2); K = 20.

python -m benchmarks.papers.li_liu_fig2 [--trials N] [--seed S] [--processes P] [-o DIR]

The paper does not say which a it tries; here 1 to 5.
"""

from __future__ import annotations

import numpy as np

from benchmarks.papers.li_liu_report import (
    Claim,
    Trials,
    all_hold,
    along,
    arguments,
    computed,
    everywhere,
    picture,
    shown,
    verdict,
    write,
)
from benchmarks.papers.li_liu_trials import LINEAR, simulated

TOP, SELECTED, PLUG_IN, _ = LINEAR
CONTROLS = [3, 5, 7, 10, 13, 16, 20, 25, 30, 35, 40, 45]
SHAPES = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
PAPER = (TOP, SELECTED, PLUG_IN)


def claims_of_controls(trials: Trials) -> list[Claim]:
    """Figure 2(a)."""
    rises = {name: trials.accuracy[name][:, -1] - trials.accuracy[name][:, 0] for name in PAPER}
    gap = trials.accuracy[SELECTED] - trials.accuracy[PLUG_IN]
    ten = gap[:, trials.at(10)]
    closer = (ten - gap[:, -1]) * np.sign(ten.mean())
    apart_later = abs(gap[:, 0].mean()) < abs(ten.mean())
    said, holds = everywhere(trials, SELECTED, TOP, "n")
    return [
        Claim(
            "all algorithms improve with n (2a)",
            "from n = 3 to 45: " + ", ".join(f"{name} {shown(rise)}" for name, rise in rises.items()) + " points",
            all_hold([verdict(rise) for rise in rises.values()]),
        ),
        Claim(
            "selected and plug-in come closer as n grows (2a)",
            f"selected less plug-in: {shown(gap[:, 0])} at n = 3, {shown(ten)} at 10, {shown(gap[:, -1])} at 45; "
            f"from n = 10 to 45 closer by {shown(closer)} points",
            f"from n = 10: {verdict(closer)}" + "; before, they come apart" * apart_later,
        ),
        Claim("selected is above top K (2a, the curves)", said, holds),
    ]


def claims_of_shapes(trials: Trials) -> list[Claim]:
    """Figure 2(b)."""
    rises = {name: trials.accuracy[name][:, -1] - trials.accuracy[name][:, 0] for name in PAPER}
    both = {name: rises[name] for name in (SELECTED, PLUG_IN)}
    less = all_hold([verdict(rises[TOP] - rise) for rise in both.values()])
    return [
        Claim("top K improves with a (2b)", f"{shown(rises[TOP])} points from a = 1 to 5", verdict(rises[TOP])),
        Claim(
            "selected and plug-in improve only slightly (2b)",
            ", ".join(f"{name} {shown(rise)}" for name, rise in both.items()) + f" points; less than top K: {less}",
            all_hold([verdict(rise) for rise in both.values()]),
        ),
    ]


def main() -> None:
    """Run what is missing, then write figure, summary and claims."""
    given = arguments(__doc__, 400)
    settings = [{"controls": n, "sizes": [20]} for n in CONTROLS] + [{"a": a, "sizes": [20]} for a in SHAPES]
    rows = computed(simulated, given, 2, settings)
    by_n, by_a = along(rows[: len(CONTROLS)], CONTROLS), along(rows[len(CONTROLS) :], SHAPES)
    note = f"{given.trials} trials a point, K = 20, seed {given.seed}; 95 % intervals"
    write(by_n, claims_of_controls(by_n), given.output, "fig2a", f"Figure 2(a). {note}.")
    write(by_a, claims_of_shapes(by_a), given.output, "fig2b", f"Figure 2(b). {note}.")
    accuracy = "share of items answered correctly"
    panels = [(by_n, "accuracy", "control questions n", accuracy), (by_a, "accuracy", "a of Beta(a, 2)", accuracy)]
    picture(panels, given.output / "fig2.png", "More control questions, better workers", note)


if __name__ == "__main__":
    main()
