"""What an audit costs and whether its claims hold: simulated answers, and recorded ones with their own truth.

    python -m benchmarks.audit checks              # how many looks certify .1 of 1000 answers
    python -m benchmarks.audit recorded            # recorded sets (CROWDOPT_DATA): validity, cost to a certified .1
    python -m benchmarks.audit picture             # claimed, realised, certified: benchmarks/pictures/audit.svg

Everything follows from the seeds.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from crowdopt.answers import one_coin
from crowdopt.answers.audit.bound import checks_needed, most_left
from crowdopt.answers.audit.draws import AuditTerms, conclude, draw
from crowdopt.io.tables import read_labels, read_truth
from crowdopt.pages.charts import altair, save

SETS = ("zencrowd_all", "rte", "bluebird", "quiz_medicine")
TARGET, DELTA, SIZE, WRONG, PRICE = 0.1, 0.05, 1000, 50, 20
PICTURE = Path("benchmarks/pictures/audit.svg")


def looks(claims, wrong, method, seed):
    """Looks until the target is certified; all answers if it never is."""
    n = wrong.size
    of = draw(n, AuditTerms(method, TARGET, DELTA, seed), claims if method == "assisted" else None, n)
    first = int(TARGET * n) + 1
    dense = np.arange(first, min(n, first + max(60, int(wrong.sum()))))
    of = replace(of, numbers=np.unique(np.concatenate([[0], dense, np.geomspace(dense[-1], n, 30).astype(int)])))
    for batch in (100, 200, 400, 800, n):  # the same claim at each look, whatever the batches
        left = conclude(of, wrong[of.order[: min(batch, n)]]).left
        enough = np.flatnonzero(left <= TARGET * n)
        if enough.size:
            return int(enough[0]) + 1
    return n


def populations():
    """Claims whose mean is about .05: calibrated ones of three kinds, by seed."""
    for sharpness in (0.1, 0.2, 0.5):
        yield f"Beta({sharpness:g}, {19 * sharpness:g})", lambda rng, a=sharpness: rng.beta(a, 19 * a, SIZE)
    yield "seven workers of U(.62, .92)", _posteriors


def _posteriors(rng):
    skill = rng.uniform(0.62, 0.92, (SIZE, 7))
    odds = np.log(skill / (1 - skill)) * np.where(rng.random((SIZE, 7)) < skill, 1, -1)
    return 1 / (1 + np.exp(np.abs(odds.sum(axis=1))))


def checks(trials):
    exact = checks_needed(SIZE, TARGET, WRONG / SIZE, DELTA)
    print(f"`exact`: {exact} looks, power .9; {WRONG} of {SIZE} wrong, target {TARGET}; {trials} trials.\n")
    print("| claims | sequential | assisted, claims right | assisted, claims useless |\n|---|---|---|---|")
    for name, claims_of in populations():
        counts = {what: [] for what in ("sequential", "calibrated", "useless")}
        for trial in range(trials):
            rng = np.random.default_rng([2026, trial])
            claims = np.clip(claims_of(rng), 0, 0.95)
            wrong = rng.random(SIZE) < claims
            while wrong.sum() != WRONG:  # the true error is what the bar is stated for
                wrong = rng.random(SIZE) < claims
            counts["sequential"].append(looks(None, wrong, "sequential", trial))
            counts["calibrated"].append(looks(claims, wrong, "assisted", trial))
            counts["useless"].append(looks(claims, rng.permutation(wrong), "assisted", trial))
        told = [
            f"{np.mean(got):.0f} ± {1.96 * np.std(got) / np.sqrt(trials):.0f} ({np.quantile(got, 0.9):.0f})"
            for got in counts.values()
        ]
        print(f"| {name} | {' | '.join(told)} |", flush=True)


def recorded():
    """Name, labels, and for the tasks of known truth: claims of one-coin EM and whether its answers are wrong."""
    place = Path(os.environ.get("CROWDOPT_DATA", "nowhere"))
    for name in SETS:
        labels = read_labels(place / name / "labels.csv")
        answers = one_coin(labels)
        truth = read_truth(place / name / "truth.csv", labels)
        known = truth >= 0
        yield name, int(known[labels.task].sum()), 1 - answers.confidence[known], (answers.answer != truth)[known]


def hold(draws, tries):
    """Whether bounds hold, at every look of an audit of 100; looks and cost to a certified .1."""
    head = ("answers", "claimed", "realised", "method", f"claims held, of {draws}", "certified", "after looks")
    head += (f"looks for {TARGET:g}", "labels", f"with looks at {PRICE}")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, count, claims, wrong in recorded():
        n = wrong.size
        size = min(100, n - 1)
        whose = f"{name}, {n} | {claims.mean():.3f} | {wrong.mean():.3f}"
        for method in ("assisted", "sequential", "exact"):
            false, bounds = 0, []
            for seed in range(draws):
                of = draw(n, AuditTerms(method, TARGET, DELTA, seed), claims if method == "assisted" else None, size)
                seen = wrong[of.order[:size]]
                done = conclude(of, seen)
                left = wrong.sum() - np.cumsum(seen)
                false += bool((done.left < (left[-1:] if of.fixed else left)).any())
                bounds.append(done.wrong_at_most / n)
            needed = [checks_needed(n, TARGET, float(wrong.mean()), DELTA)]
            if method != "exact":
                needed = [looks(claims, wrong, method, seed) for seed in range(tries)]
            total = count + PRICE * np.mean(needed)
            held = f"{draws - false} | {np.mean(bounds):.3f} | {size}"
            print(f"| {whose} | {method} | {held} | {np.mean(needed):.0f} | {count} | {total:.0f} |", flush=True)


def picture(path):
    """Claimed, realised, certified for every recorded set: one-coin EM on all labels, then audits of two sizes."""
    rows = []
    for name, _, claims, wrong in recorded():
        n = wrong.size
        shares = {"claimed": claims.mean(), "realised": wrong.mean()}
        for what, size in (("a tenth", n // 10), ("a third", n // 3)):
            draws = [np.random.default_rng(seed).choice(n, size, replace=False) for seed in range(400)]
            left = [most_left(n, size, int(wrong[drawn].sum()), DELTA) / n for drawn in draws]
            shares[f"certified, {what} checked"] = np.mean(left)
        rows += [{"set": f"{name} ({n})", "what": what, "error": float(share)} for what, share in shares.items()]
    for row in rows:
        print(row["set"], row["what"], f"{row['error']:.4f}")
    alt = altair()
    order = list(shares)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("what:N", sort=order, title=None, axis=alt.Axis(labels=False, ticks=False)),
        x=alt.X("error:Q", title="share of wrong answers", axis=alt.Axis(format=".0%")),
        color=alt.Color("what:N", sort=order, title=None, legend=alt.Legend(orient="top", columns=2)),
    )
    text = base.mark_text(align="left", dx=4, fontSize=11).encode(text=alt.Text("error:Q", format=".1%"))
    header = alt.Header(labelAngle=0, labelAlign="left", labelFontSize=12)
    chart = alt.layer(base.mark_bar(), text).properties(width=420, height=66)
    save(chart.facet(row=alt.Row("set:N", sort=None, title=None, header=header), spacing=8), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("checks", "recorded", "picture"))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--tries", type=int, default=40)
    given = parser.parse_args()
    if given.what == "checks":
        checks(given.trials)
    elif given.what == "recorded":
        hold(given.draws, given.tries)
    else:
        picture(PICTURE)


if __name__ == "__main__":
    sys.exit(main())
