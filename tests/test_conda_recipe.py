"""The conda recipe asks for what the wheel asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from crowdopt.version import __version__

ROOT = Path(__file__).parent.parent
RECIPE = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def test_the_recipe_has_the_dependencies_and_the_version_of_the_package():
    """Two lists of the same things drift apart unless they are compared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {f"python {project['requires-python']}"}
    wanted |= {re.sub(r"(?=[<>=])", " ", text, count=1) for text in project["dependencies"]}
    run = RECIPE.partition("  run:\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^    - (.+)$", run, re.MULTILINE)) == wanted
    assert f"version: {__version__}\n" in RECIPE and project["scripts"]["crowdopt"] in RECIPE
