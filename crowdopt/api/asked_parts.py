"""All parts of a campaign as the coordinator asks them: read once, priced in sweeps, planned within their room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from crowdopt.api import part_jobs
from crowdopt.api.parts_at_work import PartsAtWork
from crowdopt.arrays import Ints
from crowdopt.assign.linear.ascent import sizes
from crowdopt.assign.linear.own_tasks import OwnTasks, own_tasks
from crowdopt.assign.linear.sweep import Prices
from crowdopt.assign.parts.asked import PartLook, PartPlan
from crowdopt.assign.parts.coordinator import groups_each
from crowdopt.assign.parts.part_work import PartSweep, Start
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.parts.part_table import COUNTS, FLOATS, array_of, read_part, text_of
from crowdopt.io.parts.parts_plan import ASSIGNMENT


class AskedParts:
    """All parts as the coordinator sees them (crowdopt.assign.parts.coordinator.Parts)."""

    def __init__(self, at_work: PartsAtWork, seed: int) -> None:
        self.at_work, self.seed, self.sweeps = at_work, seed, 0
        self.looks: list[PartLook] = []
        self.work = {"work": str(at_work.work)}
        self.each = groups_each(len(at_work.folder.parts))

    def look(self, counts: Sequence[int]) -> str | None:
        """Read every part once and draw the sample; why there is no plan, where a task cannot have its need."""
        total = sum(counts)
        wanted = sizes(total, len(self.at_work.folder.workers))[-1:] or [1]
        ends = np.cumsum(counts) * min(wanted[0], total) // total
        asked = [
            {**self.work, "place": place, "sample": int(count), "seed": self.seed}
            for place, count in enumerate(np.diff(ends, prepend=0))
        ]
        answers = self.at_work.ask(part_jobs.look, "reading parts", asked)
        for part, answer in zip(self.at_work.folder.parts, answers, strict=True):
            if answer["short"] is not None:
                task, row, have, need = answer["short"]
                return (
                    f"infeasible: {part}, row {row}, task {task}: all workers together bring {have:.4g} of the "
                    f"{need:.4g} units of evidence that it needs; raise its epsilon or drop it"
                )
        self.looks = [
            PartLook(one["tasks"], one["constant"], array_of(one["fixed"], COUNTS), one["width"]) for one in answers
        ]
        self.width = max(one.width for one in self.looks)
        return None

    def sample(self) -> OwnTasks:
        """The tasks of all samples, each with its own accuracies."""
        folder = self.at_work.folder
        place = self.at_work.work / part_jobs.SAMPLE
        there = replace(folder, folder=place, skills=None, types=())
        drawn = [read_part(there, part).instance for part in folder.parts if there.path(part).exists()]
        starts = np.cumsum([0, *(one.n_tasks for one in drawn[:-1])])
        forbidden, fixed = (
            np.concatenate(
                [getattr(one, name) + np.array([start, 0]) for one, start in zip(drawn, starts, strict=True)]
            )
            for name in ("forbidden", "fixed")
        )
        together = AssignmentInstance(
            np.concatenate([one.accuracy for one in drawn]),
            capacity=folder.capacity,
            epsilon=np.concatenate([one.epsilon for one in drawn]),
            demand=np.concatenate([one.demand for one in drawn]),
            rule=drawn[0].rule,
            cost=folder.price,
            forbidden=forbidden,
            fixed=fixed,
        )
        return own_tasks(together)

    def price(self, prices: Prices, nodes: int) -> list[PartSweep]:
        """Bound, loads and costs at some prices."""
        self.sweeps += 1
        asked = {"prices": text_of(prices.worker, FLOATS), "groups": self.each, "nodes": nodes, "width": self.width}
        answers = self.at_work.ask(part_jobs.price, f"sweep {self.sweeps}", [asked] * len(self.looks))
        m = prices.worker.size
        return [
            PartSweep(
                one["value"], one["size"], array_of(one["load"], COUNTS).reshape(-1, m), array_of(one["paid"], FLOATS)
            )
            for one in answers
        ]

    def plan(self, some: Sequence[int], room: Ints, starts: Sequence[Start], nodes: int) -> list[PartPlan]:
        """Plan some parts within their room; whole ones write their labels."""
        shared = {**self.work, "nodes": nodes, "width": self.width, "seed": self.seed}
        asked = [
            {
                **shared,
                "place": place,
                "room": text_of(own, COUNTS),
                "prices": text_of(start.best.worker, FLOATS),
                "visited": [text_of(prices.worker, FLOATS) for prices in start.visited],
                "share": text_of(start.share, FLOATS),
            }
            for place, own, start in zip(some, room, starts, strict=True)
        ]
        answers = self.at_work.ask(part_jobs.plan, "planning", asked, some, self._written)
        return [PartPlan(array_of(one["load"], COUNTS), one["cost"], one["whole"]) for one in answers]

    def _written(self, part: str) -> Path:
        return self.at_work.work / part_jobs.NEW_PLAN / ASSIGNMENT / part
