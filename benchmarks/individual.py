"""Tasks that are not alike: the exact method and general solvers on the same instances, side by side in one run.

    python benchmarks/individual.py [--methods exact,highs] [--limit 10] [--threads 1] [--program lp] [ROW ...]

A row is ``NAME:SIZE:KIND``: NAME a recipe, ``I<k>``, or ``own`` (the generator of the first measurements); KIND one of
eps (targets within 30 %), prior (a prior per task), forbidden (3 n pairs), own, or second@EPSILON[@RULE] (labels of a
first round in, its plan by the exact method within 1 %). Every plan is held against the limits of its instance, every
bound of ours is proven again by the second opinion (recheck); a solver's bound is its word. Seconds and megabytes are
those of the solve, without drawing the instance (a solver in a process of its own, such as CBC, takes megabytes beyond
those shown); those of processors are what other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import replace
from time import perf_counter

import numpy as np

ROWS = [
    "R10:1000x300:second@.05",
    "R10:1000x300:second@.05@exact-error",
    "B5:3000x800:second@.07",
    "R10:10000x2000:second@.03",
    *(f"{kind}:{size}:{what}" for size in ("3000x800", "10000x2000") for kind in ("R10", "B5")
      for what in ("eps", "prior", "forbidden")),
    "own:2000x20:own",
    "own:20000x20:own",
    "own:2000x100:own",
]  # fmt: skip


def own(n: int, m: int, seed: int = 5):
    """Accuracies per item from skill, difficulty and noise; log-normal prices; six tasks of capacity per task."""
    import crowdopt

    rng = np.random.default_rng(seed)
    skill, difficulty = rng.normal(1.2, 0.6, m), np.minimum(rng.normal(0, 0.8, n), 1.5)
    right = 1 / (1 + np.exp(-(skill[None] - difficulty[:, None] * 0.7 + rng.normal(0, 0.3, (n, m)))))
    cost = np.round(np.exp(rng.normal(0, 0.7, m) + 0.5 * skill), 3)
    return crowdopt.AssignmentInstance(
        accuracy=np.clip(0.5 + 0.5 * right * 0.98, 0.5, 0.99),
        task_type=np.arange(n),
        capacity=np.full(m, int(6 * n / m) + 1),
        epsilon=np.asarray(0.3),
        rule="bhattacharyya",
        cost=cost,
    )


def drawn(row: str, seed: int = 0):
    """The instance of a row."""
    import crowdopt

    name, size, kind = row.split(":")
    if name == "own":
        return own(*map(int, size.split("x")))
    instance = crowdopt.recipe(f"{name}:{size}", seed)
    if kind == "own" or kind.startswith("second"):
        return instance if kind == "own" else second(instance, *kind.split("@")[1:], seed=seed)
    return changed(instance, kind, np.random.default_rng([seed, 99]))


def changed(instance, kind: str, rng: np.random.Generator):
    """The instance with targets, priors or forbidden pairs of each task's own."""
    n, m = instance.n_tasks, instance.n_workers
    if kind == "eps":
        return replace(instance, epsilon=instance.epsilon * rng.uniform(0.7, 1.3, n))
    if kind == "prior":
        first = rng.uniform(0.3, 0.7, n)
        return replace(instance, rule="bhattacharyya", prior=np.column_stack([first, 1 - first]))
    if kind == "forbidden":
        pairs = np.unique(rng.integers(0, n * m, 3 * n))
        return replace(instance, forbidden=np.column_stack(np.divmod(pairs, m)))
    return instance


def second(instance, epsilon: str, rule: str = "bhattacharyya", seed: int = 0):
    """The second round: labels of the first drawn and counted as they fell."""
    import crowdopt
    from crowdopt.crowd.recipes import simulated_labels

    instance = replace(instance, epsilon=np.asarray(float(epsilon)), rule=rule)
    pairs = crowdopt.solve(instance, time_limit=60, gap=0.01).pairs
    if pairs is None:
        raise SystemExit("the first round has no plan")
    _, labels = simulated_labels(instance, pairs, np.random.default_rng([seed, 7]))
    known = replace(instance, collected=pairs)
    return known.given(known.posterior(pairs, labels))


def proven_again(plan) -> float | None:
    """What the plan's multipliers prove, by the second opinion."""
    from crowdopt.crowd.vote_errors import relaxation
    from crowdopt.recheck.bounds import FOLLOWED, JointPull, prove, prove_sets

    if plan.duals is None or plan.duals.joint:
        return None
    instance, duals = plan.instance, plan.duals
    if plan.program == "lp":
        return prove(instance, duals.task, duals.worker, duals.labels, duals.budget)
    instance = relaxation(instance)
    whole, again = bool((instance.cost == np.rint(instance.cost)).all()), -np.inf
    for states in FOLLOWED:
        if again < plan.certified_bound:
            proven = prove_sets(
                instance, duals.worker, duals.budget, JointPull.none(instance), duals.wrong, states=states
            )
            again = float(np.ceil(proven - 1e-9 * abs(proven))) if whole else proven
    return again


def once(row: str, method: str, limit: float, threads: int, program: str = "ip") -> dict:
    """One method on one instance, in this process."""
    import crowdopt
    from crowdopt.crowd.vote_errors import breaches

    crowdopt.solve(own(300, 60), time_limit=3)  # compiles, or loads what is compiled
    instance = drawn(row)
    alone = method.startswith("ortools")  # which cannot be loaded beside highspy
    (busy, base), started = used(), perf_counter()
    plan = crowdopt.solve(instance, method, program=program, time_limit=limit, gap=0.0, threads=threads, isolated=alone)
    seconds, (busy_after, peak) = perf_counter() - started, used()
    if plan.found and breaches(instance, plan.pairs, plan.amounts):
        raise AssertionError("the plan does not keep the limits")
    again = proven_again(plan) if method == "exact" else None
    if again is not None and plan.certified_bound > again + 1e-9 * max(1.0, abs(again)):
        raise AssertionError(f"the multipliers prove {again}, not {plan.certified_bound}")
    bound = plan.bound if np.isfinite(plan.bound) else None
    numbers = {"value": plan.objective if plan.found else None, "bound": bound, "again": again, "seconds": seconds}
    numbers |= {"busy": busy_after - busy, "megabytes": peak - base}
    return {"row": row, "method": method, "status": plan.status.value, **numbers}


def used() -> tuple[float, float]:
    """Seconds of processors so far, of this process and those it has started; and the most megabytes of this one."""
    here, there = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in (here, there)), here.ru_maxrss / 1024


HEADER = """| row | method | status | cost | bound | gap | seconds | of them processor | MB |
|---|---|---|---|---|---|---|---|---|"""


def shown(result: dict) -> str:
    """A row of the table."""
    value, bound = result["value"], result["bound"]
    gap = "" if value is None or bound is None else f"{100 * (value - bound) / max(1.0, value):.4f} %"
    cells = [result["row"], result["method"], result["status"], "none" if value is None else f"{value:.10g}"]
    cells += ["none" if bound is None else f"{bound:.8g}", gap]
    cells += [f"{result['seconds']:.2f}", f"{result['busy']:.2f}", f"{result['megabytes']:.0f}"]
    return f"| {' | '.join(cells)} |"


def failed(row: str, method: str, stderr: str) -> str:
    """The row of a process that ended by itself, such as for want of memory: the last line that it said."""
    return f"| {row} | {method} | ended | {(stderr.strip().splitlines() or ['killed'])[-1][:80]} | | | | | |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--methods", default="exact,highs")
    parser.add_argument("--limit", default="10")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--program", default="ip", choices=("ip", "lp"))
    parser.add_argument("--memory", type=float, default=16_000.0, help="Megabytes that a process may use.")
    parser.add_argument("--once", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        row, method, limit, threads, program = given.once
        print(json.dumps(once(row, method, float(limit), int(threads), program)))
        return
    print(HEADER, flush=True)
    for row in given.rows or ROWS:
        for method in given.methods.split(","):
            words = [sys.executable, __file__, "--once", row, method, given.limit, given.threads, given.program]
            shell = f'ulimit -v {int(given.memory * 1024)}; exec "$@"'
            done = subprocess.run(["bash", "-c", shell, "row", *words], capture_output=True, text=True)
            failure = failed(row, method, done.stderr)
            print(failure if done.returncode else shown(json.loads(done.stdout.splitlines()[-1])), flush=True)


if __name__ == "__main__":
    main()
