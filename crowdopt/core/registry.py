"""Plug-ins of one file each: a folder scan for our own, entry points for third parties'; and options by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from hashlib import sha256
from importlib import import_module
from importlib.metadata import entry_points
from inspect import getfile
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from crowdopt.errors import InputError, tell


def discover(package: ModuleType, constant: str, attribute: str = "name") -> list[Any]:
    """The values of ``constant`` in every module of the package that has one, then those of third parties."""
    return own(package, constant) + others(package, constant, attribute)


def own(package: ModuleType, constant: str) -> list[Any]:
    """The values of ``constant``, one or a tuple of them, in every module of the package that has it."""
    names = sorted(module.name for module in iter_modules(package.__path__) if not module.name.startswith("_"))
    values = (getattr(import_module(f"{package.__name__}.{name}"), constant, ()) for name in names)
    return [one for value in values for one in (value if isinstance(value, tuple) else (value,))]


def others(package: ModuleType, constant: str, attribute: str) -> list[Any]:
    """What third parties register under the entry-point group named like the package (``crowdopt.solvers``).

    What cannot be loaded, or does not have the attribute, is left out, with a warning.

    constant: what such an object is called here.
    """
    found = []
    for point in entry_points(group=package.__name__):
        where = f"the entry point {point.name} = {point.value} of {point.dist.name if point.dist else 'a package'}"
        try:
            value = point.load()
        except Exception as error:  # it is another's code: whatever its import raises
            tell(f"{where} is left out: it cannot be loaded ({type(error).__name__}: {error})")
            continue
        if isinstance(value, ModuleType):
            tell(f"{where} is left out: it names a module, not what is in it; write {point.value}:{constant}")
        elif not hasattr(value, attribute):
            tell(f"{where} is left out: it is no {constant} of {package.__name__} (it has no {attribute})")
        else:
            found.append(value)
    return found


def completed(kind: type[Any], base: type[Any]) -> type[Any]:
    """The class with the defaults of ``base`` for whatever it leaves out; the class itself if it inherits them."""
    return kind if issubclass(kind, base) else type(kind.__name__, (kind, base), {})


def made(text: str, known: Mapping[str, type[Any]], what: str = "policy") -> Any:
    """A policy from its name and options, ``name:option=value:flag``; a policy is a dataclass, its fields the options.

    text: such as ``main-algorithm:gamma=.3:stop``; a flag alone means yes; what: what they are called in a message, if
    they are not policies.
    """
    name, *settings = text.strip().split(":")
    if name not in known:
        raise InputError(f"unknown {what} {name!r}; there are {', '.join(known)}")
    policy, options = known[name], options_of(known[name])
    return policy(**dict(_option(f"{what} {name}", setting, options) for setting in settings))


def options_of(kind: type[Any]) -> dict[str, Field[Any]]:
    """The options of a policy or a method by name: the fields of its class."""
    own = fields(kind) if is_dataclass(kind) else ()
    return {field.name.replace("_", "-"): field for field in own if field.init}


def _option(owner: str, setting: str, known: Mapping[str, Field[Any]]) -> tuple[str, Any]:
    key, given, value = setting.partition("=")
    if key not in known:
        raise InputError(f"{owner} has no option {key!r}; its options are {', '.join(known) or 'none'}")
    field = known[key]
    default = field.default
    if isinstance(default, bool):
        return field.name, _flag(owner, key, value if given else "yes")
    if not value:
        raise InputError(f"{owner}: option {key} needs a value, as in {key}={2 if default in (None, '') else default}")
    return field.name, _value(owner, key, value, field)


def _flag(owner: str, key: str, value: str) -> bool:
    meaning = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if value not in meaning:
        raise InputError(f"{owner}: option {key} is yes or no, not {value!r}")
    return meaning[value]


def _value(owner: str, key: str, value: str, field: Field[Any]) -> Any:
    kind: type[Any] = type(field.default)
    if field.default is None:  # ``int | None``, as it is written
        kind = {"int": int, "float": float}.get(str(field.type).partition(" ")[0], str)
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{owner}: option {key} must be {what}, not {value!r}") from None


def code_of(plugin: Any) -> str:
    """Digest of the file that a third party's class is in, by which what it did before is told apart; empty: ours."""
    ours = (__name__.partition(".")[0], "builtins")
    theirs = next((one for one in type(plugin).__mro__ if one.__module__.partition(".")[0] not in ours), None)
    if theirs is None:
        return ""
    try:
        return sha256(Path(getfile(theirs)).read_bytes()).hexdigest()[:16]
    except (OSError, TypeError):  # typed in, or compiled
        return theirs.__module__
