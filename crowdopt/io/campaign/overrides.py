"""How an instance differs from the campaign it was read from: compared and recorded here, and here put in force again.

A plan folder says so in plan.json, under ``in_place_of_campaign``, so that what verifies it, explains it or goes on
from it does so with the settings it was made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.crowd.doubt import gold_of
from crowdopt.crowd.instance import FIELDS, AssignmentInstance, Origin
from crowdopt.crowd.law import Difficulty
from crowdopt.documents import misfit
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_settings import difficulty_table
from crowdopt.io.campaign.recorded_settings import RECORD, RECORDED, SETTINGS, SKILLS
from crowdopt.io.tables.folder import PLAN

BEYOND = "beyond_campaign"  # entry of plan.json


def overrides(instance: AssignmentInstance) -> dict[str, Any]:
    """The settings in which an instance differs from the campaign it was read from, and those stated in their place.

    instance: one that was read from no campaign differs from none.
    -> plain JSON, for :func:`overridden`. What :func:`beyond` names is not in it.
    """
    if instance.origin is None:
        return {}
    known, stated = instance.origin.instance, instance.origin.stated
    if _shape(instance) != _shape(known):
        stated_only = [key for key in stated if key in ("rule", "budget")]
        return {key: SETTINGS[key].write(instance) for key in stated_only}
    follow = _following(instance)
    changed = [
        key
        for key, setting in SETTINGS.items()
        if key not in (*stated, SKILLS) and setting.field not in follow and _differ(setting.field, instance, known)
    ]
    return {key: SETTINGS[key].write(instance) for key in (*stated, *changed)}


def beyond(instance: AssignmentInstance) -> list[str]:
    """What else differs from the campaign, in words: a plan can name it, but not hold it."""
    if instance.origin is None:
        return []
    known, follow = instance.origin.instance, _following(instance)
    named = [one for one in FIELDS if one.beyond and one.name not in follow]
    return list(dict.fromkeys(one.beyond for one in named if _differ(one.name, instance, known)))


def _following(instance: AssignmentInstance) -> tuple[str, ...]:
    """Fields that follow from the campaign's gold and what was stated in place of its settings (:func:`_retold`)."""
    gold, stated = gold_of(instance), () if instance.origin is None else instance.origin.stated
    if gold is None:
        return ()
    by_law = gold.is_heeded and {"rule", "difficulty"} & {*stated}
    return ("accuracy", "difficulty", "vote_law") if by_law or SKILLS in stated else ()


def _shape(instance: AssignmentInstance) -> Any:
    return instance.n_tasks, instance.n_workers, instance.tasks, instance.workers


def _differ(name: str, one: AssignmentInstance, other: AssignmentInstance) -> bool:
    mine, theirs = getattr(one, name), getattr(other, name)
    if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
        return mine is not theirs and not np.array_equal(mine, theirs)
    return bool(mine != theirs)


def overridden(instance: AssignmentInstance, settings: Any) -> AssignmentInstance:
    """The instance with settings in place of its own, which are recorded as stated.

    settings: as :func:`overrides` gives it, or read from a plan: nothing about it is taken for granted.
    """
    wrong = misfit(settings, RECORDED, RECORD)
    if wrong is not None:
        raise InputError(f"{PLAN}: {wrong}")
    changes = {SETTINGS[key].field: SETTINGS[key].read(instance, value) for key, value in settings.items()}
    return replace(instance, **(changes | _retold(instance, settings)), origin=_stated(instance, settings))


def _retold(instance: AssignmentInstance, settings: dict[str, Any]) -> dict[str, Any]:
    """Fields as gold tells them, where settings say how it is read, or by which rule a law of votes can be heeded."""
    gold, stated = gold_of(instance), () if instance.origin is None else instance.origin.stated
    if gold is None or gold.tables is not None:
        if SKILLS in settings:
            raise InputError("skills are given here, or by true class: no prior of them can be chosen; leave it out")
        return {}
    if not (SKILLS in settings or (gold.is_heeded and {"rule", "difficulty"} & settings.keys())):
        return {}
    by_tallies = "difficulty" in {*settings, *stated}
    rule = "" if by_tallies else settings.get("rule", instance.rule)
    told = replace(gold, method=settings.get(SKILLS, gold.method)).told(instance.n_types, rule)
    hard = {} if by_tallies else {"difficulty": told.difficulty}
    return {"accuracy": told.accuracy, "vote_law": told.vote_law, "skills_source": told.source, **hard}


def alone(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance of workers who err independently, for methods that heed no law of votes which gold tells."""
    gold = gold_of(instance)
    if gold is None or not gold.is_heeded or not instance.errs_together:
        return instance
    return overridden(instance, {"difficulty": difficulty_table(Difficulty())})


def stating(instance: AssignmentInstance, *settings: str) -> AssignmentInstance:
    """The instance whose plans record these settings, whatever the campaign says."""
    return replace(instance, origin=_stated(instance, dict.fromkeys(settings)))


def _stated(instance: AssignmentInstance, settings: Mapping[str, Any]) -> Origin:
    origin = instance.origin or Origin(instance)
    gold = origin.gold
    if gold is not None and settings.get(SKILLS):
        gold = replace(gold, method=settings[SKILLS])
    return Origin(origin.instance, tuple(dict.fromkeys((*origin.stated, *settings))), gold)
