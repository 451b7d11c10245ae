"""Instances and plans in Python, written as the folders that a verb reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from crowdopt.api.binding import InstanceLike
from crowdopt.api.write_plan import write_plan
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import write_campaign

PlanLike: TypeAlias = Plan | AdaptivePlan | str | Path  # a plan, or its folder


@contextmanager
def on_disk(campaign: InstanceLike, plan: PlanLike, tables: bool = False) -> Iterator[tuple[Path, Path]]:
    """Campaign and plan as folders, temporary ones for objects; tables: write tables, no archive."""
    with TemporaryDirectory() as spare:
        yield _campaign(campaign, Path(spare), tables), _plan(plan, Path(spare))


def _campaign(campaign: InstanceLike, spare: Path, tables: bool) -> Path:
    if not isinstance(campaign, AssignmentInstance):
        return Path(campaign)
    if len(campaign.collected):
        raise InputError("an instance does not hold what the labels already in say; give the campaign's folder")
    place = spare / ("campaign" if tables else "campaign.npz")
    write_campaign(campaign, place)
    return place


def _plan(plan: PlanLike, spare: Path) -> Path:
    if not isinstance(plan, Plan | AdaptivePlan):
        return Path(plan)
    if plan.pairs is None:
        raise InputError("there is no plan to go by; crowdopt.explain says why")
    write_plan(plan, spare / "plan")
    return spare / "plan"
