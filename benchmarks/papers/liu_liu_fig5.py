"""Liu & Liu 2015, Figure 5: weighted against simple majority within LS_OL; the runs of Figure 2.

python -m benchmarks.papers.liu_liu_fig5 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

from benchmarks.papers.li_liu_report import Claim, arguments, computed, shown, verdict
from benchmarks.papers.liu_liu_fig2 import POLICIES, SETTINGS
from benchmarks.papers.liu_liu_report import Study, averaged, picture, points, summary, write
from benchmarks.papers.liu_liu_trials import HORIZON, NAMES, OURS, SIMPLE, WEIGHTED, trial

LINES = [SIMPLE, WEIGHTED, OURS]
SETTLED = 100  # tasks after which curves are drawn: the first few are testers
KEYS = ("reward", "reward_exploiting", "final_accuracy", "right", "labels")


def claims(drawn: Study, example: Study) -> list[Claim]:
    """Section 6.1 on Figure 5."""
    found = []
    for what, study in (("fresh draws", drawn), ("Table 1's skills", example)):
        gap = study.figure(WEIGHTED, "reward") - study.figure(SIMPLE, "reward")
        found.append(
            Claim(
                f"the advantage of weighted votes is clearly seen ({what})",
                f"average reward, weighted less simple: {shown(gap)} points",
                verdict(gap),
            )
        )
        gap = study.figure(OURS, "reward") - study.figure(WEIGHTED, "reward")
        found.append(Claim("(not in the paper) ours less weighted", f"{shown(gap)} points", verdict(gap)))
    return found


def main() -> None:
    """Run what is missing, then write tables, claims and picture."""
    given = arguments(__doc__, 100)
    drawn, example = (Study(rows, POLICIES) for rows in computed(trial, given, 2, SETTINGS))
    note = f"{given.trials} runs, skills uniform on [.6, 1], M = 5, T = {HORIZON}, seed {given.seed}; 95 % bands"
    tables = {"drawn": summary(drawn, KEYS), "table1_skills": summary(example, KEYS)}
    write(given.output, "liu_liu_fig5", f"Figure 5. {note}.", claims(drawn, example), tables)
    least = drawn.curve(SIMPLE, "reward")
    ahead = points(drawn, "reward", LINES, lambda values, _: values - least)
    late = [row for row in points(drawn, "reward", LINES, averaged) if row["t"] >= SETTLED]
    panels = [
        (ahead, "reward", f"accumulated reward above {NAMES[SIMPLE]}"),
        (late, "reward", f"average reward, from task {SETTLED} on"),
    ]
    picture(panels, given.output / "liu_liu_fig5.svg", "Weighted and simple votes", note)


if __name__ == "__main__":
    main()
