"""Liu & Liu 2015, Figure 4: the better the crowd, the less regret; skills uniform on [a_min, 1].

python -m benchmarks.papers.liu_liu_fig4 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

from itertools import pairwise

from benchmarks.papers.li_liu_report import Claim, all_hold, arguments, computed, shown, verdict
from benchmarks.papers.liu_liu_report import Study, averaged, picture, points, summary, write
from benchmarks.papers.liu_liu_trials import HORIZON, NAMES, OURS, REPEATING, SIMPLE, trial

LEVELS = (0.6, 0.7, 0.8)
POLICIES = [SIMPLE, REPEATING, OURS]
SETTLED = 40  # tasks after which curves are drawn: the first are testers, and their average says little
KEYS = ("regret", "reward", "reward_exploiting", "testers", "repeats")


def claims(studies: list[Study]) -> list[Claim]:
    """Section 6.1 on Figure 4."""
    found = []
    for policy in (SIMPLE, REPEATING):
        gaps = [(low.figure(policy, "regret") - high.figure(policy, "regret")) for low, high in pairwise(studies)]
        said = "; ".join(
            f"{a:g} less {b:g}: {shown(gap, 2, unit=1)}" for (a, b), gap in zip(pairwise(LEVELS), gaps, strict=True)
        )
        found.append(
            Claim(
                f"higher a_min, much less regret: {NAMES[policy]}",
                f"R(2000), {said}",
                all_hold([verdict(gap, 2) for gap in gaps]),
            )
        )
    return found


def main() -> None:
    """Run what is missing, then write tables, claims and picture."""
    given = arguments(__doc__, 100)
    settings = [{"labelers": 5, "low": level, "high": 1.0, "policies": POLICIES} for level in LEVELS]
    studies = [Study(rows, POLICIES) for rows in computed(trial, given, 4, settings)]
    note = f"{given.trials} runs, M = 5, T = {HORIZON}, skills uniform on [a_min, 1], seed {given.seed}; 95 % bands"
    tables = {f"from_{level:g}": summary(study, KEYS) for level, study in zip(LEVELS, studies, strict=True)}
    write(given.output, "liu_liu_fig4", f"Figure 4. {note}; tables in the order .6, .7, .8.", claims(studies), tables)
    panels = []
    for policy in (SIMPLE, REPEATING):
        rows = []
        for level, study in zip(LEVELS, studies, strict=True):
            rows += points(study, "regret", [policy], averaged, {policy: f"skills from {level:g}"})
        late = [row for row in rows if row["t"] >= SETTLED]
        panels.append((late, "regret", f"average regret from task {SETTLED} on, {NAMES[policy]}"))
    picture(panels, given.output / "liu_liu_fig4.svg", "Average regret by the least skill", note)


if __name__ == "__main__":
    main()
