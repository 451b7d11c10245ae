"""Campaigns in parts, drawn and solved: prices travel, tasks stay, each part writes its own labels.

Each question to a part is a row of ``crowdopt.jobs``, here or on a cluster, whose answer is a file as soon as it is
known. Whoever starts again asks the same questions and finds what was answered: that is how a run resumes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import fsum, isfinite
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any

import numpy as np
from psutil import Process

from crowdopt import jobs
from crowdopt.arrays import Floats, Ints
from crowdopt.assign.parts import APART, ENDLESS, SAMPLE, PartsAnswer, TimeIsUp, planned, shortest, solve_parts, swept
from crowdopt.assign.problem import Problem, problem_of
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Progress, relative_gap
from crowdopt.crowd.alike import of_tasks, own_accuracies
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import item_recipe, recipe
from crowdopt.documents import finite
from crowdopt.errors import InputError
from crowdopt.files import draft, write_text
from crowdopt.io.folders import CAMPAIGN, PLAN, check_target, name_folder, new_folder
from crowdopt.io.parts import (
    ASSIGNMENT,
    PARTS,
    Part,
    PartsFolder,
    arrow,
    count_tasks,
    known_folder,
    read_part,
    read_parts_folder,
    write_numbers,
    write_pairs,
    write_part,
    write_shared,
)
from crowdopt.memory import machine_memory
from crowdopt.notebooks import InNotebooks, number
from crowdopt.verbs.binding import SOLVERS, AnyPath, options_of

ITEMS = re.compile(r"I([1-9]\d{0,2}):([1-9]\d{0,10})x([1-9]\d{0,5})")
LATE, AGAIN = "time is up", "the same command goes on from there"
ROWS, SAMPLES, NEW_PLAN = "rows", "samples", "plan"  # folders in the work folder
TRIES = 4  # times that a part is asked whose process was lost
BYTES = 40  # of memory for a task and worker while a part is worked on, at most
CALM = 0.7  # of a Dask worker's limit: it rests where it holds .8, and is ended at .95
KEPT: dict[tuple[str, str, str], tuple[Part, Problem]] = {}  # in this process


@dataclass(frozen=True, eq=False)
class PartsPlan(InNotebooks):
    """The outcome of solving in parts."""

    status: str  # ``feasible``, ``optimal``, ``infeasible`` or ``undecided``
    why: str  # why there is no plan; empty where there is one
    facts: dict[str, Any]  # as plan.json has them
    run: dict[str, Any]  # as run.json has them

    @property
    def found(self) -> bool:
        """Whether there is a plan."""
        return not self.why


# What a process does with a part, wherever it runs. It never leaves the machine it is read on; answers are few numbers.


def look(folder: str, stamp: str, part: str, place: int, work: str, sample: int, seed: int) -> dict[str, Any]:
    """Read all of the part, and write some of its tasks down as a sample.

    folder, stamp, part, place: the campaign, as it was when the run began, the part's name and number.
    """
    read, problem = _read(folder, stamp, part)
    instance, short = read.instance, shortest(read.instance)
    if sample:
        rng = np.random.default_rng(_seed(seed, place))
        some = np.sort(rng.choice(instance.n_tasks, min(sample, instance.n_tasks), replace=False))
        drawn = own_accuracies(instance, some)
        names = ("accuracy", "epsilon", "forbidden", "fixed")
        with draft(Path(work) / SAMPLES / f"{place}.npz") as file:
            np.savez(file, **{name: getattr(drawn, name) for name in names})
    return {
        "tasks": instance.n_tasks,
        "constant": problem.constant,
        "fixed": np.bincount(instance.fixed[:, 1], minlength=instance.n_workers),
        "short": None if short is None else [str(read.ids[short[0]]), short[0] + 1, *short[1:]],
    }


def price(folder: str, stamp: str, part: str, prices: list[float]) -> list[float]:
    """What the part's tasks cost at least at prices of workers, and the same of absolute values."""
    return list(swept(_read(folder, stamp, part)[1], np.array(prices)))


def plan(folder: str, stamp: str, part: str, place: int, work: str, room: list[int], seed: int) -> list[Any] | None:
    """Plan the part within its room, and write its labels: each worker's, and their cost; None: a task has no set."""
    read, _ = _read(folder, stamp, part)
    pairs = planned(read.instance, np.array(room), SOLVERS, _seed(seed, place))
    if pairs is None:
        return None
    every = np.unique(np.concatenate([pairs, read.instance.fixed]), axis=0)
    write_pairs(Path(work) / NEW_PLAN / ASSIGNMENT, read, every)
    load = np.bincount(pairs[:, 1], minlength=read.instance.n_workers)
    return [load, float(read.instance.prices(pairs).sum())]


def _seed(seed: int, place: int) -> int:
    """What a part draws from a seed is independent of what others draw."""
    return int(np.random.default_rng([seed, place]).integers(2**31))


def _read(folder: str, stamp: str, part: str) -> tuple[Part, Problem]:
    """The part, kept in memory from then on where there is room for it and for the work beside it."""
    key = folder, stamp, part
    if any(other[:2] != key[:2] for other in list(KEPT)):
        KEPT.clear()
    if key not in KEPT:
        read = read_part(known_folder(folder, stamp), part)
        known = read, problem_of(read.instance, APART)
        pairs = read.instance.n_tasks * read.instance.n_workers
        if Process().memory_info().rss + BYTES * pairs > _allowed():
            return known
        KEPT[key] = known
    return KEPT[key]


def _allowed() -> float:
    """Bytes that this process may take: a Dask worker's, or its fair share of the machine."""
    fair = machine_memory() / 2 / (os.cpu_count() or 1)
    if "distributed" in sys.modules:
        from distributed import get_worker

        with suppress(ValueError, AttributeError):
            return CALM * float(get_worker().memory_manager.memory_limit or 0) or fair
    return fair


@dataclass(eq=False)
class PartsAtWork:
    """All parts as the coordinator asks them (crowdopt.assign.parts.Parts)."""

    folder: PartsFolder
    work: Path  # where answers are kept
    seed: int
    processes: int  # spawned here; 0 works in this process
    cluster: str | None  # a Dask scheduler's address, in place of them
    clock: Clock  # no part is asked any more when it is over
    tasks: Ints  # (parts,)
    fixed: Ints = field(init=False)
    constant: float = field(init=False)
    _executor: Executor | None = None
    _open: ExitStack = field(default_factory=ExitStack)

    @contextmanager
    def open(self, told: Callable[[str], None]) -> Iterator[None]:
        """Start processes, or connect to the cluster, as long as the block runs; Dask's own page is told of."""
        with ExitStack() as self._open:
            self._start()
            page = None if self._executor is None else jobs.page_of(self._executor)
            if page:
                told(f"Dask shows what its workers do at {page}")
            try:
                yield
            finally:
                KEPT.clear()

    def _start(self) -> None:
        self._open.close()
        if self.cluster is not None or self.processes:
            opened = jobs.spawned(self.processes) if self.cluster is None else jobs.cluster(self.cluster)
            self._executor = self._open.enter_context(opened)

    def ask(
        self, function: Callable[..., Any], title: str, each: Sequence[dict[str, Any]], made: Path | None = None
    ) -> list[Any]:
        """What a function answers for some parts, in their order.

        each: arguments beside the campaign, the part's name among them; made: where the file lies that a part's answer
        stands for: if that is gone, the part is asked again.
        """
        shared = {"folder": str(self.folder.folder.absolute()), "stamp": self.folder.stamp}
        rows = [jobs.Job.of(function, **shared, **one) for one in each]
        for row in rows:
            if made is not None and not (made / row.arguments["part"]).exists():
                (self.work / ROWS / f"{row.key}.json").unlink(missing_ok=True)
        for attempt in range(1, TRIES + 1):
            self._refuse_late()
            try:
                done = jobs.run(
                    rows, self.work / ROWS, 0, self._executor, retry=True, title=title, after=self._refuse_late
                )
            except jobs.JobsError:  # a process was lost
                if attempt == TRIES or self.cluster is not None:
                    raise
                self._start()
                continue
            wrong = [row for row in done if row.error is not None]
            if not wrong:
                return [row.result for row in done]
            if attempt == TRIES or any(row.fault != jobs.Fault.LOST for row in wrong):
                break
        raise _refusal(wrong)

    def _refuse_late(self) -> None:
        if self.clock.over:
            raise TimeIsUp

    def look(self) -> str | None:
        """Read every part once and draw the sample; why there is no plan, where a task cannot have its need."""
        total = int(self.tasks.sum())
        drawn = np.diff(np.cumsum(self.tasks) * min(SAMPLE, total) // total, prepend=0)
        places = enumerate(zip(self.folder.parts, drawn.tolist(), strict=True))
        each = [
            {"part": part, "place": place, "work": str(self.work), "sample": count, "seed": self.seed}
            for place, (part, count) in places
        ]
        answers = self.ask(look, "reading parts", each)
        for part, answer in zip(self.folder.parts, answers, strict=True):
            if answer["short"] is not None:
                task, row, have, need = answer["short"]
                return (
                    f"infeasible: {part}, row {row}, task {task}: all workers together bring {have:.4g} of the "
                    f"{need:.4g} units of evidence that it needs; raise its epsilon or drop it"
                )
        self.fixed = np.sum([answer["fixed"] for answer in answers], axis=0)
        self.constant = fsum(answer["constant"] for answer in answers)
        return None

    def sample(self) -> tuple[AssignmentInstance, Ints]:
        """The tasks of all samples, each with its own accuracies, and the part of each."""
        found: dict[str, list[Any]] = {name: [] for name in ("accuracy", "epsilon", "forbidden", "fixed")}
        part_of: list[int] = []
        for place in range(self.tasks.size):
            path = self.work / SAMPLES / f"{place}.npz"
            if path.exists():
                with np.load(path) as stored:
                    for name, list_of in found.items():
                        list_of.append(stored[name] + np.array([len(part_of), 0] if name[0] == "f" else 0))
                part_of += [place] * len(found["accuracy"][-1])
        together: dict[str, Any] = {name: np.concatenate(arrays) for name, arrays in found.items()}
        folder = self.folder
        shared: dict[str, Any] = {"capacity": folder.capacity, "rule": folder.rule, "cost": folder.price}
        return AssignmentInstance(**together, **shared), np.array(part_of)

    def price(self, prices: Floats) -> list[tuple[float, float]]:
        """As crowdopt.assign.parts.Parts."""
        each = [{"part": part, "prices": prices} for part in self.folder.parts]
        return [(value, size) for value, size in self.ask(price, "pricing parts", each)]

    def plan(self, some: Sequence[int], room: Ints) -> list[tuple[Ints, float] | None]:
        """As crowdopt.assign.parts.Parts."""
        shared = {"work": str(self.work), "seed": self.seed}
        each = [
            {**shared, "part": self.folder.parts[place], "place": place, "room": own}
            for place, own in zip(some, room, strict=True)
        ]
        answers = self.ask(plan, "planning", each, self.work / NEW_PLAN / ASSIGNMENT)
        return [None if one is None else (np.array(one[0]), one[1]) for one in answers]


def _refusal(wrong: list[jobs.Row]) -> Exception:
    first = next((row for row in wrong if row.fault != jobs.Fault.LOST), wrong[0])
    if first.refusal is not None:
        return InputError(first.refusal)
    return jobs.JobsError(f"{first.arguments['part']}: {first.error}; start again, finished parts are kept")


def assign_parts(
    campaign: AnyPath,
    *,
    output: AnyPath,
    processes: int = 0,
    cluster: str | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    force: bool = False,
    listener: Listener | None = None,
) -> PartsPlan:
    """Decide who labels what where tasks lie in parts: a bound, and a plan written part by part.

    By a rule whose sums decide: of exact-error and mean-error the linear rule that implies them, and its bound; the
    facts then have the rule stated as ``promise``. Whatever computes it, the files are the same. What is known is kept
    beside the output until the plan is there; the same call goes on from it.

    campaign: a folder in parts (crowdopt.io.parts), or a glob of parts.
    output: folder to write the plan to.
    processes: spawned here; 0 computes in this process.
    cluster: in place of them: a Dask scheduler's address. All machines must see the campaign and the output under the
    same paths.
    time_limit: seconds, after which no part is asked any more: the bound is what is known then, and the same call goes
    on from there.
    seed: of samples and rounding.
    force: whether a plan that is there may be replaced.
    listener: hears what goes on, the seconds so far, the bound and the cost.
    """
    clock = Clock(ENDLESS if time_limit is None else options_of(time_limit, seed).time_limit)
    started, begun = datetime.now(UTC).isoformat(timespec="seconds"), perf_counter()
    goal = Path(output).resolve()
    check_target(goal, PLAN, force)
    folder = read_parts_folder(campaign)
    tasks = np.array([count_tasks(folder, part) for part in folder.parts])
    work = goal.with_name(f".{goal.name}.work")
    _begin(work, f"{folder.stamp} {seed}\n")
    parts = PartsAtWork(folder, work, seed, processes, cluster, clock, tasks)

    def hear(what: str, bound: float | None, cost: float | None) -> None:
        if listener is not None:
            listener(Progress(perf_counter() - begun, cost, bound, what))

    def run() -> dict[str, Any]:
        seconds = perf_counter() - begun
        return {"started": started, "seconds": seconds, "processes": processes, "cluster": cluster}

    answer = None
    with parts.open(lambda text: hear(text, None, None)):
        try:
            short = parts.look()
            status, why = ("", "") if short is None else ("infeasible", short + _by_rule(folder))
            if short is None:
                answer = solve_parts(parts, parts.sample(), SOLVERS, seed, hear)
                status, why = _why_none(answer, folder)
        except TimeIsUp:
            status, why = "undecided", f"{LATE} while parts were read; {AGAIN}"
    if why:
        is_late = status == "undecided" and (answer is None or answer.is_late)
        if not is_late:  # what is known is kept only where the clock ended it
            rmtree(work, ignore_errors=True)
        known = {} if answer is None or not isfinite(answer.bound) else {"bound": answer.bound}
        return PartsPlan(status, why, {"status": status, **known}, run())
    assert answer is not None and answer.load is not None
    facts, new = _facts(folder, answer, int(tasks.sum()), seed), work / NEW_PLAN
    write_numbers(new, folder, answer.load, answer.prices, facts, run())
    name_folder(new, goal, PLAN, force)
    rmtree(work, ignore_errors=True)
    return PartsPlan(facts["status"], "", facts, run())


def _begin(work: Path, whose: str) -> None:
    """Keep a work folder that is of this very run, and begin anew where it is another one's."""
    name = work / "whose"
    if work.exists() and not (name.exists() and name.read_text(encoding="utf-8") == whose):
        rmtree(work)
    write_text(name, whose)


def _why_none(answer: PartsAnswer, folder: PartsFolder) -> tuple[str, str]:
    """Why there is no plan, if there is none."""
    if answer.load is not None:
        return "", ""
    if answer.bound == np.inf:
        why = "infeasible: all workers together have too little capacity for these tasks"
        return "infeasible", why + _by_rule(folder)
    known = f"none costs less than {number(answer.bound)}" if isfinite(answer.bound) else "nothing is known yet"
    known += _by_rule(folder)
    late = f"{LATE} before every part had its plan; {known}; {AGAIN}"
    return "undecided", late if answer.is_late else f"no plan was found; {known}"


def _by_rule(folder: PartsFolder) -> str:
    asks_less = f"; rule {folder.promise} asks for less" if folder.promise else ""
    return f" (by rule {folder.rule}{asks_less})"


def _facts(folder: PartsFolder, answer: PartsAnswer, tasks: int, seed: int) -> dict[str, Any]:
    assert answer.cost is not None and answer.load is not None
    gap = max(0.0, relative_gap(answer.cost, answer.bound))
    return {
        "form": "parts",
        "title": folder.settings.get("title", ""),
        "status": "optimal" if gap == 0 else "feasible",
        "proven": gap == 0,
        "proof": "certificate",
        "objective": answer.cost,
        "bound": answer.bound,
        "gap": finite(gap),
        "labels": int(answer.load.sum()),
        "tasks": tasks,
        "workers": len(folder.workers),
        "parts": len(folder.parts),
        "rule": folder.rule,
        **({"promise": folder.promise} if folder.promise else {}),
        "method": "exact",
        "seed": seed,
    }


def generate_parts(
    name: str,
    seed: int = 0,
    *,
    parts: int,
    output: AnyPath,
    priced: bool = False,
    epsilon: float | None = None,
    processes: int = 0,
    force: bool = False,
) -> PartsFolder:
    """Draw a campaign in parts: I<features> part by part, each by itself and of 32 bits; other recipes taken apart.

    name: such as ``I8:2000000x50``; parts: how many files; at most one for each task; output: folder to write; priced:
    as for :func:`crowdopt.verbs.generate.generate`; items always have prices; epsilon: error target, in place of the
    recipe's; processes: that draw items; 0 draws them in this one, and the files do not depend on it; force: whether
    what is there may be replaced.
    """
    items = ITEMS.fullmatch(name)
    if items is None:
        instance = recipe(name, seed, priced=priced)
        return take_apart(_aimed(instance, epsilon), parts=parts, output=output, force=force)
    features, n, m = (int(number) for number in items.groups())
    bounds = _bounds(n, parts)
    with new_folder(Path(output), CAMPAIGN, force) as new:
        first = _aimed(item_recipe(name, features, n, m, seed, 0, 1), epsilon)
        write_shared(first, new)
        one = {"name": name, "seed": seed, "folder": str(new / PARTS), "bounds": bounds, "stated": first.epsilon[0]}
        drawn = [jobs.Job.of(draw_part, **one, place=place) for place in range(parts)]
        failed = [row.error for row in jobs.run(drawn, processes=processes, title="parts") if row.error is not None]
        if failed:
            raise InputError(f"the parts cannot be drawn: {failed[0]}")
    return read_parts_folder(output)


def draw_part(name: str, seed: int, folder: str, bounds: list[int], place: int, stated: float) -> None:
    """Draw the items of one part of an items recipe and write them."""
    items = ITEMS.fullmatch(name)
    assert items is not None
    features, n, m = (int(number) for number in items.groups())
    begin, end = bounds[place : place + 2]
    instance = item_recipe(name, features, n, m, seed, place, end - begin).with_epsilon(stated)
    ids = arrow()[0].array(np.arange(begin, end)).cast("string")
    write_part(Path(folder) / part_name(place, len(bounds) - 1), instance, ids, stated, single=True)


def take_apart(instance: AssignmentInstance, *, parts: int, output: AnyPath, force: bool = False) -> PartsFolder:
    """Write an instance with accuracies per task, or types, as a campaign in parts, tasks in their order."""
    _refuse_more(instance)
    typed = bool(np.unique(instance.task_type).size < instance.n_tasks)
    types = [instance.type_id(kind) for kind in range(instance.n_types)] if typed else []
    bounds, stated = _bounds(instance.n_tasks, parts), instance.one_target
    with new_folder(Path(output), CAMPAIGN, force) as new:
        write_shared(instance, new, types)
        for place in range(parts):
            some = np.arange(bounds[place], bounds[place + 1])
            ids = [instance.task_id(i) for i in some.tolist()]
            tasks = of_tasks(instance, some) if typed else own_accuracies(instance, some)
            write_part(new / PARTS / part_name(place, parts), tasks, ids, stated, typed=typed)
    return read_parts_folder(output)


def _refuse_more(instance: AssignmentInstance) -> None:
    """A part has accuracies or types, targets, forbidden and fixed pairs, and nothing else."""
    bare = AssignmentInstance(
        instance.accuracy, instance.task_type, instance.capacity, instance.epsilon, rule=instance.rule
    )
    for name in ("min_labels", "max_labels", "min_load", "collected", "prior", "demand"):
        if not np.array_equal(getattr(instance, name), getattr(bare, name)):
            raise InputError(f"a campaign in parts has no {name}; leave it out, or solve it as one campaign")
    if instance.classes != 2 or instance.groups or instance.own_rows is not None or instance.budget is not None:
        raise InputError("a campaign in parts has two classes, no groups, own rows or budget; leave them out")
    if (instance.cost != instance.cost[0]).any():
        raise InputError("a campaign in parts has one price for each worker; leave prices per type out")


def part_name(place: int, parts: int) -> str:
    """The name of a part's file: names sort as places do."""
    return f"part-{place:0{len(str(max(1, parts - 1)))}d}.parquet"


def _aimed(instance: AssignmentInstance, epsilon: float | None) -> AssignmentInstance:
    return instance if epsilon is None else instance.with_epsilon(epsilon)


def _bounds(n: int, parts: int) -> list[int]:
    if not 1 <= parts <= n:
        raise InputError(f"{n} tasks cannot be taken apart into {parts} parts; ask for 1 to {n}")
    return [n * place // parts for place in range(parts + 1)]
