"""Tests of crowdopt.io, and a small campaign as a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def write_table(path: Path, *lines: str) -> Path:
    """A file of these lines."""
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def lay(folder: Path, settings: str, tasks: Iterable[str], workers: Mapping[str, tuple[int, float | None]]) -> Path:
    """A campaign folder: settings, tasks, each worker's capacity and accuracy; None is left to gold."""
    folder.mkdir()
    write_table(folder / "campaign.toml", settings)
    write_table(folder / "tasks.csv", "task", *tasks)
    write_table(folder / "workers.csv", "worker,capacity", *(f"{name},{room}" for name, (room, _) in workers.items()))
    skills = [f"{name},{right}" for name, (_, right) in workers.items() if right is not None]
    if skills:
        write_table(folder / "skills.csv", "worker,accuracy", *skills)
    return folder
