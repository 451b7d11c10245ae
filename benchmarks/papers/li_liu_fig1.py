"""Li & Liu 2015, Figure 1: accuracy and workers used against the budget K; 31 workers, Beta(2.3, 2), 1000 items.

python -m benchmarks.papers.li_liu_fig1 [--trials N] [--seed S] [--processes P] [-o DIR]
"""

from __future__ import annotations

from benchmarks.papers.li_liu_report import (
    Claim,
    Trials,
    all_hold,
    arguments,
    computed,
    everywhere,
    picture,
    shown,
    verdict,
    write,
)
from benchmarks.papers.li_liu_trials import LINEAR, simulated

TOP, SELECTED, PLUG_IN, OURS = LINEAR


def claims(trials: Trials) -> list[Claim]:
    """Section 4.1, sentence by sentence."""
    found, accuracy, used = [], trials.accuracy, trials.used
    others = {other: everywhere(trials, SELECTED, other) for other in (TOP, PLUG_IN)}
    worst = all_hold([holds for _, holds in others.values()])
    against = "; ".join(f"against {other}: {said}" for other, (said, _) in others.items())
    found.append(Claim("WMV-lin selected dominates the other methods (1a)", against, worst))
    last = trials.at(trials.across.max())
    most = max(used[SELECTED].mean(axis=0))
    found.append(
        Claim(
            "it uses always fewer than 10 workers (1b)",
            f"on average at most {most:.2f} (K = 31: {shown(used[SELECTED][:, last], unit=1)}); "
            f"in {100 * (used[SELECTED][:, last] >= 10).mean():.0f} % of the trials 10 or more",
            "on average" if most < 10 else "no",
        )
    )
    said, holds = everywhere(trials, SELECTED, TOP)
    found.append(Claim("and is more accurate than the whole budget's top K (1a, 1b)", said, holds))
    more = used[PLUG_IN][:, last] - used[SELECTED][:, last]
    found.append(Claim("the plug-in selects slightly more workers", f"{shown(more, unit=1)} at K = 31", verdict(more)))
    gap = accuracy[SELECTED][:, last] - accuracy[PLUG_IN][:, last]
    found.append(
        Claim(
            "the plug-in is slightly less accurate",
            f"selected less plug-in at K = 31: {shown(gap)} points",
            verdict(gap),
        )
    )
    gap = accuracy[OURS][:, last] - accuracy[SELECTED][:, last]
    found.append(
        Claim(
            "(not in the paper) variance-normalised beats Algorithm 1", f"{shown(gap)} points at K = 31", verdict(gap)
        )
    )
    return found


def main() -> None:
    """Run what is missing, then write figure, summary and claims."""
    given = arguments(__doc__, 400)
    (rows,) = computed(simulated, given, 1)
    trials = Trials(rows, rows[0]["sizes"])
    note = f"{given.trials} trials, a fresh pool each, 10 control questions, seed {given.seed}; 95 % intervals"
    write(trials, claims(trials), given.output, "fig1", f"Figure 1. {note}; verdicts over all K by Bonferroni.")
    panels = [
        (trials, "accuracy", "budget K (workers)", "share of items answered correctly"),
        (trials, "used", "budget K (workers)", "workers used"),
    ]
    picture(panels, given.output / "fig1.png", "Whom to hire: all vote by WMV-linear", note)


if __name__ == "__main__":
    main()
