"""All parts of a campaign as the coordinator asks them: read once, priced, planned within their room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from crowdopt.api import part_jobs
from crowdopt.api.parts_at_work import PartsAtWork
from crowdopt.arrays import Floats, Ints
from crowdopt.assign.parts import SAMPLE, PartLook, PartPlan, PartSweep
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.parts.part_table import COUNTS, FLOATS, array_of, read_part, text_of
from crowdopt.io.parts.parts_plan import ASSIGNMENT


class AskedParts:
    """All parts as the coordinator sees them (crowdopt.assign.parts.Parts)."""

    def __init__(self, at_work: PartsAtWork, seed: int) -> None:
        self.at_work, self.seed = at_work, seed
        self.looks: list[PartLook] = []
        self.work = {"work": str(at_work.work)}

    def look(self, counts: Sequence[int]) -> str | None:
        """Read every part once and draw the sample; why there is no plan, where a task cannot have its need."""
        total = sum(counts)
        ends = np.cumsum(counts) * min(SAMPLE, total) // total
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
        self.looks = [PartLook(one["tasks"], one["constant"], array_of(one["fixed"], COUNTS)) for one in answers]
        return None

    def sample(self) -> tuple[AssignmentInstance, Ints]:
        """The tasks of all samples, each with its own accuracies, and the part of each."""
        folder = self.at_work.folder
        there = replace(folder, folder=self.at_work.work / part_jobs.SAMPLE, skills=None, types=())
        named = [place for place, part in enumerate(folder.parts) if there.path(part).exists()]
        drawn = [read_part(there, folder.parts[place]).instance for place in named]
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
        return together, np.repeat(named, [one.n_tasks for one in drawn])

    def price(self, prices: Floats) -> list[PartSweep]:
        """Bounds at some prices."""
        asked = [{"prices": text_of(prices, FLOATS)}] * len(self.looks)
        answers = self.at_work.ask(part_jobs.price, "pricing parts", asked)
        return [PartSweep(one["value"], one["size"]) for one in answers]

    def plan(self, some: Sequence[int], room: Ints) -> list[PartPlan]:
        """Plan some parts within their room; whole ones write their labels."""
        asked = [
            {**self.work, "seed": self.seed, "place": place, "room": text_of(own, COUNTS)}
            for place, own in zip(some, room, strict=True)
        ]
        answers = self.at_work.ask(part_jobs.plan, "planning", asked, some, self._written)
        return [PartPlan(array_of(one["load"], COUNTS), one["cost"], one["whole"]) for one in answers]

    def _written(self, part: str) -> Path:
        return self.at_work.work / part_jobs.NEW_PLAN / ASSIGNMENT / part
