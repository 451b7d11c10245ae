"""Liu & Liu 2015, Table 3 and Figures 6 to 8, on five workers of ZenCrowd in place of the paper's five (not public).

python -m benchmarks.papers.liu_liu_real [--trials N] [--seed S] [--processes P] [-o DIR]

Needs CROWDOPT_DATA with zencrowd_core5. Its rows are in no order of arrival: every trial shuffles them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.papers.li_liu_report import Claim, arguments, computed, interval, shown, verdict
from benchmarks.papers.liu_liu_report import Study, picture, summary, write
from benchmarks.papers.liu_liu_trials import FULL, NAMES, ORACLE, OURS, RANDOM, real
from benchmarks.papers.real_data import folder_of

VETTING, LONGER = "ls-ol-vetting:threshold=.1", "ls-ol-vetting:threshold=.1:g1=100"
POLICIES = [VETTING, LONGER, "ls-ol", "ls-ol-weighted", OURS, FULL, ORACLE, RANDOM]
SHOWN = {VETTING: "LS_OL with vetting", "ls-ol-weighted": "LS_OL weighted", OURS: NAMES[OURS], FULL: NAMES[FULL]}
EVERY = 8  # tasks between points of a drawn curve


def table_3(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Disagreements of each worker with the majority of the five over all tasks."""
    final = {name: counts[-1] for name, counts in sorted(rows[0]["disagreement"].items())}
    return [{"worker": name, "disagreements": count} for name, count in final.items()]


def dropped(rows: Sequence[Mapping[str, Any]], policy: str) -> str:
    """Whom vetting dropped how often, and when."""
    notes = [note for row in rows for note in row[policy]["figures"]["notes"] if "was dropped" in note]
    if not notes:
        return f"nobody in {len(rows)} orders"
    who = sorted({note.split(" ")[0] for note in notes})
    times = ", ".join(f"{name} {sum(note.startswith(f'{name} ') for note in notes)} times" for name in who)
    when = np.median([int(note.rsplit(" ", 1)[1]) for note in notes])
    return f"{times} in {len(rows)} orders, at step {when:.0f} (median)"


def enough(first: int, second: int, tasks: int) -> float:
    """Labels N at which exp(-N gap^2 / 2) falls to .1 if the two worst differ as often as they did over all tasks."""
    return float(2 * np.log(10) / ((first - second) / tasks) ** 2)


def claims(study: Study, rows: Sequence[Mapping[str, Any]], table: list[dict[str, Any]]) -> list[Claim]:
    """Section 6.2."""
    counts = sorted((line["disagreements"] for line in table), reverse=True)
    worst = max(table, key=lambda line: line["disagreements"])["worker"]
    gaps = -np.diff(counts)
    gap = study.figure(FULL, "right") - study.figure(VETTING, "right")
    spared = study.figure(FULL, "cost") - study.figure(VETTING, "cost")
    return [
        Claim(
            "one worker disagrees significantly more than the rest (Table 3, Figure 6)",
            f"most {counts[0]} ({worst}), next {counts[1]}, then {', '.join(map(str, counts[2:]))}",
            "yes" if gaps.argmax() == 0 else f"no: {gaps.argmax() + 1} do",
        ),
        Claim(
            "vetting drops the worst around step 90 at a threshold of .1",
            f"exploring 134 steps: {dropped(rows, VETTING)}; exploring 670: {dropped(rows, LONGER)}. "
            f"At these rates it takes {enough(counts[0], counts[1], 814):.0f} labels; at those of the printed Table 3 "
            f"{enough(441, 376, 1000):.0f}",
            "no",
        ),
        Claim(
            "LS_OL with vetting errs less than the full majority (Figure 7)",
            f"share of right answers, LS_OL less full: {shown(-gap)} points",
            verdict(-gap),
        ),
        Claim(
            "at much lower cost",
            f"money spared of {study.figure(FULL, 'cost').mean():.1f}: {shown(spared, unit=1)}",
            verdict(spared),
        ),
    ]


def figure_8(study: Study) -> list[dict[str, Any]]:
    """Labels are binary here: an error is 0 or 1, and the distribution is one number. Degenerate, and shown as that."""
    lines = []
    for policy in POLICIES:
        mean, low, high = interval(1 - study.figure(policy, "right"))
        lines.append(
            {"policy": policy, "P(error = 1)": f"{mean:.4f} [{low:.4f}, {high:.4f}]", "P(error = 0)": f"{1 - mean:.4f}"}
        )
    return lines


def banded_rows(rows: Sequence[Mapping[str, Any]], curves: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Mean and band over trials of ``curves[name](row)``."""
    found = []
    for name, of in curves.items():
        values = np.array([of(row) for row in rows], float)
        for k in range(EVERY - 1, values.shape[1], EVERY):
            mean, low, high = interval(values[:, k])
            found.append({"policy": name, "t": k + 1, key: mean, f"{key}_low": low, f"{key}_high": high})
    return found


def main() -> None:
    """Run what is missing, then write tables, claims and pictures."""
    given = arguments(__doc__, 100)
    folder = folder_of("zencrowd_core5")
    files = {"labels": str(folder / "labels.csv"), "truth": str(folder / "truth.csv"), "policies": POLICIES}
    (rows,) = computed(real, given, 6, [files])
    study, table = Study(rows, POLICIES), table_3(rows)
    keys = ("right", "reward", "reward_exploiting", "final_accuracy", "regret", "labels", "testers")
    tables = {"table3": table, "summary": summary(study, keys), "fig8": figure_8(study)}
    note = f"zencrowd_core5, {given.trials} random orders of 813 tasks, one label a pair, seed {given.seed}"
    write(given.output, "liu_liu_real", f"Table 3, Figures 6 to 8. {note}.", claims(study, rows, table), tables)
    workers = {line["worker"]: (lambda row, name=line["worker"]: row["disagreement"][name][1:]) for line in table}
    errors = {shown_as: (lambda row, name=name: row[name]["errors"]) for name, shown_as in SHOWN.items()}
    panels = [
        (banded_rows(rows, workers, "apart"), "apart", "disagreements with the majority so far"),
        (banded_rows(rows, errors, "error"), "error", "share of wrong answers so far"),
    ]
    picture(panels[:1], given.output / "liu_liu_fig6.svg", "Who differs from the majority", note)
    picture(panels[1:], given.output / "liu_liu_fig7.svg", "Errors so far, real labels", note)


if __name__ == "__main__":
    main()
