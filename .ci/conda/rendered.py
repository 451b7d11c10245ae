"""Renders the conda recipe beside this file, and says what it is of; needs py-rattler-build."""

from __future__ import annotations

from pathlib import Path

import rattler_build

RECIPE = Path(__file__).with_name("recipe.yaml")


def main() -> None:
    """Render every variant."""
    variants = rattler_build.Stage0Recipe.from_file(RECIPE).render(rattler_build.VariantConfig())
    for one in variants:
        package = one.recipe.package
        print(f"{package.name} {package.version}, {len(one.recipe.requirements.run)} dependencies")


if __name__ == "__main__":
    main()
