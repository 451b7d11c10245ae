"""Plug-ins of one file each: a folder scan for our own, entry points for everybody else's."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def discover(package: ModuleType, constant: str) -> list[Any]:
    """The values of ``constant`` in every module of the package that has one, then those of third parties."""
    return own(package, constant) + others(package)


def own(package: ModuleType, constant: str) -> list[Any]:
    """The values of ``constant`` in every module of the package that has one."""
    names = sorted(module.name for module in iter_modules(package.__path__) if not module.name.startswith("_"))
    modules = [import_module(f"{package.__name__}.{name}") for name in names]
    return [getattr(module, constant) for module in modules if hasattr(module, constant)]


def others(package: ModuleType) -> list[Any]:
    """What third parties register under the entry-point group named like the package (``crowdopt.backends``)."""
    return [point.load() for point in entry_points(group=package.__name__)]
