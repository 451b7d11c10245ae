"""The settings that a plan can record in place of its campaign's: how each is written in plan.json and read back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.crowd.instance import FIELDS, UNLIMITED, AssignmentInstance, Field
from crowdopt.crowd.skills import ESTIMATORS
from crowdopt.documents import TEXT, Keys, Maybe, Shape, Value, is_number, number, one_of
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_settings import DIFFICULTY, difficulty_table, stated_difficulty
from crowdopt.io.campaign.joint_record import GROUPS, ROWS, recorded_groups, recorded_rows, written_groups, written_rows
from crowdopt.io.tables.folder import PLAN

RECORD = "in_place_of_campaign"  # entry of plan.json
SKILLS = "skills"  # its key for how gold becomes accuracies


@dataclass(frozen=True)
class RecordedSetting:
    """A setting of an instance as a plan records it."""

    field: str  # of the instance
    shape: Shape  # what plan.json may say
    write: Callable[[AssignmentInstance], Any]  # ``write(instance)``: plain JSON
    read: Callable[[AssignmentInstance, Any], Any]  # ``read(instance, value)``: what the field then is


def _numbers(field: Field) -> RecordedSetting:
    """One number where all are equal, else a list, of cells a table; of a table with equal rows its first."""

    def fits(value: Any, depth: int) -> bool:
        if isinstance(value, list):
            lengths = {len(one) if isinstance(one, list) else -1 for one in value}
            return depth > 0 and len(lengths) == 1 and all(fits(one, depth - 1) for one in value)
        whole = field.kind is float or (type(value) is int and 0 <= value < 2**53)
        return (value is None and field.default == UNLIMITED) or (is_number(value) and whole)

    def write(instance: AssignmentInstance) -> Any:
        values = getattr(instance, field.name)
        values = values[0] if values.ndim == 2 and (values == values[0]).all() else values
        listed: Any = np.where(values == UNLIMITED, None, values.astype(object))
        return listed.flat[0] if (values == values.flat[0]).all() else listed.tolist()

    def read(_: AssignmentInstance, value: Any) -> Any:
        given = np.array(value, object)
        return np.where(np.equal(given, np.array(None)), UNLIMITED, given).astype(
            np.int64 if field.kind is int else np.float64
        )

    number = "a whole number" if field.kind is int else "a number"
    ends = " between 0 and 0.5" if field.high < 1 else " of at least 0"
    null = " or null" if field.default == UNLIMITED else ""
    lists = "a list or a table of them" if field.of == "cell" else "a list of them"
    depth = 2 if field.of == "cell" else 1
    shape = Value(f"{number}{ends}{null}, or {lists}", lambda value: fits(value, depth))
    return RecordedSetting(field.name, shape, write, read)


def _pairs(field: Field) -> RecordedSetting:
    def is_pair(value: Any) -> bool:
        return isinstance(value, list) and len(value) == 2 and all(type(name) is str for name in value)

    def write(instance: AssignmentInstance) -> Any:
        return [[instance.task_id(i), instance.worker_id(j)] for i, j in getattr(instance, field.name).tolist()]

    def read(instance: AssignmentInstance, value: Any) -> Any:
        task, worker = instance.task_places, instance.worker_places
        strange = next((pair for pair in value if pair[0] not in task or pair[1] not in worker), None)
        if strange is not None:
            raise InputError(f"{PLAN}: {RECORD}.{field.name}: the campaign has no task and worker {str(strange)[:80]}")
        return np.array([(task[i], worker[j]) for i, j in value], np.int64).reshape(-1, 2)

    shape = Value("pairs of task and worker", lambda value: isinstance(value, list) and all(map(is_pair, value)))
    return RecordedSetting(field.name, shape, write, read)


OWN: dict[str, tuple[Shape, Callable[..., Any], Callable[..., Any]]] = {  # fields that are neither numbers nor pairs
    "rule": (TEXT, lambda instance: instance.rule, lambda _, value: value),
    "difficulty": (
        DIFFICULTY,
        lambda instance: difficulty_table(instance.difficulty),
        lambda _, value: stated_difficulty(value),
    ),
    "budget": (
        Maybe(number("a number of at least 0, or null", low=0)),
        lambda instance: None if instance.budget is None else float(instance.budget),
        lambda _, value: value,
    ),
    "groups": (GROUPS, written_groups, recorded_groups),
    "own_rows": (ROWS, written_rows, recorded_rows),
}
SETTINGS = {  # key in plan.json -> setting
    field.key: RecordedSetting(field.name, *OWN[field.name])
    if field.name in OWN
    else (_pairs if field.of == "pair" else _numbers)(field)
    for field in FIELDS
    if field.key
}
SETTINGS[SKILLS] = RecordedSetting(  # what they are then is told by the campaign's gold (overrides)
    "accuracy",
    one_of(*ESTIMATORS),
    lambda instance: None if instance.origin is None or instance.origin.gold is None else instance.origin.gold.method,
    lambda instance, _: instance.accuracy,
)
RECORDED = Keys(optional={key: setting.shape for key, setting in SETTINGS.items()})
