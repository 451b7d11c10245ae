"""A small campaign for five workers, its rounds, and what each of them is to see."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from crowdopt import assign, read_campaign, write_plan
from crowdopt.api.answers import answers
from crowdopt.io.bridges.exchange.pulled_folder import Pulled

WORKERS = ("ada", "bo", "chen", "dana", "emre")
TASKS = tuple(f"photo {k}" for k in range(1, 13))
TRUTH = {task: ("cat", "dog")[k % 3 == 0] for k, task in enumerate(TASKS)}


def lay(folder: Path) -> None:
    """Campaign ``first`` with its plan ``plan-1``, and ``show.csv`` with what is shown."""
    first = folder / "first"
    first.mkdir()
    settings = 'title = "animals"\nepsilon = 0.2\nrule = "bhattacharyya"\nprior = { cat = 0.5, dog = 0.5 }\n'
    (first / "campaign.toml").write_text(settings, encoding="utf-8")
    (first / "tasks.csv").write_text("task\n" + "".join(f"{task}\n" for task in TASKS), encoding="utf-8")
    (first / "workers.csv").write_text(
        "worker,capacity\n" + "".join(f"{name},6\n" for name in WORKERS), encoding="utf-8"
    )
    skills = zip(WORKERS, (0.9, 0.88, 0.86, 0.84, 0.82), strict=True)
    (first / "skills.csv").write_text(
        "worker,accuracy\n" + "".join(f"{name},{p}\n" for name, p in skills), encoding="utf-8"
    )
    rows = "".join(f'{task},"{task}: a cat, or ""a dog""?"\n' for task in TASKS)
    (folder / "show.csv").write_text("task,text\n" + rows, encoding="utf-8")
    solve(first, folder / "plan-1")


def solve(campaign: Path, plan: Path) -> None:
    """A plan for a campaign."""
    found = assign(read_campaign(campaign), method="exact")
    assert found.found and found.labels > 0
    write_plan(found, plan)


def queues(plan: Path) -> dict[str, list[str]]:
    """Worker -> tasks of the plan, in the order of the campaign."""
    with (plan / "assignment.csv").open() as file:
        rows = [(row["task"], row["worker"]) for row in csv.DictReader(file)]
    order = {task: k for k, task in enumerate(TASKS)}
    shown = defaultdict(list)
    for task, worker in sorted(rows, key=lambda row: order[row[0]]):
        shown[worker].append(task)
    return dict(shown)


def label_of(task: str, worker: str) -> str:
    """What a worker says: mostly the truth, and not all the same, so that a second round is needed."""
    wrong = (TASKS.index(task) + 2 * WORKERS.index(worker)) % 4 == 0
    return {"cat": "dog", "dog": "cat"}[TRUTH[task]] if wrong else TRUTH[task]


def second_round(folder: Path, back: Path) -> None:
    """Answers, the campaign that goes on, without the pairs that their worker skipped, and its plan ``plan-2``.

    Every worker takes a few tasks more than they had left.
    """
    answers(
        back / "labels.csv",
        folder / "plan-1",
        campaign=folder / "first",
        skipped=back / "skipped.csv",
        output=folder / "answers",
    )
    (folder / "answers" / "campaign" / "workers.csv").write_text(
        "worker,capacity\n" + "".join(f"{name},6\n" for name in WORKERS), encoding="utf-8"
    )
    solve(folder / "answers" / "campaign", folder / "plan-2")


def given(pulled: Pulled) -> dict[tuple[str, str], str]:
    """Pair -> label."""
    return {(row.task, row.worker): row.label for row in pulled.labels}
