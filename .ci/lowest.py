"""Prints pyproject.toml's lower bounds as pip constraints: what it promises to work with is what gets tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

BOUND = re.compile(r"([A-Za-z0-9_-]+)>=([0-9.]+)")
TOOLS = ("ruff", "mypy")  # they judge the code by their newest rules and take no part in running it


def lowest(project: dict) -> list[str]:
    """One line, ``name==version``, for each requirement with a lower bound."""
    wanted = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    bounds = dict(match.groups() for line in wanted if (match := BOUND.match(line)))
    return [f"{name}=={version}" for name, version in sorted(bounds.items()) if name not in TOOLS]


if __name__ == "__main__":
    page = Path(__file__).parents[1] / "pyproject.toml"
    print("\n".join(lowest(tomllib.loads(page.read_text(encoding="utf-8"))["project"])))
