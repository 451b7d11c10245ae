"""What policies of every kind share: ``name:option=value:flag``, notes, and state that can be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from crowdopt.errors import InputError

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


class Kept(Protocol):
    """Something that can be stopped between two arrivals and gone on with later."""

    def notes(self) -> list[str]:
        """What a user should know about how it did, or will do: sentences."""
        ...

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything that differs from a freshly started policy."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot, after ``start`` with the same knowledge."""
        ...


def made(text: str, known: Mapping[str, type[Any]]) -> Any:
    """A policy from its name and options; a policy is a dataclass whose fields are its options.

    Raises
    ------
    InputError
        If there is no such policy or option, or a value makes no sense; the sentence lists those there are.
    """
    name, *settings = text.strip().split(":")
    if name not in known:
        raise InputError(f"unknown policy {name!r}; the policies are {', '.join(known)}")
    policy = known[name]
    options = {field.name.replace("_", "-"): field for field in fields(policy) if field.init}
    return policy(**dict(_option(name, setting, options) for setting in settings))


def _option(policy: str, setting: str, known: Mapping[str, Field[Any]]) -> tuple[str, Any]:
    key, given, value = setting.partition("=")
    if key not in known:
        raise InputError(f"policy {policy} has no option {key!r}; its options are {', '.join(known) or 'none'}")
    field = known[key]
    default = field.default
    if isinstance(default, bool):
        return field.name, _flag(policy, key, value if given else "yes")
    if not value:
        raise InputError(f"policy {policy}: option {key} needs a value, as in {key}={default}")
    return field.name, _value(policy, key, value, default)


def _flag(policy: str, key: str, value: str) -> bool:
    meaning = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if value not in meaning:
        raise InputError(f"policy {policy}: option {key} is yes or no, not {value!r}")
    return meaning[value]


def _value(policy: str, key: str, value: str, default: Any) -> Any:
    kind = type(default)
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"policy {policy}: option {key} must be {what}, not {value!r}") from None
