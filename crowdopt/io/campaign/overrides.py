"""How an instance differs from the campaign it was read from: compared and recorded here, and here put in force again.

A plan folder says so in plan.json, under ``in_place_of_campaign``, so that what verifies it, explains it or goes on
from it does so with the settings it was made for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.crowd.instance import FIELDS, AssignmentInstance, Origin
from crowdopt.documents import misfit
from crowdopt.errors import InputError
from crowdopt.io.campaign.recorded_settings import RECORD, RECORDED, SETTINGS
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
    changed = [
        key for key, setting in SETTINGS.items() if key not in stated and _differ(setting.field, instance, known)
    ]
    return {key: SETTINGS[key].write(instance) for key in (*stated, *changed)}


def beyond(instance: AssignmentInstance) -> list[str]:
    """What else differs from the campaign, in words: a plan can name it, but not hold it."""
    if instance.origin is None:
        return []
    known = instance.origin.instance
    named = [one for one in FIELDS if one.beyond]
    return list(dict.fromkeys(one.beyond for one in named if _differ(one.name, instance, known)))


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
    return replace(instance, **changes, origin=_stated(instance, tuple(settings)))


def stating(instance: AssignmentInstance, *settings: str) -> AssignmentInstance:
    """The instance whose plans record these settings, whatever the campaign says."""
    return replace(instance, origin=_stated(instance, settings))


def _stated(instance: AssignmentInstance, settings: tuple[str, ...]) -> Origin:
    if instance.origin is None:
        return Origin(instance, settings)
    return replace(instance.origin, stated=tuple(dict.fromkeys((*instance.origin.stated, *settings))))
