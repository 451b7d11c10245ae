"""A package of somebody else that brings plug-ins, as importlib.metadata finds it on a path."""

from __future__ import annotations

import os
from pathlib import Path


def installed(folder: Path, module: str, code: str, points: str) -> Path:
    """Write a package of one module and its entry points into a folder."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    facts = folder / f"{module}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(points, encoding="utf-8")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """That of a program that has it on its path."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
