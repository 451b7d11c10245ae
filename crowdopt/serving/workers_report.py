"""What a campaign to which workers come has brought so far: a run of its policy, tables, and the best possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.alike import of_workers
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import CHECK, GOLD, REPAIR, WORK
from crowdopt.crowd.law import clipped
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError
from crowdopt.online.arrivals import KINDS, Run
from crowdopt.online.limits import Least, least
from crowdopt.online.run_score import answers_of, claimed_error
from crowdopt.serving.live_rows import AnswerRow, Seat, WorkerRow

NO_CAPACITY = "no worker has any capacity, so nothing is asked; raise it in workers.csv"


def run_of(course: Any) -> Run:
    """All of it as a run of the policy, workers by number of arrival; those who have not come stand behind."""
    number = {seat.place: seat.number for seat in course.seats if seat.number >= 0}
    rest = iter(j for j in range(course.instance.n_workers) if j not in set(number.values()))
    order = np.array([number[j] if j in number else next(rest) for j in range(course.instance.n_workers)])
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    stream = replace(course.stream, instance=of_workers(course.instance, place))
    repair, task, worker, label = course.work.arrays()
    kind = np.where(repair, REPAIR, WORK)
    price = course.instance.prices(np.column_stack([task, worker]))
    own = {GOLD: (course.gold_labels, course.gold_cost), CHECK: (len(course.looks.seen), course.looks.paid)}
    counts = {name: int(np.count_nonzero(kind == name)) for name in KINDS} | {name: own[name][0] for name in own}
    costs = {name: float(price[kind == name].sum()) for name in KINDS} | {name: own[name][1] for name in own}
    run = Run.of(
        course.policy.answers(course.looks.known),
        stream,
        policy=course.policy.name,
        task=task,
        worker=order[worker],
        label=label,
        labels=counts,
        cost=costs,
        refused=course.refused,
        over_capacity=0,
        seconds=np.zeros(course.instance.n_workers),
        seed=course.settings.seed,
        iterations=getattr(course.policy, "iterations", None),
    )
    if course.collected is None or not course.collected.size:
        return run
    return _with_collected(run, course.collected, course.arrived)


def _with_collected(run: Run, label: Ints, met: int) -> Run:
    """The run with the labels that were in, which count in answers and claims, and were paid; label: their classes.

    Skills are those believed of the first ``met`` arrivals, and of others as stated. A policy's own posterior, by its
    claim and uniform over other classes, is multiplied by their likelihoods: no policy is told of them.
    """
    instance = run.stream.instance  # with its workers by number of arrival
    first = ~np.isin(
        instance.pair_keys(instance.collected), instance.pair_keys(np.column_stack([run.task, run.worker]))
    )
    (task, worker), label = instance.collected[first].T, label[first]  # one that was brought anew is the worker's word
    skills = np.concatenate([run.skills[:, :met], instance.accuracy[:, met:]], axis=1)
    every = np.column_stack([task, worker, label]), np.column_stack([run.task, run.worker, run.label])
    votes = np.concatenate(every).T
    run = replace(run, skills=skills, task=votes[0], worker=votes[1], label=votes[2])
    if run.claims is None or run.decided is None:
        return run
    claim = clipped(run.claims)[:, None]
    own = np.arange(instance.classes) == run.decided[:, None]
    chance = np.where(own, 1 - claim, claim / (instance.classes - 1))
    odds = np.where((run.decided < 0)[:, None], 0.0, np.log(chance))
    np.add.at(odds, (task, label), log_odds(skills[instance.task_type[task], worker], instance.classes))
    error = 1 - np.exp(odds.max(axis=1) - np.logaddexp.reduce(odds, axis=1))
    touched = np.isin(np.arange(instance.n_tasks), task)
    decided = np.where(touched, odds.argmax(axis=1), run.decided)
    return replace(run, decided=decided, claims=np.where(touched, error, run.claims))


def judged(course: Any, run: Run) -> tuple[Ints, Floats | None]:
    """Answers by the policy's own combining and what is claimed of them, each (tasks,); the expert's are right."""
    answer, claim = answers_of(run).copy(), claimed_error(run)
    tasks = np.array(list(course.looks.seen), np.int64)
    answer[tasks] = np.array(list(course.looks.seen.values()), np.int64)
    if claim is not None and tasks.size:
        claim = claim.copy()
        claim[tasks] = 0.0
    return answer, claim


def rows_of_answers(course: Any, run: Run, classes: Sequence[str]) -> list[AnswerRow]:
    """An answer for each task, by the policy's own combining or an expert."""
    instance = run.stream.instance
    answer, claim = judged(course, run)
    count = np.bincount(run.task, minlength=instance.n_tasks)
    return [
        AnswerRow(
            instance.task_id(i),
            classes[answer[i]] if answer[i] >= 0 and (count[i] or i in course.looks.seen) else "",
            None if claim is None else float(claim[i]),
            int(count[i]),
            i in course.looks.seen,
        )
        for i in range(instance.n_tasks)
    ]


def rows_of_workers(course: Any, state: Any) -> list[WorkerRow]:
    """Who came, what they told, and what is believed of their skill."""
    verdict = course.policy.answers()
    skills, ranges = verdict.skills, verdict.ranges
    told, paid = (state.labels.arrays()[name] for name in ("worker", "paid"))
    count, money = (np.bincount(told, weight, len(course.seats)) for weight in (None, paid))
    out = [lease.worker for lease in state.leases.values()]
    return [
        WorkerRow(
            seat.worker,
            int(count[k]),
            float(money[k]),
            out.count(seat.worker),
            _status(seat, seat.worker in state.deadline),
            None if skills is None or _unmet(seat) else skills[:, seat.number].tolist(),
            None if ranges is None or _unmet(seat) else [(float(a), float(b)) for a, b in _ends(ranges, seat)],
        )
        for k, seat in enumerate(course.seats)
    ]


def remarks_of(course: Any) -> list[str]:
    """Why no label can be asked, or labels in do not count, as the campaign is: sentences."""
    instance, said = course.instance, []
    if instance.collected.size and course.collected is None:
        said.append("the labels that are in are not told, only whose they are: answers and claims are without them")
    if instance.collected.size and course.policy.answers().claims is not None:
        said.append(
            f"policy {course.policy.name} does not know the labels that are in: it asks until its own are enough"
        )
    wanted, able = instance.residual_need > COVERAGE, (instance.capacity > 0) | course.policy.over_capacity
    task, worker = instance.barred.T
    cells = np.ix_(np.unique(instance.task_type[wanted]), able)
    if not wanted.any():
        said.append("no task lacks labels, so nothing is asked")
    elif not able.any():
        said.append(NO_CAPACITY)
    elif np.unique(instance.barred[wanted[task] & able[worker]], axis=0).shape[0] == wanted.sum() * able.sum():
        said.append("workers with capacity may label no task that lacks labels: nothing is asked; see forbidden.csv")
    elif instance.cost[cells].min() > course.limits.money:
        said.append(f"the money, {course.limits.money:g}, pays for no label, so nothing is asked")
    elif course.policy.shows_skill and not (instance.evidence[cells] > 0).any():
        said.append("no worker's skill is better than a guess, so their labels tell nothing")
    return said


def progress_of(course: Any, run: Run) -> dict[str, Any]:
    """Tasks, and how many are not as sure as they are to be; the money there is."""
    wanted, (_, claim) = course.instance.need > COVERAGE, judged(course, run)
    unsure = None if claim is None else int((claim > course.instance.epsilon + COVERAGE)[wanted].sum())
    mean = None if claim is None or not wanted.any() else float(claim[wanted].mean())
    money = None if np.isinf(course.limits.money) else float(course.limits.money)
    own = {"tasks": int(wanted.sum()), "unsure": unsure, "claimed_error": mean, "money": money}
    return own | {"reserved": max(0.0, course.limits.spent), "notes": [*remarks_of(course), *run.notes]}


def possible_of(course: Any) -> Callable[[], Least]:
    """What no policy can beat with those who came, were their skills as believed; limits of groups aside."""
    skills, met = (
        course.policy.answers().skills,
        [seat for seat in course.seats if seat.number >= 0 and not seat.preliminary],
    )
    if skills is None or not met:
        raise InputError("a bound on policies needs skills, and none are estimated yet; ask workers first")
    crowd = of_workers(course.instance, np.array([seat.place for seat in met], np.int64))
    accuracy = skills[:, [seat.number for seat in met]]
    none = np.zeros((0, 2), np.int64)
    crowd = replace(crowd, accuracy=accuracy, confusion=None, groups=(), collected=none, forbidden=none)
    return partial(least, crowd, course.solve)


def _unmet(seat: Seat) -> bool:
    return seat.number < 0 or seat.preliminary


def _ends(ranges: tuple[Floats, Floats], seat: Seat) -> Iterable[tuple[float, float]]:
    return zip(ranges[0][:, seat.number], ranges[1][:, seat.number], strict=True)


def _status(seat: Seat, here: bool) -> str:
    if seat.removed:
        return "removed"
    return "done" if seat.over else "here" if here else "away"
