"""A copy of a plan's folder whose claims and tables can be set at will, and what verify says of it then."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowdopt import InputError, verify, write_campaign, write_plan

Rows = list[list[str]]


def made(place: Path, instance: Any, plan: Any) -> Path:
    """A folder with the campaign and the plan, which holds."""
    write_campaign(instance, place / "campaign", collected_labels=["1"] * len(instance.collected))
    write_plan(plan, place / "plan")
    assert not Forged(place, place / "copy").problems()
    return place


class Forged:
    """A copy of a folder's plan, held against the folder's campaign.

    Parameters
    ----------
    folder : Path
        Has ``campaign`` and ``plan``.
    place : Path
        Where the copy goes.
    """

    def __init__(self, folder: Path, place: Path) -> None:
        self.campaign, self.place = folder / "campaign", place / "plan"
        shutil.copytree(folder / "plan", self.place)
        self.claims: dict[str, Any] = json.loads((self.place / "plan.json").read_text(encoding="utf-8"))

    def says(self, **claims: Any) -> Forged:
        """Set what plan.json says."""
        self.claims |= claims
        return self

    def boasts(self, bound: float | None = None, certified: bool = True) -> Forged:
        """Call the plan proven optimal, with everything that goes with it; certified: whether by multipliers."""
        value = self.claims["objective"] if bound is None else bound
        gap = (self.claims["objective"] - value) / max(1.0, abs(self.claims["objective"]))
        self.says(bound=value, gap=gap, proven=True, status="optimal", proof="certificate")
        return self.says(certified_bound=value) if certified else self

    def rows(self, table: str) -> Rows:
        """Of a table, its header first."""
        return list(csv.reader((self.place / f"{table}.csv").read_text(encoding="utf-8").splitlines()))

    def table(self, table: str, rows: Rows) -> Forged:
        """Write a table anew."""
        with (self.place / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        return self

    def changed(self, table: str, change: Callable[[Rows], object]) -> Forged:
        """Change the rows of a table."""
        rows = self.rows(table)
        change(rows)
        return self.table(table, rows)

    def cell(self, table: str, row: int, column: str, change: Callable[[float], float]) -> Forged:
        """Change the number in a cell."""
        rows = self.rows(table)
        place = rows[0].index(column)
        rows[row][place] = repr(change(float(rows[row][place])))
        return self.table(table, rows)

    def column(self, table: str, name: str, values: Any) -> Forged:
        """Set a whole column, adding it if it is not there."""
        head, *rows = self.rows(table)
        cells = [values] * len(rows) if isinstance(values, str | float | int) else list(values)
        place = head.index(name) if name in head else len(head)
        cells = [one if isinstance(one, str) else repr(float(one)) for one in cells]
        rows = [[*row[:place], cell, *row[place + 1 :]] for row, cell in zip(rows, cells, strict=True)]
        return self.table(table, [[*head[:place], name, *head[place + 1 :]], *rows])

    def prices(self, task: Any, worker: Any) -> Forged:
        """Multipliers of tasks and workers."""
        return self.column("tasks", "dual", task).column("workers", "dual", worker)

    def labels(self, value: Any) -> Forged:
        """Multipliers of limits on labels."""
        return self.column("tasks", "labels_dual", value)

    def file(self, name: str, *lines: str) -> Forged:
        """Write a file."""
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return self

    def saved(self) -> Forged:
        """With plan.json as it now says."""
        (self.place / "plan.json").write_text(json.dumps(self.claims), encoding="utf-8")
        return self

    def report(self, campaign: Path | None = None) -> Any:
        """What verify makes of it."""
        return verify(campaign or self.campaign, self.saved().place)

    def problems(self, campaign: Path | None = None) -> list[str]:
        """What is wrong with it, be it a table that cannot be read; nothing where it holds."""
        try:
            report = self.report(campaign)
        except InputError as error:
            assert "\n" not in str(error)
            return [str(error)]
        assert report.holds == (not report.problems) and not (report.problems and report.proven)
        return list(map(str, report.problems))
