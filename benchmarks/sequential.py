"""How many labels the sequential policies take at an error target, gold included: n = 1000, m = 300, M = 200.

python -m benchmarks.sequential [--runs N] [--seed S] [--processes P] [--policies A,B] [--settings X,Y] [-o FOLDER]
python -m benchmarks.sequential --goals [--runs N] [--seed S] [-o FOLDER]
python -m benchmarks.sequential --decisions
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import crowdopt
from crowdopt import Adaptive, jobs
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.limits import least
from crowdopt.online.policies import named
from crowdopt.online.replay import Replay, replay
from crowdopt.online.run_score import answers_of, realised_error

TASKS, WORKERS, CAPACITY = 1000, 300, 200
EPSILONS = (0.1, 0.05)
SEED = 60_000  # none of these were tuned on
SETTINGS = ("spammers-hammers", "uniform", "u51", "beta", "types")
POLICIES = ("sequential", "adaptive")
ALONE = "sequential:checks=0"  # no expert looks at answers


def skills(setting: str, rng: np.random.Generator, workers: int = WORKERS) -> Any:
    """True accuracies, (types, workers)."""
    if setting == "types":  # .7 in one of three types, 1/2 in the others
        found = np.full((3, workers), 0.5)
        found[rng.integers(0, 3, workers), np.arange(workers)] = 0.7
        return found
    draw = {
        "spammers-hammers": lambda: rng.choice([0.5, 0.7], workers),
        "uniform": lambda: np.full(workers, 0.6414),
        "u51": lambda: rng.uniform(0.5, 1.0, workers),
        "beta": lambda: rng.beta(2.3, 2.0, workers),
    }
    return draw[setting]()[None, :]


def row(setting: str, epsilon: float, policy: str, seed: int) -> dict[str, Any]:
    """One run on a crowd, a truth and labels of its own; a job."""
    skill = skills(setting, np.random.default_rng([seed, 1]))
    instance = AssignmentInstance(skill, np.arange(TASKS) % skill.shape[0], CAPACITY, epsilon)
    stream = simulated_stream(instance, (seed, 2))
    started = process_time()
    run = replay(named(policy), stream, seed, crowdopt.solve_program)
    seconds = process_time() - started
    return {
        "labels": run.total_labels,
        "gold": run.labels["gold"],
        "realised": realised_error(run, answers_of(run)),
        "claimed": float(run.claims.mean()),
        "unfinished": float((run.claims > epsilon + 1e-9).mean()),
        "fell_back": any("contradicts" in note for note in run.notes),
        "seconds": seconds,
    }


def warm(policy: str) -> None:
    """Compile before anything is timed."""
    instance = AssignmentInstance(np.full((1, 20), 0.8), np.zeros(30, int), 20, 0.2)
    replay(named(policy), simulated_stream(instance, (0,)), 0, crowdopt.solve_program)


def line(setting: str, epsilon: float, policy: str, rows: list[dict[str, Any]]) -> str:
    """Means with half-widths of 95 % intervals."""
    column = {key: np.array([one[key] for one in rows], dtype=float) for key in rows[0]}
    half = {key: 1.96 * values.std(ddof=1) / np.sqrt(len(rows)) for key, values in column.items()}
    mean = {key: values.mean() for key, values in column.items()}
    cells = [policy, setting, f"{epsilon:g}", f"{mean['labels']:.0f} ± {half['labels']:.0f}", f"{mean['gold']:.0f}"]
    cells += [f"{mean['realised']:.4f} ± {half['realised']:.4f}", f"{column['realised'].max():.3f}"]
    cells += [f"{mean['claimed']:.4f}", f"{mean['unfinished']:.3f}", f"{mean['seconds']:.2f}"]
    return f"| {' | '.join(cells)} |"


def results(asked: list[jobs.Job], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows of jobs; one that fails ends the command with why."""
    rows = jobs.run(asked, given.output, given.processes)
    if broken := [one.error for one in rows if one.error]:
        raise SystemExit(f"a run failed: {broken[0]}")
    return [one.result for one in rows]


def crowds(text: str) -> list[str]:
    """Names of crowds, parted by commas."""
    names = text.split(",")
    if unknown := [name for name in names if name not in SETTINGS]:
        raise argparse.ArgumentTypeError(f"there is no crowd {unknown[0]!r}; there are {', '.join(SETTINGS)}")
    return names


def asked_policies(text: str) -> list[str]:
    """Policies with their options, parted by commas."""
    try:
        return [policy for policy in text.split(",") if named(policy)]
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def targets(text: str) -> list[float]:
    """Error targets between 0 and 1, parted by commas."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; give targets parted by commas") from None
    if not all(0 < target < 1 for target in found):
        raise argparse.ArgumentTypeError(f"targets lie between 0 and 1, not {text}")
    return found


HEAD = ("policy", "crowd", "epsilon", "labels", "of that gold", "realised", "worst run", "claimed", "unsure", "seconds")


GOALS = {"spammers-hammers": 7600, "uniform": 12_400, "u51": 1300, "beta": 2200, "types": 10_000}  # labels to .1
GOAL_HEAD = (
    *("crowd", "goal", "labels to .1", "median", "of that gold", "realised", "claimed", "no policy below"),
    "adaptive plan, its bound",
)


def goals(given: argparse.Namespace) -> None:
    """Labels to a mean error of .1 by labels alone, beside the goal and, skills known, what can be reached."""
    print(f"\n{given.runs} runs each\n\n| {' | '.join(GOAL_HEAD)} |\n|{'---|' * len(GOAL_HEAD)}")
    warm(ALONE)
    for setting, goal in GOALS.items():
        seeds = range(given.seed, given.seed + given.runs)
        asked = [jobs.Job.of(ROW, setting=setting, epsilon=0.1, policy=ALONE, seed=s) for s in seeds]
        rows = results(asked, given)
        column = {
            key: np.array([one[key] for one in rows], dtype=float) for key in ("labels", "gold", "realised", "claimed")
        }
        half = {key: 1.96 * values.std(ddof=1) / np.sqrt(len(rows)) for key, values in column.items()}
        skill = skills(setting, np.random.default_rng([given.seed, 1]))
        instance = AssignmentInstance(skill, np.arange(TASKS) % skill.shape[0], CAPACITY, 0.1, rule="exact-error")
        plan = crowdopt.solve(instance, method=Adaptive())
        assert plan.found and crowdopt.verify(instance, plan).proven == plan.proven
        cells = [setting, f"{goal}", f"{column['labels'].mean():.0f} ± {half['labels']:.0f}"]
        cells += [f"{np.median(column['labels']):.0f}", f"{column['gold'].mean():.0f}"]
        cells += [f"{column['realised'].mean():.4f} ± {half['realised']:.4f}", f"{column['claimed'].mean():.4f}"]
        cells += [f"{least(instance, crowdopt.solve_program).known:.0f}", f"{plan.objective:.0f}, {plan.bound:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def decisions(tasks: int = 100_000, workers: int = 40) -> None:
    """Time of one decision with so many open tasks: from the call to the ids, and of learning its label."""
    rng = np.random.default_rng(SEED)
    instance = AssignmentInstance(rng.choice([0.5, 0.7], (1, workers)), np.zeros(tasks, int), CAPACITY, 0.1)
    policy = named("sequential")
    taken: dict[str, list[float]] = {"decide": [], "learn": []}
    for name, times in taken.items():
        setattr(policy, name, _timed(getattr(policy, name), times))
    warm("sequential")
    Replay(policy, simulated_stream(instance, (SEED,)), 0, crowdopt.solve_program).advance(workers)
    for name, times in taken.items():
        print(
            f"{name:8s} {len(times)} calls, median {1e3 * median(times):.3f} ms, mean {1e3 * np.mean(times):.3f} ms, "
            f"worst {1e3 * max(times):.1f} ms"
        )


def _timed(work: Any, times: list[float]) -> Any:
    def call(*arguments: Any) -> Any:
        started = perf_counter()
        found = work(*arguments)
        times.append(perf_counter() - started)
        return found

    return call


def main() -> None:
    """One table, a line per setting, target and policy; rows are kept in the folder and not computed again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--policies", type=asked_policies, default=",".join(POLICIES))
    parser.add_argument("--settings", type=crowds, default=",".join(SETTINGS))
    parser.add_argument("--epsilons", type=targets, default=",".join(map(str, EPSILONS)))
    parser.add_argument("--decisions", action="store_true")
    parser.add_argument("--goals", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    print(f"python {platform.python_version()}, numpy {np.__version__}, crowdopt {crowdopt.__version__}", end=", ")
    print(f"seeds from {given.seed}")
    if given.decisions:
        return decisions()
    if given.goals:
        return goals(given)
    print(f"\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for policy in given.policies:
        warm(policy)
        for setting in given.settings:
            for epsilon in given.epsilons:
                seeds = range(given.seed, given.seed + given.runs)
                asked = [jobs.Job.of(ROW, setting=setting, epsilon=epsilon, policy=policy, seed=s) for s in seeds]
                print(line(setting, epsilon, policy, results(asked, given)), flush=True)


if __name__ == "__main__":
    from benchmarks.sequential import row as ROW  # by its import path: processes are to find it

    main()
