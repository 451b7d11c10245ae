"""Liu & Liu 2015, Figure 3: average reward of LS_OL against the majority of all; the runs of Figure 2.

python -m benchmarks.papers.liu_liu_fig3 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

from benchmarks.papers.li_liu_report import Claim, arguments, computed, shown, verdict
from benchmarks.papers.liu_liu_fig2 import KEYS, POLICIES, SETTINGS
from benchmarks.papers.liu_liu_report import Study, averaged, picture, points, summary, write
from benchmarks.papers.liu_liu_trials import FULL, HORIZON, NAMES, OURS, REPEATING, SIMPLE, trial

LINES = [SIMPLE, REPEATING, OURS, FULL]


def claims(drawn: Study, example: Study) -> list[Claim]:
    """Section 6.1 on Figure 3."""
    found = []
    for what, study in (("fresh draws", drawn), ("Table 1's skills", example)):
        for policy in (SIMPLE, REPEATING):
            late, early = (study.at(policy, "reward", t) - study.at(FULL, "reward", t) for t in (HORIZON, HORIZON // 2))
            gap = (late - early) / (HORIZON / 2)
            found.append(
                Claim(
                    f"clearly above the full majority after an initial time (second half; {what}; {NAMES[policy]})",
                    f"average reward less the full majority's: {shown(gap)} points",
                    verdict(gap),
                )
            )
            whole = study.figure(policy, "reward") - study.figure(FULL, "reward")
            found.append(Claim(f"(picture) and over all {HORIZON} tasks", f"{shown(whole)} points", verdict(whole)))
    return found


def main() -> None:
    """Run what is missing, then write tables, claims and picture."""
    given = arguments(__doc__, 100)
    drawn, example = (Study(rows, POLICIES) for rows in computed(trial, given, 2, SETTINGS))
    note = f"{given.trials} runs, M = 5, T = {HORIZON}, seed {given.seed}; 95 % bands"
    tables = {"drawn": summary(drawn, KEYS), "table1_skills": summary(example, KEYS)}
    write(given.output, "liu_liu_fig3", f"Figure 3. {note}.", claims(drawn, example), tables)
    panels = [
        (points(drawn, "reward", LINES, averaged), "reward", "average reward, skills uniform on [.6, 1]"),
        (points(example, "reward", LINES, averaged), "reward", "average reward, Table 1's skills"),
    ]
    picture(panels, given.output / "liu_liu_fig3.svg", "Average reward, exploration in", note)


if __name__ == "__main__":
    main()
