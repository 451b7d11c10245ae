"""Li & Liu 2015, Section 5: WMV-log against the number of control questions n and the truncation of w; K = 20.

python -m benchmarks.papers.li_liu_remarks [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

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
from benchmarks.papers.li_liu_trials import simulated

CONTROLS = [3, 5, 7, 10, 15, 20, 30, 45, 70, 100]
TRUNCATIONS = [0.001, 0.01, 0.05, 0.1, 0.2]


def claims(trials: Trials) -> list[Claim]:
    """Section 5's second paragraph."""
    linear, *logs = trials.methods
    light, heavy = logs[0], logs[-2]
    at = trials.at(10)
    gain = {name: trials.accuracy[name][:, -1] - trials.accuracy[name][:, at] for name in logs}
    lift = trials.accuracy[heavy][:, at] - trials.accuracy[light][:, at]
    gap = {name: trials.accuracy[linear][:, at] - trials.accuracy[name][:, at] for name in logs}
    said, _ = everywhere(trials, light, linear, "n")
    return [
        Claim(
            "WMV-linear is better than WMV-log for few control questions",
            "linear less log at n = 10: " + ", ".join(f"{name[9:]}: {shown(value)}" for name, value in gap.items()),
            all_hold([verdict(value) for value in gap.values()]),
        ),
        Claim(
            "WMV-log improves with n",
            "from n = 10 to 100: " + ", ".join(f"{name[9:]}: {shown(value)}" for name, value in gain.items()),
            all_hold([verdict(value) for value in gain.values()]),
        ),
        Claim(
            "WMV-log improves with heavier truncation", f"{heavy} less {light} at n = 10: {shown(lift)}", verdict(lift)
        ),
        Claim(f"(not in the paper) {light} against WMV-linear along n", said, "-"),
    ]


def main() -> None:
    """Run what is missing, then write figure, summary and claims."""
    given = arguments(__doc__, 400)
    settings = [{"controls": n, "sizes": [20], "truncations": TRUNCATIONS} for n in CONTROLS]
    trials = along(computed(simulated, given, 5, settings), CONTROLS)
    note = f"{given.trials} trials a point, workers selected by Algorithm 1, K = 20, seed {given.seed}; 95 % intervals"
    write(trials, claims(trials), given.output, "remarks", f"Section 5. {note}; points of a percentage.")
    panel = (trials, "accuracy", "control questions n", "share of items answered correctly")
    picture([panel], given.output / "remarks.png", "WMV-linear, and WMV-log with w clipped to [t, 1 - t]", note)


if __name__ == "__main__":
    main()
