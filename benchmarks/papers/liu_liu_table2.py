"""Liu & Liu 2015, Table 2: average reward against the number of labelers, skills uniform on [0, 1] given a_min > 1/2.

python -m benchmarks.papers.liu_liu_table2 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

from typing import Any

from benchmarks.papers.li_liu_report import Claim, all_hold, arguments, computed, shown, verdict
from benchmarks.papers.liu_liu_report import Study, cumulated, mean_of, picture, points, write
from benchmarks.papers.liu_liu_trials import FULL, HORIZON, NAMES, OURS, RANDOM, SIMPLE, WEIGHTED, trial

SIZES = (5, 10, 15, 20)
REPEATED, REPEATED_WEIGHTED = "ls-ol:g1=20:g2=1", "ls-ol-weighted:g1=20:g2=1"
POLICIES = [FULL, SIMPLE, WEIGHTED, REPEATED, REPEATED_WEIGHTED, OURS, RANDOM]
NAMED = {**NAMES, REPEATED: "LS_OL (20, 1)", REPEATED_WEIGHTED: "LS_OL weighted (20, 1)"}
LINES = [FULL, REPEATED, SIMPLE, WEIGHTED, OURS]
DRAWN = (5, 20)
PRINTED = {
    "full": (0.5154, 0.5686, 0.7000, 0.7997),
    "LS_OL": (0.8320, 0.9186, 0.9434, 0.9820),
    "weighted": (0.8726, 0.9393, 0.9641, 0.9890),
}
ROW_OF = {FULL: "full", SIMPLE: "LS_OL", REPEATED: "LS_OL", WEIGHTED: "weighted", REPEATED_WEIGHTED: "weighted"}


def table(studies: list[Study], key: str) -> list[dict[str, Any]]:
    """One line a policy, one column a size, the printed figure in brackets."""
    lines = []
    for policy in POLICIES:
        line: dict[str, Any] = {key: NAMED[policy]}
        for k, (size, study) in enumerate(zip(SIZES, studies, strict=True)):
            printed = f" ({PRINTED[ROW_OF[policy]][k]:.4f})" if policy in ROW_OF else ""
            line[f"M = {size}"] = mean_of(study.figure(policy, key)) + printed
        lines.append(line)
    return lines


def claims(studies: list[Study]) -> list[Claim]:
    """Section 6.1 on Table 2; intervals over the four sizes together."""
    found = []
    pairs = ((SIMPLE, FULL), (WEIGHTED, SIMPLE), (REPEATED, FULL), (REPEATED_WEIGHTED, REPEATED), (OURS, WEIGHTED))
    for key in ("reward", "reward_exploiting"):
        for one, other in pairs:
            gaps = [study.figure(one, key) - study.figure(other, key) for study in studies]
            said = "; ".join(f"M = {size}: {shown(gap, 4)}" for size, gap in zip(SIZES, gaps, strict=True))
            holds = all_hold([verdict(gap, 4) for gap in gaps])
            found.append(Claim(f"{NAMED[one]} above {NAMED[other]}, {key}", f"points, {said}", holds))
    return found


def main() -> None:
    """Run what is missing, then write tables and claims."""
    given = arguments(__doc__, 500)
    settings = [{"labelers": size, "low": 0.0, "high": 1.0, "policies": POLICIES} for size in SIZES]
    studies = [Study(rows, POLICIES) for rows in computed(trial, given, 12, settings)]
    note = f"{given.trials} draws of skills, T = {HORIZON}, seed {given.seed}; ± half of a 95 % interval; (printed)"
    keys = ("reward", "reward_exploiting", "final_accuracy")
    tables = {key: table(studies, key) for key in keys}
    write(given.output, "liu_liu_table2", f"Table 2. {note}.", claims(studies), tables)
    shown_note = f"{given.trials} draws of skills, uniform on [0, 1] given a_min > 1/2; T = {HORIZON}; 95 % bands"
    of = {size: study for size, study in zip(SIZES, studies, strict=True) if size in DRAWN}
    panels = [
        (points(study, "regret", LINES, cumulated, NAMED), "regret", f"cumulated regret, M = {size}")
        for size, study in of.items()
    ]
    picture(panels, given.output / "liu_liu_table2.svg", "Regret against the best simple majority", shown_note)


if __name__ == "__main__":
    main()
