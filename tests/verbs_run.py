"""A program that runs the verbs on some campaigns and prints what came of it: a digest for each file.

``python -m tests.verbs_run FOLDER all|few plain|shaken``: few campaigns or all; shaken: every stated accuracy is
multiplied by 1 + 2e-16 or 1 - 2e-16, which is what another order of the same sums might have made of it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np

from crowdopt.cli import main

SHARED = ("r10", "R10:60x30", "bhattacharyya"), ("t3", "T3:60x30", "exact-error")
MORE = (
    ("b5", "B5:60x40", "exact-error"),
    ("b5h", "B5:60x60", "hoeffding"),
    ("hs", "HS:60x60", "bhattacharyya"),
    ("k3", "K3:60x40", "bhattacharyya"),
    ("r1", "R1:80x50", "bhattacharyya"),
    ("l3", "L3:60x40", "bhattacharyya"),
    ("u", "U:30x60", "probit"),
    ("r10m", "R10:60x30", "mean-error"),
)
POLICIES = "sequential,adaptive:gold=5,multiplicative-weights,entropy"
MORE_POLICIES = "re-solve,main-algorithm,mirror-descent,sampled-lp,greedy,kos,least-covered,budget,sequential:stop=each"
LEARNERS = "ls-ol,ls-ol-weighted,ls-ol-vetting,em-then-exploit,full-majority,oracle"
DIFFER = {"run.json", "timings.csv"}  # seconds are in them


def verb(*words: object) -> None:
    """One command; what it answers with is part of its files."""
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        assert end.code in (0, 1, None), words


def shake(path: Path, rng: np.random.Generator) -> None:
    """Every accuracy of a table times 1 + 2e-16 or 1 - 2e-16."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    place = header.index("accuracy")
    for row in rows:
        row[place] = repr(min(1.0, float(row[place]) * float(1 + 2e-16 * rng.choice([-1, 1]))))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def run(every: bool, shaken: bool) -> None:
    """Each campaign from its draw to an audit; comparisons, also with workers who break the model; a learning run."""
    rng = np.random.default_rng(0)
    for name, recipe, rule in SHARED + (MORE if every else ()):
        verb("generate", recipe, "--seed", 3, "--epsilon", "0.2", "-o", name)
        if shaken:
            shake(Path(name, "skills.csv"), rng)
        how = ("--method", "patterns:pools=8") if rule == "mean-error" else ()
        verb("solve", name, "--rule", rule, *how, "--nodes", 100, "-o", f"{name}-plan")
        if Path(f"{name}-plan").exists():
            verb("rehearse", name, f"{name}-plan", "--seed", 1, "-o", f"{name}.csv", "--truth", f"{name}-truth.csv")
            verb("aggregate", f"{name}.csv", "--plan", f"{name}-plan", "--campaign", name, "-o", f"{name}-answers")
            verb("audit", f"{name}-answers", "--target", ".15", "--seed", 7, "-o", f"{name}-audit")
        if every:
            verb("compare", name, "--policies", f"{POLICIES},{MORE_POLICIES}", "--trials", 1, "-o", f"{name}-compared")
        if every or name == "r10":
            breach = "difficulty=.3,clique=.2"
            verb("compare", name, "--policies", POLICIES, "--breach", breach, "--trials", 1, "-o", f"{name}-breached")
    with Path("skills.csv").open("w", encoding="utf-8") as file:
        file.write("worker,accuracy,price\n")
        drawn = np.random.default_rng(0).uniform(0.45, 0.95, 12)
        file.writelines(f"w{j},{p!r},{0.01 * (1 + j % 3)}\n" for j, p in enumerate(drawn.tolist()))
    if shaken:
        shake(Path("skills.csv"), rng)
    verb("learn", "--skills", "skills.csv", "--policies", LEARNERS, "--trials", 1, "--horizon", 300, "-o", "learnt")
    if every:
        verb("budget", "r10", "--labels", 100, "-o", "r10-budget")
        verb("solve", "r10", "--program", "lp", "-o", "r10-shares")


def digests() -> dict[str, str]:
    """Of every file that two equal runs share, by its path."""
    found = [path for path in sorted(Path().rglob("*")) if path.is_file()]
    found = [path for path in found if path.name not in {*DIFFER, "skills.csv"} and "work" not in path.parts]
    return {path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    sys.modules["altair"] = sys.modules["vl_convert"] = None  # charts take half of the time, and show what tables say
    print_to, sys.stdout = sys.stdout, sys.stderr
    run(sys.argv[2] == "all", sys.argv[3] == "shaken")
    print(json.dumps(digests()), file=print_to)
