"""The verb solve for a campaign in parts: prices travel, tasks stay, each part writes its own labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt.api import part_jobs
from crowdopt.api.asked_parts import AskedParts
from crowdopt.api.binding import SOLVERS, AnyPath, options_of
from crowdopt.api.parts_at_work import PartsAtWork
from crowdopt.assign.parts import ENDLESS, PartsAnswer, TimeIsUp, solve_parts
from crowdopt.core.clock import Clock
from crowdopt.core.solution import relative_gap
from crowdopt.documents import finite
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.parts.part_table import BYTES, count_tasks
from crowdopt.io.parts.parts_folder import PartsFolder, read_parts_folder
from crowdopt.io.parts.parts_plan import write_numbers
from crowdopt.io.tables.folder import PLAN, check_target, name_folder
from crowdopt.notebooks import InNotebooks

Told = Callable[[str, float, float | None, float | None], None]  # what goes on, seconds, bound, cost
LATE, AGAIN = "time is up", "the same command goes on from there"


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


def assign_parts(
    campaign: AnyPath,
    *,
    output: AnyPath,
    processes: int = 0,
    cluster: str | None = None,
    memory: float | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    force: bool = False,
    told: Told | None = None,
) -> PartsPlan:
    """Decide who labels what where tasks lie in parts: a bound, and a plan written part by part.

    By a rule whose sums decide: of exact-error and mean-error the linear rule that implies them, and its bound; the
    facts then have the rule stated as ``promise``.

    Whatever computes it, the files are the same. What is known is kept beside the output until the plan is there; the
    same call goes on from it.

    campaign: a folder in parts (crowdopt.io.parts.parts_folder), or a glob of parts.
    output: folder to write the plan to.
    processes: spawned here; 0 computes in this process.
    cluster: in place of them: a Dask scheduler's address. All machines must see the campaign and the output under the
    same paths.
    memory: megabytes that a process may take; parts that would take more are refused before any work.
    time_limit: seconds, after which no part is asked any more: the bound is what is known then, and the same call goes
    on from there.
    seed: of samples and rounding.
    force: whether a plan that is there may be replaced.
    told: hears what goes on, the seconds so far, the bound and the cost.
    """
    clock = Clock(ENDLESS if time_limit is None else options_of(time_limit, seed).time_limit)
    started, begun = datetime.now(UTC).isoformat(timespec="seconds"), perf_counter()
    goal = Path(output).resolve()
    check_target(goal, PLAN, force)
    folder = read_parts_folder(campaign)
    counts = [count_tasks(folder, part) for part in folder.parts]
    refuse_large(folder, counts, memory)
    work = goal.with_name(f".{goal.name}.work")
    _begin(work, f"{folder.stamp} {seed}\n")
    at_work = PartsAtWork(folder, work, processes, cluster, 1e6 * (memory or 0.0), clock=clock)

    def hear(what: str, bound: float | None, cost: float | None) -> None:
        if told is not None:
            told(what, perf_counter() - begun, bound, cost)

    with at_work.open(lambda text: hear(text, None, None)):
        parts = AskedParts(at_work, seed)
        try:
            short = parts.look(counts)
        except TimeIsUp:
            return _none("undecided", f"{LATE} while parts were read; {AGAIN}", at_work, started, begun, is_late=True)
        if short is not None:
            return _none("infeasible", short + _by_rule(folder), at_work, started, begun)
        answer = solve_parts(parts, parts.looks, parts.sample(), SOLVERS, seed, hear)
        if answer.load is None or answer.cost is None:
            status, why = _why_none(answer, folder)
            is_late = answer.is_late and status == "undecided"
            return _none(status, why, at_work, started, begun, answer, is_late)
    facts = _facts(folder, answer, sum(counts), seed)
    run = _run(at_work, started, begun)
    new = work / part_jobs.NEW_PLAN
    write_numbers(new, folder, answer.load, answer.prices, facts, run)
    name_folder(new, goal, PLAN, force)
    rmtree(work, ignore_errors=True)
    return PartsPlan(facts["status"], "", facts, run)


def _why_none(answer: PartsAnswer, folder: PartsFolder) -> tuple[str, str]:
    if answer.bound == np.inf:
        why = "infeasible: all workers together have too little capacity for these tasks"
        return "infeasible", why + _by_rule(folder)
    known = f"none costs less than {answer.bound:.10g}" if isfinite(answer.bound) else "nothing is known yet"
    known += _by_rule(folder)
    late = f"{LATE} before every part had its plan; {known}; {AGAIN}"
    return "undecided", late if answer.is_late else f"no plan was found; {known}"


def _by_rule(folder: PartsFolder) -> str:
    asks_less = f"; rule {folder.promise} asks for less" if folder.promise else ""
    return f" (by rule {folder.rule}{asks_less})"


def _begin(work: Path, whose: str) -> None:
    """Keep a work folder that is of this very run, and begin anew where it is another one's."""
    name = work / "whose"
    if work.exists() and not (name.exists() and name.read_text(encoding="utf-8") == whose):
        rmtree(work)
    write_text(name, whose)


def refuse_large(folder: PartsFolder, counts: Sequence[int], memory: float | None) -> None:
    """InputError where a part needs more than so many megabytes while it is worked on."""
    if memory is None:
        return
    room, pair = 1e6 * memory - part_jobs.INTERPRETER, BYTES * len(folder.workers)
    if room < pair:
        raise InputError(
            f"a process takes {part_jobs.INTERPRETER / 1e6:g} MB before it reads a part; --memory must allow more"
        )
    worst = int(np.argmax(counts))
    if pair * counts[worst] > room:
        need = (part_jobs.INTERPRETER + pair * counts[worst]) / 1e6
        raise InputError(
            f"{folder.parts[worst]} needs up to {need:.0f} MB and --memory allows {memory:.0f}; "
            f"write the tasks in at least {int(np.ceil(sum(counts) * pair / room))} parts, or allow more"
        )


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


def _run(at_work: PartsAtWork, started: str, begun: float) -> dict[str, Any]:
    return {
        "started": started,
        "seconds": perf_counter() - begun,
        "processes": at_work.processes,
        "cluster": at_work.cluster,
        "bytes_a_part": at_work.most_bytes,
    }


def _none(
    status: str,
    why: str,
    at_work: PartsAtWork,
    started: str,
    begun: float,
    answer: PartsAnswer | None = None,
    is_late: bool = False,
) -> PartsPlan:
    """No plan; what is known is kept only where the clock ended it."""
    if not is_late:
        rmtree(at_work.work, ignore_errors=True)
    facts: dict[str, Any] = {"status": status}
    if answer is not None and isfinite(answer.bound):
        facts["bound"] = answer.bound
    return PartsPlan(status, why, facts, _run(at_work, started, begun))
