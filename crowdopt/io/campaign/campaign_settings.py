"""campaign.toml: the settings of a campaign, read and written."""

from __future__ import annotations

from math import fsum
from pathlib import Path
from typing import Any

from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import CLASSES, AssignmentInstance
from crowdopt.crowd.law import NONE, Difficulty
from crowdopt.crowd.skills import ESTIMATORS
from crowdopt.documents import COUNT, FLAG, TEXT, Each, Keys, Value, is_number, number, one_of, quoted, read_toml
from crowdopt.errors import InputError, tell

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


def settings_text(instance: AssignmentInstance, gold_source: str | None, trust_gold: bool = False) -> str:
    """campaign.toml of an instance."""
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
    lines += ['collected = "evidence"'] * (len(instance.collected) > 0 and not instance.observed)
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
