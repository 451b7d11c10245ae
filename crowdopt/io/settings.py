"""campaign.toml: the settings of a campaign, read and written.

Groups and own rows as plain JSON: in plan.json, in place of a campaign's, and in archives.

The settings that a plan can record in place of its campaign's: how each is written in plan.json and read back.

How an instance differs from the campaign it was read from: compared and recorded here, and here put in force again.

A plan folder says so in plan.json, under ``in_place_of_campaign``, so that what verifies it, explains it or goes on
from it does so with the settings it was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.doubt import gold_of
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import CLASSES, FIELDS, UNLIMITED, AssignmentInstance, Field, Origin
from crowdopt.crowd.law import NONE, Difficulty
from crowdopt.crowd.skills import AVERAGED, ESTIMATORS
from crowdopt.documents import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Each,
    Keys,
    Maybe,
    Shape,
    Value,
    is_number,
    misfit,
    number,
    one_of,
    quoted,
    read_toml,
)
from crowdopt.errors import InputError, tell
from crowdopt.io.folders import PLAN

PRIOR_SUM = 1e-9  # how far a prior's probabilities may be from adding up to 1 without a word
MOST_OFF = 0.01  # how far they may be for being rounded


def _is_prior(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and 2 <= len(value) <= CLASSES
        and all(is_number(chance) and 0 < chance < 1 for chance in value.values())
    )


def _are_classes(value: Any) -> bool:
    if isinstance(value, list):
        named = all(isinstance(name, str) and name.strip() == name != "" for name in value)
        return named and 2 <= len(value) <= CLASSES and len(set(value)) == len(value)
    return type(value) is int and 2 <= value <= CLASSES


GROUP = {
    "min_per_task": COUNT,
    "max_per_task": COUNT,
    "min_share": number("a number from 0 to 1", 0, 1),
    "max_share": number("a number from 0 to 1", 0, 1),
    "dependent": FLAG,
}
DIFFICULTY = Keys(
    required={
        "share": number("a share of hard tasks from 0 to 0.99", 0, 0.99),
        "left": number("what is left of skill on hard tasks, from 0 to 1", 0, 1),
    }
)
SETTINGS = Keys(
    optional={
        "epsilon": number("a number between 0 and 0.5"),
        "rule": TEXT,
        "classes": Value(f'a whole number from 2 to {CLASSES}, or names such as ["cat", "dog"]', _are_classes),
        "prior": Value("a table of the classes' probabilities such as { yes = 0.7, no = 0.3 }", _is_prior),
        "collected": one_of("evidence", "observed"),
        "difficulty": DIFFICULTY,
        "budget": number("a number of at least 0"),
        "title": TEXT,
        "skills": one_of(*ESTIMATORS),
        "gold_source": TEXT,
        "trust_gold": FLAG,
        "groups": Each(Keys(optional=GROUP), dict),
    }
)


def read_settings(path: Path) -> dict[str, Any]:
    """The settings that campaign.toml has; those that it leaves out are left out."""
    if not path.exists():
        raise InputError(f"there is no {path.name} in {path.parent}; it needs at least a line such as epsilon = 0.05")
    settings: dict[str, Any] = read_toml(path, SETTINGS)
    if isinstance(settings.get("classes"), list):
        settings["class_names"] = tuple(settings["classes"])
        settings["classes"] = len(settings["class_names"])
    if "prior" in settings:
        settings["prior"] = _stated_prior(path.name, settings)
        settings["class_names"] = tuple(settings["prior"])
    return settings


def _stated_prior(source: str, settings: dict[str, Any]) -> dict[str, float]:
    """The prior in the order of the class names, adding up to 1; rounding is divided out."""
    prior: dict[str, float] = settings["prior"]
    names = settings.get("class_names", tuple(prior))
    if settings.get("classes", len(prior)) != len(prior):
        raise InputError(f"{source}: prior must be a table of {settings['classes']} classes, not of {len(prior)}")
    strange = next((name for name in prior if name not in names), None)
    if strange is not None:
        raise InputError(f"{source}: prior has {strange!r}, which is none of the classes {', '.join(names)}")
    prior = {name: float(prior[name]) for name in names}
    total = fsum(prior.values())
    if abs(total - 1) <= PRIOR_SUM:
        return prior
    if abs(total - 1) > min(MOST_OFF, sum(map(_rounding, prior.values()))) + PRIOR_SUM:
        raise InputError(f"{source}: the prior's probabilities add up to {total:.12g}; they must add up to 1")
    tell(f"{source}: the prior adds up to {total:.12g}, for rounding; each probability is divided by that")
    return {name: chance / total for name, chance in prior.items()}


def _rounding(number: float) -> float:
    return 0.5 * 10.0 ** -len(repr(number).partition(".")[2])


def settings_text(
    instance: AssignmentInstance,
    gold_source: str | None = None,
    trust_gold: bool = False,
    skills: str = AVERAGED,
    collected: str | None = None,
) -> str:
    """campaign.toml of an instance.

    skills: how gold becomes accuracies; collected: how labels that are in count, where it is said for later.
    """
    evidence = len(instance.collected) > 0 and not instance.observed
    collected = collected or ("evidence" if evidence else None)
    lines = [f"title = {quoted(instance.title)}"] if instance.title else []
    if instance.one_target is not None:
        lines.append(f"epsilon = {instance.one_target!r}")
    lines.append(f"rule = {quoted(instance.rule)}")
    if instance.class_names is not None and not instance.has_prior:
        lines.append(f"classes = [{', '.join(map(quoted, instance.class_names))}]")
    elif instance.classes != 2:
        lines.append(f"classes = {instance.classes}")
    if instance.has_prior:
        names = instance.class_names or [str(k) for k in range(instance.classes)]
        parts = [f"{quoted(name)} = {chance!r}" for name, chance in zip(names, instance.prior.tolist(), strict=True)]
        lines.append(f"prior = {{ {', '.join(parts)} }}")
    if instance.difficulty.share:
        lines.append(f"difficulty = {difficulty_text(instance.difficulty)}")
    if instance.budget is not None:
        lines.append(f"budget = {float(instance.budget)!r}")
    if gold_source is not None:
        lines.append(f"gold_source = {quoted(gold_source)}")
    lines += ["trust_gold = true"] * trust_gold
    lines += [f"skills = {quoted(skills)}"] * (skills != AVERAGED)
    lines += [] if collected is None else [f"collected = {quoted(collected)}"]
    return "\n".join([*lines, *group_tables(instance)]) + "\n"


def group_tables(instance: AssignmentInstance) -> list[str]:
    """The lines ``[groups.NAME]`` of an instance, which end a campaign.toml."""
    lines: list[str] = []
    for group in instance.groups:
        lines += ["", f"[groups.{quoted(group.name)}]", *_group_lines(group)]
    return lines


def _group_lines(group: Group) -> list[str]:
    usual = Group(group.name, group.members)
    said = {key: getattr(group, key) for key in GROUP if getattr(group, key) != getattr(usual, key)}
    return [f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in said.items()]


def stated_difficulty(value: dict[str, Any]) -> Difficulty:
    """The difficulty of a table that DIFFICULTY fits."""
    return Difficulty(float(value["share"]), float(value["left"]))


def difficulty_of(settings: dict[str, Any]) -> Difficulty:
    """The difficulty that settings state; none where they do not."""
    return stated_difficulty(settings["difficulty"]) if "difficulty" in settings else NONE


def difficulty_table(difficulty: Difficulty) -> dict[str, float]:
    """Its table."""
    return {"share": difficulty.share, "left": difficulty.left}


def difficulty_text(difficulty: Difficulty) -> str:
    """Its table in TOML, on one line."""
    return f"{{ share = {float(difficulty.share)!r}, left = {float(difficulty.left)!r} }}"


ENTRY = Value(
    "a task, a worker and a number",
    lambda value: (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], str)
        and is_number(value[2])
    ),
)
LIMITS: dict[str, Shape] = {
    "min_per_task": COUNT,
    "max_per_task": Maybe(COUNT),
    "min_share": NUMBER,
    "max_share": NUMBER,
    "dependent": FLAG,
}
GROUPS = Each(
    Keys(
        required={"workers": Each(TEXT)},
        optional=LIMITS,
    ),
    dict,
)
ROWS = Each(Keys(required={"entries": Each(ENTRY)}, optional={"lower": Maybe(NUMBER), "upper": Maybe(NUMBER)}), dict)


def written_groups(instance: AssignmentInstance) -> Any:
    """Groups by name: workers' ids and limits."""
    return {
        group.name: {
            "workers": [instance.worker_id(j) for j in group.members],
            **{key: getattr(group, key) for key in LIMITS},
        }
        for group in instance.groups
    }


def recorded_groups(instance: AssignmentInstance, value: Any) -> list[Group]:
    """The groups that were written, with the instance's workers."""
    worker = instance.worker_places
    found = []
    for name, said in value.items():
        limits = {key: limit for key, limit in said.items() if key != "workers"}
        members = tuple(_known(worker, one, "worker") for one in said["workers"])
        found.append(Group(name, members, **limits))
    return found


def written_rows(instance: AssignmentInstance) -> Any:
    """Own rows by name: entries by ids, and finite sides."""
    rows = instance.own_rows
    if rows is None:
        return {}
    found: dict[str, Any] = {}
    for k, name in enumerate(rows.names):
        sides = {"lower": float(rows.lower[k]), "upper": float(rows.upper[k])}
        found[name] = {"entries": [], **{end: side if np.isfinite(side) else None for end, side in sides.items()}}
    for k, (i, j), value in zip(rows.row.tolist(), rows.pairs.tolist(), rows.coefficient.tolist(), strict=True):
        found[rows.names[k]]["entries"].append([instance.task_id(i), instance.worker_id(j), value])
    return found


def recorded_rows(instance: AssignmentInstance, value: Any) -> OwnRows | None:
    """The rows that were written, with the instance's tasks and workers."""
    if not value:
        return None
    task = instance.task_places
    worker = instance.worker_places
    row, pairs, coefficient = [], [], []
    for k, said in enumerate(value.values()):
        for one, other, amount in said["entries"]:
            row.append(k)
            pairs.append((_known(task, one, "task"), _known(worker, other, "worker")))
            coefficient.append(float(amount))
    sides = [
        np.array([absent if said.get(end) is None else float(said[end]) for said in value.values()])
        for end, absent in (("lower", -np.inf), ("upper", np.inf))
    ]
    flat = np.array(pairs, np.int64).reshape(-1, 2)
    return OwnRows(tuple(value), np.array(row, np.int64), flat, np.array(coefficient), *sides)


def _known(place: dict[str, int], name: str, what: str) -> int:
    if name not in place:
        raise InputError(f"groups or rows in place of the campaign's name the unknown {what} {name[:60]!r}")
    return place[name]


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
RECORDABLE = {  # key in plan.json -> setting
    field.key: RecordedSetting(field.name, *OWN[field.name])
    if field.name in OWN
    else (_pairs if field.of == "pair" else _numbers)(field)
    for field in FIELDS
    if field.key
}
RECORDABLE[SKILLS] = RecordedSetting(  # what they are then is told by the campaign's gold (overrides)
    "accuracy",
    one_of(*ESTIMATORS),
    lambda instance: None if instance.origin is None or instance.origin.gold is None else instance.origin.gold.method,
    lambda instance, _: instance.accuracy,
)
RECORDED = Keys(optional={key: setting.shape for key, setting in RECORDABLE.items()})


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
        return {key: RECORDABLE[key].write(instance) for key in stated_only}
    follow = _following(instance)
    changed = [
        key
        for key, setting in RECORDABLE.items()
        if key not in (*stated, SKILLS) and setting.field not in follow and _differ(setting.field, instance, known)
    ]
    return {key: RECORDABLE[key].write(instance) for key in (*stated, *changed)}


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
    wrong = misfit(settings, RECORDED)
    if wrong is not None:
        raise InputError(wrong)
    changes = {RECORDABLE[key].field: RECORDABLE[key].read(instance, value) for key, value in settings.items()}
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
