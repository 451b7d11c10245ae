"""What the rows of the tables are computed from: a function of the keys for each table, by the name of its file."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import crowdopt
from crowdopt import Adaptive, AssignmentInstance, Group

Row = dict[str, Any]
POLICIES = (
    "re-solve", "greedy", "multiplicative-weights", "main-algorithm:gold=5", "sampled-lp", "primal-approximation",
    "sequential", "entropy", "budget:each=3", "kos", "least-covered", "random",
)  # fmt: skip
LEARNERS = (
    "ls-ol", "ls-ol-weighted", "ls-ol-vetting", "ls-ol-context", "em-then-exploit", "full-majority",
    "random-set:size=3", "oracle",
)  # fmt: skip


def instance(row: str) -> AssignmentInstance:
    """RECIPE:SIZE[:CHANGE…], or own, twelve: tasks that all differ; tasks of about twelve labels."""
    name, size, *changes = row.split(":")
    n, m = map(int, size.split("x"))
    made = {"own": own, "twelve": twelve}.get(name, lambda n, m: crowdopt.recipe(f"{name}:{n}x{m}", 0))(n, m)
    for change in changes:
        made = changed(made, change)
    return made


def own(n: int, m: int) -> AssignmentInstance:
    """Accuracies per task from skill, difficulty and noise; log-normal prices; six labels a task can be had."""
    rng = np.random.default_rng(5)
    skill, difficulty = rng.normal(1.2, 0.6, m), np.minimum(rng.normal(0, 0.8, n), 1.5)
    right = 1 / (1 + np.exp(-(skill[None] - difficulty[:, None] * 0.7 + rng.normal(0, 0.3, (n, m)))))
    price = np.round(np.exp(rng.normal(0, 0.7, m) + 0.5 * skill), 3)
    skills = np.clip(0.5 + 0.5 * right * 0.98, 0.5, 0.99)
    return AssignmentInstance(skills, np.arange(n), np.full(m, 6 * n // m + 1), 0.3, rule="bhattacharyya", cost=price)


def twelve(n: int, m: int) -> AssignmentInstance:
    """Four kinds of tasks, four pools of workers, about twelve labels a task; a fifth more can be had."""
    rng = np.random.default_rng(3)
    skills = np.round(rng.uniform(0.62, 0.84, (4, 4))[:, rng.integers(0, 4, m)], 3)
    return AssignmentInstance(skills, rng.integers(0, 4, n), np.full(m, 15 * n // m + 1), 0.1, rule="bhattacharyya")


def changed(made: AssignmentInstance, change: str) -> AssignmentInstance:
    """With a rule, with limits, with targets; drawn as benchmarks/individual.py and groups.py do."""
    rng, n, m = np.random.default_rng([0, 99]), made.n_tasks, made.n_workers
    if change == "eps":
        return replace(made, epsilon=made.epsilon * rng.uniform(0.7, 1.3, n))
    if change == "prior":
        first = rng.uniform(0.3, 0.7, n)
        return replace(made, rule="bhattacharyya", prior=np.column_stack([first, 1 - first]))
    if change == "forbidden":
        return replace(made, forbidden=np.column_stack(np.divmod(np.unique(rng.integers(0, n * m, 3 * n)), m)))
    if change == "prices":
        return replace(made, cost=rng.integers(1, 6, m).astype(float))
    if change == "loads":
        return replace(made, min_load=np.minimum(made.capacity, 2))
    if change == "groups":
        home = np.random.default_rng(0).integers(0, 3, m)
        first, second, third = (np.flatnonzero(home == k).tolist() for k in range(3))
        least, most = Group("first", first, max_per_task=4, max_share=0.3), Group("third", third, max_per_task=6)
        return replace(made, groups=[least, Group("second", second, min_per_task=1, max_per_task=5), most])
    if change == "sites":
        parts = np.array_split(rng.permutation(m), min(100, m // 2))
        return replace(made, groups=[Group(f"s{k}", part.tolist(), max_per_task=1) for k, part in enumerate(parts)])
    if change.startswith("classes"):
        k = int(change[7:])
        return replace(made, classes=k, prior=np.full(k, 1 / k), rule="bhattacharyya")
    return replace(made, rule=change)


def plans(row: str, epsilon: str, seconds: str) -> Row:
    """The plan of a row: what it costs if it serves all tasks, and what none undercuts."""
    made = instance(row)
    made = replace(made, epsilon=np.asarray(float(epsilon))) if epsilon else made
    plan = crowdopt.solve(made, time_limit=float(seconds))
    bound = plan.certified_bound if np.isfinite(plan.certified_bound) else None
    return {"cost": plan.objective if plan.found else None, "bound": bound}


def compare(crowd: str, policy: str) -> Row:
    """Means of three trials at a target of .2."""
    row = _compared(crowd)[policy]
    return {"cost": row["cost"], "error": row["error_realised"], "short": row["short_share"]}


@cache
def _compared(crowd: str) -> dict[str, Row]:
    return {
        row["policy"]: row for row in crowdopt.compare(instance(crowd), list(POLICIES), trials=3, epsilon=0.2).summary
    }


def learn(labelers: str, policy: str) -> Row:
    """Means of three trials of 300 tasks."""
    row = _learned(labelers)[policy]
    return {key: row[key] for key in ("reward", "right", "regret", "labels")}


@cache
def _learned(labelers: str) -> dict[str, Row]:
    skills = None
    if not labelers.startswith("draw"):
        drawn = np.random.default_rng(1).uniform(0.5, 0.95, (2, 6)).round(3)
        kinds = range(2 if labelers == "two kinds" else 1)
        skills = {"worker": [f"w{j}" for _ in kinds for j in range(6)], "accuracy": drawn[: len(kinds)].ravel()}
        skills |= {"type": [f"k{k}" for k in kinds for _ in range(6)]} if len(kinds) > 1 else {}
    draw = labelers.removeprefix("draw ") if skills is None else None
    done = crowdopt.learn(None, list(LEARNERS), skills=skills, draw=draw, horizon=300, trials=3, cost=0.02)
    return {row["policy"]: row for row in done.summary}


def aggregate(labels: str, method: str) -> Row:
    """On a recorded set, with gold of its known truth where the method weighs votes."""
    folder = Path(os.environ["CROWDOPT_DATA"]) / labels
    gold = _gold(folder, method) if method.startswith("wmv") else None
    done = crowdopt.aggregate(folder / "labels.csv", method, gold=gold, truth=folder / "truth.csv", trust_gold=True)
    chosen = done.choice.method if done.choice is not None else method
    return {"chosen": chosen, "right": done.right, "claimed": done.claimed, "unsure": done.unsure}


def _gold(folder: Path, method: str) -> Row:
    read = {
        name: np.genfromtxt(folder / f"{name}.csv", str, delimiter=",", skip_header=1) for name in ("labels", "truth")
    }
    truth = dict(read["truth"][:, :2].tolist())
    known = [(worker, truth[task], label) for task, worker, label in read["labels"][:, :3].tolist() if task in truth]
    if method == "wmv-confusion":
        return dict(zip(("worker", "true", "answered"), map(list, zip(*known, strict=True)), strict=True))
    workers = sorted({worker for worker, *_ in known})
    pairs = [[a == b for one, a, b in known if one == worker] for worker in workers]
    return {"worker": workers, "correct": [sum(pair) for pair in pairs], "asked": [len(pair) for pair in pairs]}


def audit(seed: str, wrong: str, method: str) -> Row:
    """Of 300 answers with claims about right; an escalation looks four times, if it is not finished before."""
    rng, n = np.random.default_rng(int(seed)), 300
    sure = 1 - float(wrong) * np.where(rng.random(n) < 0.7, 0.2, 2.87) * rng.uniform(0.5, 1.5, n)
    right = rng.random(n) < sure
    with TemporaryDirectory() as name:
        answers, folder, checked = (Path(name, one) for one in ("answers.csv", "audit", "checked.csv"))
        rows = [f"t{i:03},a,{p!r}\n" for i, p in enumerate(sure.tolist())]
        answers.write_text("task,label,confidence\n" + "".join(rows), encoding="utf-8")
        how = {"escalate": "expert=20"} if method == "escalate" else {"method": method}
        drawn = crowdopt.audit(answers, folder, target=0.1, seed=int(seed), **how)
        first, done = drawn.checks, drawn
        for _ in range(1 if method != "escalate" else 4):
            tasks = (folder / "check.csv").read_text(encoding="utf-8").split()[1:]
            said = [f"{task[:4]},{'a' if right[int(task[1:4])] else 'b'}\n" for task in tasks]
            checked.write_text("task,label\n" + "".join(said), encoding="utf-8")
            done = crowdopt.audit(answers, folder, checked=checked, escalate=method == "escalate")
            if method == "escalate" and done.escalated.finished:
                break
    if method != "escalate":
        return {"checks": first, "wrong_at_most": done.wrong_at_most}
    return {"checks": first, "wrong_at_most": done.escalated.left, "stand": done.escalated.stand, "cost": done.cost}


def select(pool: str, workers: str, limit: str) -> Row:
    """Whom to hire of a pool, under one kind of limit; the seed is the pool's number."""
    rng, m = np.random.default_rng(int(pool)), int(workers)
    asked = rng.integers(5, 40, m)
    correct, price = rng.binomial(asked, rng.beta(4, 2, m)), rng.integers(1, 9, m) / 2
    classes = int(limit[-1]) if limit.startswith("classes") else 2
    options: Row = {"most": {"most": m // 2}, "money": {"price": price, "money": float(price.sum() / 3)}}.get(limit, {})
    done = crowdopt.select(correct, asked, classes=classes, trust_gold=True, **options)
    return {"hired": len(done.workers), "score": done.score, "proof": done.proof}


def adaptive(panel: str, rounds: str) -> Row:
    """The cheapest policy of a panel of judges; the seed is the panel's number."""
    rng = np.random.default_rng(int(panel))
    judges, tasks = int(rng.integers(3, 6)), int(rng.integers(20, 60))
    skills = rng.uniform(0.65, 0.96, (2, judges)).round(3)
    price = rng.choice([0.2, 0.5, 1.0, 3.0], judges)
    prior = rng.choice([0.5, 0.7], 1)[0]
    made = AssignmentInstance(
        skills, np.arange(tasks) % 2, np.full(judges, tasks), 0.1, cost=price, prior=[prior, 1 - prior]
    )
    plan = crowdopt.solve(made, method=Adaptive(rounds=int(rounds) if rounds else None))
    return {"cost": plan.objective, "bound": plan.bound, "times": plan.times}


TABLES = {
    "plans": plans, "compare": compare, "learn": learn, "aggregate": aggregate, "audit": audit, "select": select,
    "adaptive": adaptive,
}  # fmt: skip
