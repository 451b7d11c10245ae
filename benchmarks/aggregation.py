"""EM, Dawid-Skene and KOS on a million labels against crowd-kit, at equal iterations and from equal starts.

python benchmarks/aggregation.py [--items N] [--workers M] [--labels-per-item D] [--seed S] [--repeats R]

Needs crowd-kit 1.4.2 (extra ``oracles``). Both get integer columns: crowd-kit a data frame, crowdopt index arrays.
crowd-kit's EM stops by its own rule; crowdopt then runs as many rounds. Each method runs in a process of its own, so
that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import warnings
from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

METHODS = ("one-coin", "dawid-skene", "kos")
ROUNDS = 100


def drawn(items: int, workers: int, each: int, seed: int) -> dict[str, np.ndarray]:
    """Every item labelled by ``each`` different workers of Beta(6, 2), in random order, and the truth."""
    rng = np.random.default_rng(seed)
    step = rng.integers(1, workers // each, (items, 1))
    worker = ((rng.integers(0, workers, (items, 1)) + np.arange(each) * step) % workers).reshape(-1)
    task, truth = np.repeat(np.arange(items), each), rng.integers(0, 2, items)
    right = rng.random(task.size) < rng.beta(6, 2, workers)[worker]
    order = rng.permutation(task.size)
    label = np.where(right, truth[task], 1 - truth[task])
    return {"task": task[order], "worker": worker[order], "label": label[order], "truth": truth}


def crowd_kit(method: str, data: dict[str, np.ndarray], seed: int) -> tuple[float, np.ndarray, int]:
    """Seconds, answers, iterations."""
    import pandas
    from crowdkit.aggregation.classification import KOS, DawidSkene, OneCoinDawidSkene

    fits = {"one-coin": OneCoinDawidSkene, "dawid-skene": DawidSkene, "kos": KOS}
    fit = fits[method](n_iter=ROUNDS, **({"random_state": seed} if method == "kos" else {}))
    frame = pandas.DataFrame({name: data[name] for name in ("task", "worker", "label")})
    started = perf_counter()
    answers = fit.fit_predict(frame)
    seconds = perf_counter() - started
    return seconds, answers.sort_index().to_numpy(), len(getattr(fit, "loss_history_", [])) or ROUNDS


def ours(method: str, data: dict[str, np.ndarray], seed: int, rounds: int) -> tuple[float, np.ndarray, int]:
    """Seconds, answers, iterations; their settings: prior estimated, no smoothing, first messages N(1, 1)."""
    from crowdopt.answers import dawid_skene, kos, one_coin
    from crowdopt.crowd.labels import Labels

    ids = (tuple(map(str, range(int(data[name].max()) + 1))) for name in ("task", "worker", "label"))
    labels = Labels(data["task"], data["worker"], data["label"], *ids)
    np.random.seed(seed)  # noqa: NPY002  how crowd-kit draws
    start = np.random.normal(1, 1, labels.task.size)  # noqa: NPY002
    runs = {
        "one-coin": lambda: one_coin(labels, rounds, "estimated", 0.0),
        "dawid-skene": lambda: dawid_skene(labels, rounds, "estimated", 0.0),
        "kos": lambda: kos(labels, rounds, start),
    }
    started = perf_counter()
    found = runs[method]()
    answer = found.answer
    return perf_counter() - started, answer, found.iterations


def once(whose: str, method: str, given: argparse.Namespace, rounds: int) -> dict[str, Any]:
    """One run, here."""
    warnings.simplefilter("ignore")
    data = drawn(given.items, given.workers, given.labels_per_item, given.seed)
    run = crowd_kit(method, data, given.seed) if whose == "crowd-kit" else ours(method, data, given.seed, rounds)
    seconds, answers, iterations = run
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    right = float((answers == data["truth"]).mean())
    digest = np.packbits(answers.astype(bool)).tobytes().hex()
    return {"seconds": seconds, "iterations": iterations, "right": right, "megabytes": memory, "answers": digest}


def apart(whose: str, method: str, rounds: int) -> dict[str, Any]:
    """One run, in a process of its own."""
    words = [*sys.argv, "--one", whose, "--method", method, "--rounds", str(rounds)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def differing(one: str, other: str) -> int:
    """How many answers differ."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--workers", type=int, default=2_000)
    parser.add_argument("--labels-per-item", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    for name in ("--one", "--method", "--rounds"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(once(given.one, given.method, given, int(given.rounds))))
        return
    sizes = f"{given.items * given.labels_per_item:,} labels, {given.workers} workers, {given.items:,} items"
    versions = ", ".join(f"{name} {version(name)}" for name in ("crowd-kit", "pandas"))
    print(f"{sizes}, seed {given.seed}; {versions}; medians of {given.repeats} (KOS of crowd-kit: one run).\n")
    head = ("method", "rounds", "crowd-kit, s", "crowdopt, s", "ratio", "answers that differ", "right, both", "MB")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for method in METHODS:
        theirs = [apart("crowd-kit", method, 0) for _ in range(given.repeats if method != "kos" else 1)]
        rounds = theirs[0]["iterations"]
        mine = [apart("crowdopt", method, rounds) for _ in range(given.repeats)]
        slow, fast = (median(run["seconds"] for run in runs) for runs in (theirs, mine))
        both = f"{theirs[0]['right']:.5f}, {mine[0]['right']:.5f}"
        apart_by = differing(theirs[0]["answers"], mine[0]["answers"])
        memory = max(run["megabytes"] for run in mine)
        times = f"{slow:.1f} | {fast:.2f} | {slow / fast:.0f}"
        print(f"| {method} | {rounds} | {times} | {apart_by} | {both} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
