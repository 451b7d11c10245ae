"""campaign.toml: the settings of a campaign, read and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdopt.crowd.gold.skills import ESTIMATORS
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import CLASSES, AssignmentInstance
from crowdopt.documents import COUNT, FLAG, TEXT, Each, Keys, Value, is_number, number, one_of, read_toml, whole
from crowdopt.errors import InputError
from crowdopt.io.campaign.stated_difficulty import DIFFICULTY, difficulty_text

PRIOR_SUM = 1e-9  # how far a prior's probabilities may be from adding up to 1


def _is_prior(value: Any) -> bool:
    """Whether this names each class with a positive probability, all of them adding up to 1."""
    if not isinstance(value, dict) or not all(is_number(chance) and chance > 0 for chance in value.values()):
        return False
    return 2 <= len(value) <= CLASSES and abs(sum(value.values()) - 1) <= PRIOR_SUM


GROUP = {
    "min_per_task": COUNT,
    "max_per_task": COUNT,
    "min_share": number("a number from 0 to 1", 0, 1),
    "max_share": number("a number from 0 to 1", 0, 1),
    "dependent": FLAG,
}
SETTINGS = Keys(
    optional={
        "epsilon": number("a number between 0 and 0.5"),
        "rule": TEXT,
        "classes": whole(f"a whole number from 2 to {CLASSES}", 2, CLASSES),
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
    """The settings that campaign.toml has; those that it leaves out are left out.

    Raises InputError if it is missing, no TOML, has an unknown key, or a value is none that its key takes.
    """
    if not path.exists():
        raise InputError(f"there is no {path.name} in {path.parent}; it needs at least a line such as epsilon = 0.05")
    settings: dict[str, Any] = read_toml(path, SETTINGS)
    prior = settings.get("prior")
    if prior is not None and settings.get("classes", len(prior)) != len(prior):
        raise InputError(f"{path.name}: prior must be a table of {settings['classes']} classes, not of {len(prior)}")
    return settings


def settings_text(instance: AssignmentInstance, gold_source: str | None, trust_gold: bool = False) -> str:
    """campaign.toml of an instance."""
    lines = [f"title = {_quoted(instance.title)}"] if instance.title else []
    if (instance.epsilon == instance.epsilon[0]).all():
        lines.append(f"epsilon = {float(instance.epsilon[0])!r}")
    lines.append(f"rule = {_quoted(instance.rule)}")
    if instance.classes != 2:
        lines.append(f"classes = {instance.classes}")
    if instance.has_prior or instance.class_names is not None:
        names = instance.class_names or [str(k) for k in range(instance.classes)]
        parts = [f"{_quoted(name)} = {chance!r}" for name, chance in zip(names, instance.prior.tolist(), strict=True)]
        lines.append(f"prior = {{ {', '.join(parts)} }}")
    if instance.difficulty.share:
        lines.append(f"difficulty = {difficulty_text(instance.difficulty)}")
    if instance.budget is not None:
        lines.append(f"budget = {float(instance.budget)!r}")
    if gold_source is not None:
        lines.append(f"gold_source = {_quoted(gold_source)}")
    lines += ["trust_gold = true"] * trust_gold
    return "\n".join([*lines, *group_tables(instance)]) + "\n"


def group_tables(instance: AssignmentInstance) -> list[str]:
    """The lines ``[groups.NAME]`` of an instance, which end a campaign.toml."""
    lines: list[str] = []
    for group in instance.groups:
        lines += ["", f"[groups.{_quoted(group.name)}]", *_group_lines(group)]
    return lines


def _group_lines(group: Group) -> list[str]:
    """The limits of a group that are not the usual ones."""
    usual = Group(group.name, group.members)
    said = {key: getattr(group, key) for key in GROUP if getattr(group, key) != getattr(usual, key)}
    return [f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in said.items()]


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'
