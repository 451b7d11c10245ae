"""Three rounds of a campaign through the command line: plan, labels, answers, the campaign of what is left, again.

    python benchmarks/rounds.py [RECIPE] [--rounds 3] [--limit 12] [--epsilon .07] [--lost .05]
                               [--threads 1]

Each round is ``solve``, ``rehearse`` (the labels, drawn from the campaign's own skills) and ``aggregate``, each a
process of its own. Printed for each: labels bought, the bound and the gap, seconds inside the limit, and seconds of
the command from start to end; every plan is checked by ``verify``. A plan that cannot be is said so by ``solve``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

RULE = "exact-error"  # of the first round, as in README; the next campaign has it


def crowdopt(*words: str | Path, cwd: Path) -> tuple[dict, float]:
    """One command's object, and how long it took."""
    started = perf_counter()
    command = [sys.executable, "-m", "crowdopt.cli", *map(str, words), "--json"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stderr or done.stdout}")
    return json.loads(done.stdout), perf_counter() - started


def one_round(number: int, campaign: str, limit: str, lost: str, threads: str, folder: Path) -> str:
    """Plan, verify, draw labels, aggregate; returns the campaign of the next round."""
    plan, labels, answers = f"plan-{number}", f"labels-{number}.csv", f"answers-{number}"
    rule = ["--rule", RULE] if number == 1 else []
    _, seconds = crowdopt("solve", campaign, *rule, "--time-limit", limit, "--threads", threads, "-o", plan, cwd=folder)
    facts = json.loads((folder / plan / "plan.json").read_text())
    inside = json.loads((folder / plan / "run.json").read_text())["seconds"]
    _, checked = crowdopt("verify", campaign, plan, cwd=folder)
    said = f"round {number}: {facts['labels']} labels, cost {facts['objective']:.10g}, bound {facts['bound']:.10g}"
    print(f"{said}, gap {100 * facts['gap']:.4f} %, {inside:.1f} s of {limit}, command {seconds:.1f} s,"
          f" verify {checked:.1f} s", flush=True)  # fmt: skip
    crowdopt(
        "rehearse", campaign, plan, "--seed", str(number), "--lost", lost, "-o", labels, "--truth", "truth.csv",
        cwd=folder,
    )  # fmt: skip
    crowdopt("aggregate", labels, "--plan", plan, "--campaign", campaign, "-o", answers, cwd=folder)
    return f"{answers}/campaign"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="R10:3000x800")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", default="12")
    parser.add_argument("--epsilon", default=".07")
    parser.add_argument("--lost", default=".05")
    parser.add_argument("--threads", default="1")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder, campaign = Path(name), "first"
        crowdopt("generate", given.recipe, "--epsilon", given.epsilon, "-o", campaign, cwd=folder)
        for number in range(1, given.rounds + 1):
            campaign = one_round(number, campaign, given.limit, given.lost, given.threads, folder)


if __name__ == "__main__":
    main()
