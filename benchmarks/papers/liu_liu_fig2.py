"""Liu & Liu 2015, Table 1 and Figure 2: regret and average regret of LS_OL, five labelers, T = 2000.

python -m benchmarks.papers.liu_liu_fig2 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.papers.li_liu_report import Claim, arguments, computed, shown, verdict
from benchmarks.papers.liu_liu_report import Study, averaged, cumulated, picture, points, summary, write
from benchmarks.papers.liu_liu_trials import (
    FULL,
    HORIZON,
    NAMES,
    ORACLE,
    OURS,
    PRINTED,
    REPEATING,
    SIMPLE,
    TABLE_1,
    TIGHT,
    WEIGHTED,
    trial,
)
from crowdopt.labelers import theorems
from crowdopt.labelers.sets import top_accuracies

POLICIES = [SIMPLE, REPEATING, PRINTED, TIGHT, WEIGHTED, OURS, FULL, ORACLE]
SETTINGS = [  # fresh draws as in Section 6.1, and the one example that is printed
    {"labelers": 5, "low": 0.6, "high": 1.0, "policies": POLICIES},
    {"labelers": 0, "low": 0.0, "high": 1.0, "policies": POLICIES},
]
KEYS = ("regret", "reward", "reward_exploiting", "cost_regret", "testers", "repeats")


def table_1() -> list[dict[str, Any]]:
    """What Table 1's skills imply, exactly."""
    skill = np.sort(TABLE_1)[::-1]
    values = top_accuracies(skill)
    epsilon, a_min = theorems.presumed(skill)
    rows = [{"quantity": f"pi of the best {m}", "value": f"{value:.6f}"} for m, value in enumerate(values, 1)]
    for kind in ("printed", "tight"):
        found = theorems.constants(5, epsilon, a_min, kind)
        rows.append({"quantity": f"D1(2000), {kind}", "value": f"{found.g1 * np.log(HORIZON):.3g} testers"})
        rows.append({"quantity": f"D2(2000), {kind}", "value": f"{found.g2 * np.log(HORIZON):.1f} labels each"})
    return rows


def claims(drawn: Study, example: Study) -> list[Claim]:
    """Section 6.1 on Figure 2."""
    found = []
    for policy in (SIMPLE, REPEATING):
        early, late = (drawn.at(policy, "regret", t) for t in (HORIZON // 2, HORIZON))
        ratio = (np.log(HORIZON) / np.log(HORIZON / 2)) ** 2
        found.append(
            Claim(
                f"the average regret falls sub-linearly: {NAMES[policy]}",
                f"2 R(1000) - R(2000) = {shown(2 * early - late, unit=1)}; R(2000) / R(1000) = "
                f"{late.mean() / early.mean():.2f} (linear 2, ln^2 {ratio:.2f})",
                verdict(2 * early - late),
            )
        )
    stuck = drawn.figure(PRINTED, "reward_exploiting")
    explored = drawn.figure(PRINTED, "testers") + drawn.figure(PRINTED, "repeats")
    found.append(
        Claim(
            "constants set sufficiently large, (G1, G2) as printed",
            f"they explore {explored.mean():.0f} of {HORIZON} steps, R(2000) = "
            f"{shown(drawn.figure(PRINTED, 'regret'), unit=1)}; exploiting reward "
            f"{'none' if np.isnan(stuck).all() else f'{np.nanmean(stuck):.3f}'}",
            "unusable",
        )
    )
    gap = example.figure(FULL, "regret")
    found.append(
        Claim(
            "(Table 1) the selection improves on the full majority",
            f"S* is all five: the full majority's regret is {gap.mean():.1f}, LS_OL's "
            f"{shown(example.figure(SIMPLE, 'regret'), unit=1)}",
            "no",
        )
    )
    return found


def main() -> None:
    """Run what is missing, then write tables, claims and picture."""
    given = arguments(__doc__, 100)
    drawn, example = (Study(rows, POLICIES) for rows in computed(trial, given, 2, SETTINGS))
    note = f"{given.trials} runs, skills uniform on [.6, 1], M = 5, T = {HORIZON}, seed {given.seed}; 95 % bands"
    tables = {"table1": table_1(), "drawn": summary(drawn, KEYS), "table1_skills": summary(example, KEYS)}
    write(given.output, "liu_liu_fig2", f"Table 1 and Figure 2. {note}.", claims(drawn, example), tables)
    lines = [SIMPLE, REPEATING, WEIGHTED, OURS, FULL]
    panels = [
        (points(drawn, "regret", lines, cumulated), "regret", "cumulated regret R(t)"),
        (
            points(drawn, "regret", [line for line in lines if line != REPEATING], cumulated),
            "regret",
            "the same, enlarged",
        ),
        (points(drawn, "regret", lines, averaged), "regret", "average regret R(t) / t"),
    ]
    picture(panels, given.output / "liu_liu_fig2.svg", "Regret against the best simple majority", note)


if __name__ == "__main__":
    main()
