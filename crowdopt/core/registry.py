"""Plug-ins of one file each: a folder scan for our own, entry points for everybody else's."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def discover(package: ModuleType, constant: str) -> list[Any]:
    """The values of ``constant`` in every module of the package that has one, then those of third parties.

    Third parties register under the entry-point group named like the package (``crowdopt.backends``).
    """
    names = sorted(module.name for module in iter_modules(package.__path__) if not module.name.startswith("_"))
    modules = [import_module(f"{package.__name__}.{name}") for name in names]
    own = [getattr(module, constant) for module in modules if hasattr(module, constant)]
    return own + [point.load() for point in entry_points(group=package.__name__)]
