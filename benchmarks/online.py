"""Online prices against what they replace, each ratio measured side by side in one run.

python -m benchmarks.online [--repeats N] [-o FILE] [batch | sampled | quality ...]
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import crowdopt
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.policy import fill
from crowdopt.online.replay import replay
from crowdopt.online.task_prices import prices
from crowdopt.programs import sampled
from crowdopt.programs.market import Market

SEED = 0
SPELL = 0.05  # seconds that one measurement lasts at least


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Median over repeats of the mean time of a call, each repeat at least SPELL long."""
    taken = []
    for _ in range(repeats):
        count, started = 0, perf_counter()
        while (elapsed := perf_counter() - started) < SPELL or count == 0:
            work()
            count += 1
        taken.append(elapsed / count)
    return median(taken)


def side_by_side(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Every work once per round, round after round, so that a busy spell of the machine meets all of them."""
    rounds = [{name: seconds(work, 1) for name, work in works.items()} for _ in range(repeats)]
    return {name: median(one[name] for one in rounds) for name in works}


def batch(repeats: int) -> list[dict[str, Any]]:
    """Counts by kind for 100,000 workers at once."""
    rng, workers, kinds = np.random.default_rng(SEED), 100_000, 10
    evidence = (2 * rng.uniform(0.5, 0.95, (workers, kinds)) - 1) ** 2
    price, tasks, room = rng.uniform(1, 3, kinds), np.full(kinds, 1000), rng.integers(50, 300, workers)
    took = seconds(lambda: fill(evidence * price - 1, tasks, room), repeats)
    return [{"workers": workers, "kinds": kinds, "workers_per_second": workers / took}]


def sampled_lp(repeats: int) -> list[dict[str, Any]]:
    """Prices from 90 workers, n = 1000: over kinds against highspy on the full sampled model, same certified value."""
    found = []
    for name in ("HS", "K3", "R10"):
        instance = crowdopt.recipe(f"{name}:1000x300", SEED)
        sample = np.arange(90)
        program = sampled.build(instance, sample, 0.3)
        kinds = np.bincount(instance.task_type)
        need = 0.3 * np.full(kinds.size, instance.need[0])
        market = Market(instance.evidence[:, sample], instance.cost[:, sample], instance.capacity[sample], kinds, need)
        works = {
            "ours": lambda market=market: prices(market, crowdopt.solve_program),
            **{
                backend: lambda program=program, backend=backend: crowdopt.solve_program(program, backend)
                for backend in ("highs-simplex", "highs-ipm")
            },
        }
        took = side_by_side(works, repeats)
        best = min(took["highs-simplex"], took["highs-ipm"])
        found.append({"instance": name, **{f"ms_{key}": 1e3 * t for key, t in took.items()}})
        found[-1] |= {"times": best / took["ours"], "gap": _gap(instance, sample, market, program)}
    return found


def _gap(instance: AssignmentInstance, sample: Any, market: Market, program: Any) -> float:
    """How far the price's Lagrangian bound on the full sampled model is from that model's certified optimum."""
    full = crowdopt.certify(crowdopt.solve_program(program, "highs-simplex")).bound
    price = prices(market, crowdopt.solve_program).price[instance.task_type]
    value = instance.evidence[instance.task_type][:, sample] * price[:, None] - 1
    best = np.sort(np.maximum(value, 0), axis=0)[::-1]
    earned = sum(best[: instance.capacity[j], k].sum() for k, j in enumerate(sample))
    return float(full - (price @ (0.3 * instance.need) - earned)) / full


QUALITY = (
    "primal-approximation",
    "sampled-lp",
    "sampled-lp:stop:ties=least-covered",
    "re-solve",
    "multiplicative-weights",
    "mirror-descent",
    "greedy",
)


def quality(repeats: int) -> list[dict[str, Any]]:
    """Skills told, n = 1000, m = 300, M = 200, C = 9.2: labels over the LP beside the mean shortfall, 12 trials."""
    found = []
    for name, types in (("U(.5, 1)", 1), ("U(.5, 1)", 3), ("HS", 0), ("R10", 0)):
        figures: dict[str, list[tuple[float, float, float]]] = {policy: [] for policy in QUALITY}
        for trial in range(12):
            instance, draw = _crowd(name, types, trial)
            linear = crowdopt.solve(instance, program="lp")
            if linear.objective is None:
                continue
            stream = simulated_stream(instance, (trial, SEED), 90, draw, prices=linear.duals.task)
            for policy in QUALITY:
                run = replay(named(policy), stream, trial, crowdopt.solve_program)
                lack = np.maximum(0, instance.need - run.covered) / instance.need
                figures[policy].append((run.total_cost / linear.objective, lack.mean(), (lack > 1e-9).mean()))
        for policy, rows in figures.items():
            ratio, mean, share = np.mean(rows, axis=0).tolist()
            crowd = f"{name}, {types} type(s)" if types else name
            found.append({"crowd": crowd, "policy": policy, "ratio": ratio, "shortfall": mean, "short tasks": share})
    return found


def _crowd(name: str, types: int, trial: int) -> tuple[AssignmentInstance, Any]:
    rng = np.random.default_rng([trial, types, SEED])
    if types:

        def draw(rng: np.random.Generator, workers: int) -> AssignmentInstance:
            accuracy = rng.uniform(0.5, 1, (types, workers))
            return AssignmentInstance(accuracy, np.arange(1000) % types, 200, np.exp(-4.6), rule="hoeffding")

        return draw(rng, 300), draw
    return crowdopt.recipe(f"{name}:1000x300", trial), None


SUBJECTS = {"batch": batch, "sampled": sampled_lp, "quality": quality}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and keep with versions and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], default=[])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(arguments)
    versions = {"numpy": np.__version__, "crowdopt": crowdopt.__version__}
    made = {"python": platform.python_version(), **versions, "seed": SEED}
    results = {}
    for subject in given.subjects or SUBJECTS:
        results[subject] = SUBJECTS[subject](given.repeats)
        head = list(results[subject][0])
        print(f"\n{subject}: {(SUBJECTS[subject].__doc__ or '').strip()}\n")
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for line in results[subject]:
            print(f"| {' | '.join(_shown(line[key]) for key in head)} |", flush=True)
    if given.output:
        given.output.write_text(json.dumps({**made, **results}, indent=1) + "\n", encoding="utf-8")


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
