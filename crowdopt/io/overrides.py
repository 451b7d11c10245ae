"""How an instance differs from the campaign it was read from: compared and recorded here, and here put in force again.

A plan folder says so in plan.json, under ``in_place_of_campaign``, so that whoever verifies it, explains it or goes on
from it does so with the settings it was made for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance, Origin
from crowdopt.errors import InputError
from crowdopt.io.folder import PLAN

RECORD, BEYOND = "in_place_of_campaign", "beyond_campaign"  # entries of plan.json
BEYOND_RECORD = {  # field -> what differs; a plan only names these, because it cannot hold them
    "accuracy": "skills",
    "task_type": "tasks or their types",
    "classes": "number of classes",
    "prior": "prior",
    "observed": "use of the labels already in",
    "collected": "labels already in",
    "demand": "demand",
    "tasks": "tasks",
    "workers": "workers",
    "types": "types",
}


@dataclass(frozen=True)
class _Setting:
    """A setting that a plan records: its field, how it is written, what it may be, and how it is read back."""

    field: str
    write: Callable[[AssignmentInstance], Any]
    allowed: Callable[[Any], bool]
    read: Callable[[AssignmentInstance, Any], Any]


def _numbers(values: Any) -> Any:
    """One number where all are equal, else a list; of a table with equal rows its first."""
    if values.ndim == 2 and (values == values[0]).all():
        return _numbers(values[0])
    return values.flat[0].item() if (values == values.flat[0]).all() else values.tolist()


def _is_float(value: Any) -> bool:
    return type(value) is float


def _is_list(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(of, value))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _any_of(*checks: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: any(check(value) for check in checks)


def _is_table(value: Any) -> bool:
    return _is_list(_is_list(_is_float))(value) and len({len(row) for row in value}) == 1


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(name) is str for name in value)


def _array(_: AssignmentInstance, value: Any) -> Any:
    return np.asarray(value)


def _read_limits(_: AssignmentInstance, value: Any) -> Any:
    given = value if isinstance(value, list) else [value]
    limits = np.array([UNLIMITED if most is None else most for most in given])
    return limits if isinstance(value, list) else limits[0]


def _written_limits(instance: AssignmentInstance) -> Any:
    limits = [None if most == UNLIMITED else most for most in instance.max_labels.tolist()]
    return limits[0] if len(set(limits)) == 1 else limits


def _counts(field: str) -> _Setting:
    allowed = _any_of(_is_count, _is_list(_is_count))
    return _Setting(field, lambda instance: _numbers(getattr(instance, field)), allowed, _array)


def _pairs(field: str) -> _Setting:
    def write(instance: AssignmentInstance) -> Any:
        return [[instance.task_id(i), instance.worker_id(j)] for i, j in getattr(instance, field).tolist()]

    def read(instance: AssignmentInstance, value: Any) -> Any:
        task = {instance.task_id(i): i for i in range(instance.n_tasks)}
        worker = {instance.worker_id(j): j for j in range(instance.n_workers)}
        strange = next((pair for pair in value if pair[0] not in task or pair[1] not in worker), None)
        if strange is not None:
            raise InputError(f"{PLAN}: {RECORD}: {field} has {strange}, which are no task and worker of the campaign")
        return np.array([(task[i], worker[j]) for i, j in value], np.int64).reshape(-1, 2)

    return _Setting(field, write, lambda value: value == [] or _is_list(_is_pair)(value), read)


SETTINGS = {  # key in plan.json -> setting
    "rule": _Setting("rule", lambda instance: instance.rule, lambda value: type(value) is str, lambda _, value: value),
    "epsilon": _Setting(
        "epsilon", lambda instance: _numbers(instance.epsilon), _any_of(_is_float, _is_list(_is_float)), _array
    ),
    "price": _Setting(
        "cost", lambda instance: _numbers(instance.cost), _any_of(_is_float, _is_list(_is_float), _is_table), _array
    ),
    "budget": _Setting(
        "budget",
        lambda instance: None if instance.budget is None else float(instance.budget),
        lambda value: value is None or _is_float(value),
        lambda _, value: value,
    ),
    "capacity": _counts("capacity"),
    "min_tasks": _counts("min_load"),
    "min_labels": _counts("min_labels"),
    "max_labels": _Setting(
        "max_labels",
        _written_limits,
        _any_of(_is_count, lambda value: value is None, _is_list(lambda one: one is None or _is_count(one))),
        _read_limits,
    ),
    "forbidden": _pairs("forbidden"),
    "fixed": _pairs("fixed"),
}


def overrides(instance: AssignmentInstance) -> dict[str, Any]:
    """The settings in which an instance differs from the campaign it was read from, and those stated in their place.

    Parameters
    ----------
    instance : AssignmentInstance
        One that was read from no campaign differs from none.

    Returns
    -------
    dict
        Plain JSON, for :func:`overridden`. What :func:`beyond` names is not in it.
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
    return list(dict.fromkeys(what for name, what in BEYOND_RECORD.items() if _differ(name, instance, known)))


def _shape(instance: AssignmentInstance) -> Any:
    return instance.n_tasks, instance.n_workers, instance.tasks, instance.workers


def _differ(name: str, one: AssignmentInstance, other: AssignmentInstance) -> bool:
    mine, theirs = getattr(one, name), getattr(other, name)
    if isinstance(mine, np.ndarray):
        return mine is not theirs and not np.array_equal(mine, theirs)
    return bool(mine != theirs)


def overridden(instance: AssignmentInstance, settings: Any) -> AssignmentInstance:
    """The instance with settings in place of its own, which are recorded as stated.

    Parameters
    ----------
    instance : AssignmentInstance
    settings : dict
        As :func:`overrides` gives it, or read from a plan: nothing about it is taken for granted.

    Raises
    ------
    InputError
        If a setting is none that a plan may have, or its value cannot be used.
    """
    if not isinstance(settings, dict) or not all(
        key in SETTINGS and SETTINGS[key].allowed(value) for key, value in settings.items()
    ):
        may = "a rule, an epsilon, a price, a budget, capacity, limits and pairs"
        raise InputError(f"{PLAN}: {RECORD} may hold {may}, not {str(settings)[:200]}")
    changes = {SETTINGS[key].field: SETTINGS[key].read(instance, value) for key, value in settings.items()}
    return replace(instance, **changes, origin=_stated(instance, tuple(settings)))


def stating(instance: AssignmentInstance, *settings: str) -> AssignmentInstance:
    """The instance whose plans record these settings, whatever the campaign says."""
    return replace(instance, origin=_stated(instance, settings))


def _stated(instance: AssignmentInstance, settings: tuple[str, ...]) -> Origin:
    if instance.origin is None:
        return Origin(instance, settings)
    return replace(instance.origin, stated=tuple(dict.fromkeys((*instance.origin.stated, *settings))))


def read_overrides(folder: str | Path) -> dict[str, Any]:
    """The settings of a plan folder that took the place of its campaign's.

    Raises
    ------
    InputError
        If there is no plan.
    """
    try:
        settings = json.loads((Path(folder) / PLAN).read_text(encoding="utf-8")).get(RECORD, {})
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"there is no plan in {folder}: {PLAN} cannot be read ({error})") from None
    return settings if isinstance(settings, dict) else {}
