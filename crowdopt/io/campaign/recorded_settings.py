"""The settings that a plan can record in place of its campaign's: how each is written in plan.json and read back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.documents import Each, Keys, Value, is_number
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_settings import DIFFICULTY, difficulty_table, stated_difficulty
from crowdopt.io.campaign.joint_record import GROUPS, ROWS, recorded_groups, recorded_rows, written_groups, written_rows
from crowdopt.io.tables.folder import PLAN

RECORD = "in_place_of_campaign"  # entry of plan.json


@dataclass(frozen=True)
class RecordedSetting:
    """A setting of an instance as a plan records it."""

    field: str  # of the instance
    shape: Value | Each | Keys  # what plan.json may say
    write: Callable[[AssignmentInstance], Any]  # ``write(instance)``: plain JSON
    read: Callable[[AssignmentInstance, Any], Any]  # ``read(instance, value)``: what the field then is


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_limit(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(name) is str for name in value)


def _or_list(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: fits(value) or (isinstance(value, list) and bool(value) and all(map(fits, value)))


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_number, value))


def _is_price(value: Any) -> bool:
    if isinstance(value, list) and value and all(map(_is_row, value)):
        return len({len(row) for row in value}) == 1
    return is_number(value) or _is_row(value)


def _plain(values: Any) -> Any:
    """One number where all are equal, else a list; of a table with equal rows its first."""
    if values.ndim == 2 and (values == values[0]).all():
        return _plain(values[0])
    return values.flat[0].item() if (values == values.flat[0]).all() else values.tolist()


def _numbers(field: str, wanted: str, fits: Callable[[Any], bool]) -> RecordedSetting:
    return RecordedSetting(
        field,
        Value(wanted, fits),
        lambda instance: _plain(getattr(instance, field)),
        lambda _, value: np.asarray(value, dtype=np.float64),
    )


def _counts(field: str) -> RecordedSetting:
    return RecordedSetting(
        field,
        Value("a whole number of at least 0, or a list of them", _or_list(_is_count)),
        lambda instance: _plain(getattr(instance, field)),
        lambda _, value: np.asarray(value, dtype=np.int64),
    )


def _written_limits(instance: AssignmentInstance) -> Any:
    limits = [None if most == UNLIMITED else most for most in instance.max_labels.tolist()]
    return limits[0] if len(set(limits)) == 1 else limits


def _read_limits(_: AssignmentInstance, value: Any) -> Any:
    given = value if isinstance(value, list) else [value]
    limits = np.array([UNLIMITED if most is None else most for most in given], dtype=np.int64)
    return limits if isinstance(value, list) else limits[0]


def _pairs(field: str) -> RecordedSetting:
    def write(instance: AssignmentInstance) -> Any:
        return [[instance.task_id(i), instance.worker_id(j)] for i, j in getattr(instance, field).tolist()]

    def read(instance: AssignmentInstance, value: Any) -> Any:
        task = instance.task_places
        worker = instance.worker_places
        strange = next((pair for pair in value if pair[0] not in task or pair[1] not in worker), None)
        if strange is not None:
            raise InputError(f"{PLAN}: {RECORD}.{field}: the campaign has no task and worker {str(strange)[:80]}")
        return np.array([(task[i], worker[j]) for i, j in value], np.int64).reshape(-1, 2)

    fits = _or_list(_is_pair)
    return RecordedSetting(
        field, Value("pairs of task and worker", lambda value: value == [] or fits(value)), write, read
    )


SETTINGS = {  # key in plan.json -> setting
    "rule": RecordedSetting(
        "rule",
        Value("text in quotes", lambda value: isinstance(value, str)),
        lambda instance: instance.rule,
        lambda _, value: value,
    ),
    "difficulty": RecordedSetting(
        "difficulty",
        DIFFICULTY,
        lambda instance: difficulty_table(instance.difficulty),
        lambda _, value: stated_difficulty(value),
    ),
    "epsilon": _numbers("epsilon", "a number between 0 and 0.5, or a list of them", _or_list(is_number)),
    "price": _numbers("cost", "a number of at least 0, or a list or a table of them", _is_price),
    "budget": RecordedSetting(
        "budget",
        Value("a number of at least 0, or null", lambda value: value is None or is_number(value)),
        lambda instance: None if instance.budget is None else float(instance.budget),
        lambda _, value: value,
    ),
    "capacity": _counts("capacity"),
    "min_tasks": _counts("min_load"),
    "min_labels": _counts("min_labels"),
    "max_labels": RecordedSetting(
        "max_labels",
        Value("a whole number of at least 0 or null, or a list of them", _or_list(_is_limit)),
        _written_limits,
        _read_limits,
    ),
    "groups": RecordedSetting("groups", GROUPS, written_groups, recorded_groups),
    "rows": RecordedSetting("own_rows", ROWS, written_rows, recorded_rows),
    "forbidden": _pairs("forbidden"),
    "fixed": _pairs("fixed"),
}
RECORDED = Keys(optional={key: setting.shape for key, setting in SETTINGS.items()})
