"""The picture at the head of README.md: who labels what in the plan of the sample campaign.

    python benchmarks/first_plan.py

Writes pictures/first_plan.svg.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import crowdopt
from crowdopt.io.policy import plan_overview
from crowdopt.io.samples import write_sample
from crowdopt.pages.charts import save
from crowdopt.pages.page import Chart
from crowdopt.pages.plan_page import page

PICTURE = Path(__file__).parent / "pictures" / "first_plan.svg"


def main() -> None:
    """Solve the sample, and draw what its page shows first."""
    with TemporaryDirectory() as folder:
        write_sample(Path(folder) / "birds")
        crowdopt.solve(Path(folder) / "birds", output=Path(folder) / "plan")
        first = page(plan_overview(Path(folder) / "plan")).sections[0].parts[0]
    assert isinstance(first, Chart)
    save(first.drawing.properties(width=560), PICTURE)


if __name__ == "__main__":
    main()
