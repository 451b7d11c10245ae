"""The true minimum under exact errors where workers' skills are many: labels, proof, time.

    python benchmarks/true_minimum.py [--limit 30]

Every plan is written to a folder and verified from there. `before` is what proved most without levels: evidence that
every vote of so small an error has, and the fewest labels that reach it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

import crowdopt
from crowdopt.core.certificate import certify
from crowdopt.core.solution import BY_SIZE, Options
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated
from crowdopt.verbs.binding import SOLVERS

ROWS = (
    *(("B5:1000x300", epsilon) for epsilon in (0.1, 0.05, 0.01)),
    *(("R10:1000x300", epsilon) for epsilon in (0.05, 0.01, 0.002)),
    ("L3:1000x300", 0.05),
    *(("four types, Beta(4, 2):10000x2000", epsilon) for epsilon in (0.05, 0.01)),
)


def drawn(tasks: int, workers: int) -> AssignmentInstance:
    """Four types of unequal size, skills Beta(4, 2), capacities log-normal."""
    rng = np.random.default_rng(0)
    capacity = rng.lognormal(np.log(12 * tasks / workers), 0.7, workers)
    return AssignmentInstance(
        accuracy=rng.beta(4, 2, (4, workers)),
        task_type=np.minimum(rng.geometric(0.4, tasks) - 1, 3),
        capacity=np.minimum(tasks, np.rint(capacity).astype(int)),
        epsilon=0.05,
    )


def named(name: str, epsilon: float) -> AssignmentInstance:
    """The recipe's instance, or one drawn here, under the rule exact-error."""
    instance = drawn(10_000, 2000) if name.startswith("four") else crowdopt.recipe(name)
    return replace(instance, rule="exact-error", epsilon=epsilon)


def before(instance: AssignmentInstance, limit: float) -> float:
    """What the linear relaxation proves."""
    loose = relaxation(instance)
    program = aggregated.of_classes(classes_of(loose), whole=True)
    return certify(SOLVERS.solve(program, BY_SIZE, Options(time_limit=limit))).bound


def holds(instance: AssignmentInstance, plan: crowdopt.Plan) -> bool:
    """Whether verify agrees, from the folders."""
    with TemporaryDirectory() as folder:
        crowdopt.write_campaign(instance, Path(folder, "campaign"))
        crowdopt.write_plan(plan, Path(folder, "plan"))
        return bool(crowdopt.verify(Path(folder, "campaign"), Path(folder, "plan")).holds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=30.0)
    limit = parser.parse_args().limit
    crowdopt.solve(named("B5:60x40", 0.05), time_limit=limit)  # compiled, or loaded
    print("| instance | epsilon | labels | no plan has fewer than | before | seconds | of them processor |")
    print("|---|---|---|---|---|---|---|")
    for name, epsilon in ROWS:
        instance = named(name, epsilon)
        clock, work = perf_counter(), process_time()
        plan = crowdopt.solve(instance, time_limit=limit, gap=0.0)
        seconds, work = perf_counter() - clock, process_time() - work
        assert plan.found and holds(instance, plan)
        proof = "proven" if plan.proven else f"{plan.bound:.0f} (gap {plan.gap:.2g})"
        loose = before(instance, limit)
        print(f"| {name} | {epsilon:g} | {plan.objective:.0f} | {proof} | {loose:.0f} | {seconds:.2g} | {work:.2g} |")


if __name__ == "__main__":
    main()
