"""Online decisions against what they replace, each ratio measured side by side in one run.

python -m benchmarks.online [--repeats N] [-o FILE] [decisions | batch | sampled | quality ...]
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
from crowdopt.online.picking import TaskRotation, fill
from crowdopt.online.policies import named
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


def decisions(repeats: int) -> list[dict[str, Any]]:
    """One worker, T = 10, a fifth of the tasks as their capacity: by kind, argpartition over tasks, a loop, writing."""
    found = []
    for n in (100_000, 1_000_000):
        kinds, room = 10, n // 5
        rng = np.random.default_rng(SEED)
        kind = np.sort(rng.integers(0, kinds, n)).astype(np.int32)
        price, skill = rng.uniform(1, 3, kinds), rng.uniform(0.5, 0.95, kinds)
        evidence = (2 * skill - 1) ** 2
        each_price, each_evidence = price[kind], evidence[kind]
        rotation, buffer = TaskRotation(kind, kinds, rng), np.empty(room, np.int32)

        def by_kind(rotation: TaskRotation = rotation, q: Any = evidence, x: Any = price, room: int = room) -> Any:
            return rotation.take(q * x - 1, room)

        def partition(q: Any = each_evidence, x: Any = each_price, room: int = room) -> Any:
            value = q * x
            value -= 1
            able = np.flatnonzero(value >= 0)
            if able.size > room:
                able = able[np.argpartition(value[able], able.size - room)[able.size - room :]]
            return able

        def loop(q: Any = each_evidence, x: Any = each_price, room: int = room) -> Any:
            able = [(v, i) for i in range(len(q)) if (v := q[i] * x[i] - 1) >= 0]
            return [i for _, i in sorted(able, reverse=True)[:room]]

        def write(buffer: Any = buffer) -> None:
            buffer.fill(1)

        took = side_by_side({"by kind": by_kind, "argpartition": partition, "write": write}, repeats)
        took["loop"] = median(_once(loop) for _ in range(3)) if n <= 100_000 else float("nan")
        found.append({"n": n, "ids": by_kind().size, **{f"us_{name}": 1e6 * t for name, t in took.items()}})
        found[-1] |= {f"times_{name}": took[name] / took["by kind"] for name in ("argpartition", "loop")}
        found[-1]["writes"] = took["by kind"] / took["write"]
        found[-1]["us_whole decision"] = 1e6 * _whole_decision(kind, price, room, repeats)
    return found


def _once(work: Callable[[], Any]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _whole_decision(kind: Any, price: Any, room: int, repeats: int) -> float:
    """The policy's own ``decide``, from a worker's arrival to the ids."""
    rng = np.random.default_rng(SEED)
    instance = AssignmentInstance(rng.uniform(0.5, 0.95, (price.size, 400)), kind, room, 0.1, rule="hoeffding")
    stream = simulated_stream(instance, (SEED,), prices=price[kind])
    policy = named("primal-approximation:ties=rotating")
    policy.start(stream.known, crowdopt.solve)
    arrivals = [stream.arrival(j, True) for j in range(400)]
    policy.decide(arrivals[0], rng)  # lays out the rings
    taken = []
    for arrival in arrivals[1:]:
        started = perf_counter()
        policy.decide(arrival, rng)
        taken.append(perf_counter() - started)
    return median(taken)


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
            "ours": lambda market=market: prices(market, crowdopt.solve),
            **{
                backend: lambda program=program, backend=backend: crowdopt.solve(program, backend)
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
    full = crowdopt.certify(crowdopt.solve(program, "highs-simplex")).bound
    price = prices(market, crowdopt.solve).price[instance.task_type]
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
            linear = crowdopt.assign(instance, program="lp")
            if linear.objective is None:
                continue
            stream = simulated_stream(instance, (trial, SEED), 90, draw, prices=linear.duals.task)
            for policy in QUALITY:
                run = replay(named(policy), stream, trial, crowdopt.solve)
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


SUBJECTS = {"decisions": decisions, "batch": batch, "sampled": sampled_lp, "quality": quality}


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
