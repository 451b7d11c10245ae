"""A small campaign for five workers, its rounds, and what each of them is to see."""

from __future__ import annotations

import csv
from pathlib import Path

import crowdopt
from crowdopt.io.bridges.pulled import Pulled
from crowdopt.verbs.continue_plan import answers
from tests.io import lay as lay_campaign
from tests.io import write_table

WORKERS = ("ada", "bo", "chen", "dana", "emre")
TASKS = tuple(f"photo {k}" for k in range(1, 13))
TRUTH = {task: ("cat", "dog")[k % 3 == 0] for k, task in enumerate(TASKS)}


def lay(folder: Path) -> None:
    """Campaign ``first`` with its plan ``plan-1``, and ``show.csv`` with what is shown."""
    settings = 'title = "animals"\nepsilon = 0.2\nrule = "bhattacharyya"\nprior = { cat = 0.5, dog = 0.5 }'
    skills = zip(WORKERS, (0.9, 0.88, 0.86, 0.84, 0.82), strict=True)
    campaign = lay_campaign(folder / "first", settings, TASKS, {name: (6, right) for name, right in skills})
    write_table(folder / "show.csv", "task,text", *(f'{task},"{task}: a cat, or ""a dog""?"' for task in TASKS))
    solve(campaign, folder / "plan-1")


def solve(campaign: Path, plan: Path) -> None:
    """A plan for a campaign."""
    found = crowdopt.solve(campaign, method="exact", output=plan)
    assert found.found and found.labels > 0


def queues(plan: Path) -> dict[str, list[str]]:
    """Worker -> tasks of the plan, in the order of the campaign."""
    with (plan / "assignment.csv").open() as file:
        rows = sorted((TASKS.index(row["task"]), row["worker"]) for row in csv.DictReader(file))
    return {name: [TASKS[k] for k, worker in rows if worker == name] for _, name in rows}


def label_of(task: str, worker: str) -> str:
    """What a worker says: mostly the truth, and not all the same, so that a second round is needed."""
    wrong = (TASKS.index(task) + 2 * WORKERS.index(worker)) % 4 == 0
    return {"cat": "dog", "dog": "cat"}[TRUTH[task]] if wrong else TRUTH[task]


def second_round(folder: Path, back: Path) -> None:
    """Answers, the campaign that goes on, without the pairs that their worker skipped, and its plan ``plan-2``.

    Every worker takes a few tasks more than they had left.
    """
    given = {"campaign": folder / "first", "skipped": back / "skipped.csv", "output": folder / "answers"}
    answers(back / "labels.csv", folder / "plan-1", **given)
    workers = folder / "answers" / "campaign" / "workers.csv"
    write_table(workers, "worker,capacity", *(f"{name},6" for name in WORKERS))
    solve(folder / "answers" / "campaign", folder / "plan-2")


def given(pulled: Pulled) -> dict[tuple[str, str], str]:
    """Pair -> label."""
    return {(row.task, row.worker): row.label for row in pulled.labels}
