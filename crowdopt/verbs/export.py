"""The verb export: a program for any other solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from crowdopt.core.program import Program, dualize, relax
from crowdopt.core.registry import made
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.files import write_text
from crowdopt.hire import program as hiring
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.io.hiring import CandidateLimits, read_candidates
from crowdopt.io.mathprog import assignment_data, selection_data
from crowdopt.io.programs import DATA, Ids, check_file, ids_of, selection_ids, write_program
from crowdopt.programs import approximated, assignment, assignment_dual, sampled, sets
from crowdopt.said import Said, Verb
from crowdopt.verbs.binding import AnyPath, InstanceLike, instance_of

GOLD = "gold.csv"  # of a campaign


@dataclass(frozen=True)
class WholeLabels:
    """The integer program of a campaign; the other programs inherit from it."""

    what: ClassVar[str] = "the integer program"

    def read(self, given: Any) -> Any:
        """The instance that the program is about."""
        return instance_of(given)

    def build(self, instance: Any) -> Program:
        """The integer program."""
        return assignment.build(instance)

    def ids(self, instance: Any, program: Program) -> Ids:
        """Names of columns and rows."""
        return ids_of(program, instance)

    def data(self, instance: Any) -> str:
        """Data for its model."""
        return assignment_data(instance)


@dataclass(frozen=True)
class SharesOfLabels(WholeLabels):
    """The LP relaxation."""

    what: ClassVar[str] = "the LP relaxation"

    def build(self, instance: Any) -> Program:
        """The LP relaxation."""
        return relax(assignment.build(instance))


@dataclass(frozen=True)
class DualOfShares(WholeLabels):
    """The dual of the LP relaxation."""

    what: ClassVar[str] = "the dual of the LP; its optimum is minus the LP's"

    def build(self, instance: Any) -> Program:
        """The paper's dual, or the mechanical one where the instance has limits that the paper's does not know."""
        try:
            return assignment_dual.build(instance)
        except InputError:
            return dualize(relax(assignment.build(instance)))

    def data(self, instance: Any) -> str:
        """Data for assignment_dual.mod."""
        return assignment_data(instance, dual=True)


@dataclass(frozen=True)
class OfSample(SharesOfLabels):
    """The sampled LP: a share of the workers, drawn by the seed, covers its share of the need."""

    share: float = 0.3
    seed: int = 0

    what: ClassVar[str] = "the LP of a sample of the workers (Ho et al. 2013, 5.1)"

    def read(self, given: Any) -> Any:
        """The instance of the sampled workers."""
        instance = instance_of(given)
        if not 0 < self.share <= 1:
            raise InputError(f"program sampled: share must lie in (0, 1], not {self.share}")
        size = ceil(self.share * instance.n_workers - 1e-9)
        sample = np.sort(np.random.default_rng(self.seed).permutation(instance.n_workers)[:size])
        return sampled.transform(instance, sample, self.share)

    def build(self, instance: Any) -> Program:
        """Its LP."""
        return replace(super().build(instance), name="sampled")


@dataclass(frozen=True)
class UnderTolerance(SharesOfLabels):
    """The approximated LP: skills known up to ``tolerance``, the target loosened to match."""

    tolerance: float = 0.0
    least_quality: float = 0.0

    what: ClassVar[str] = "the LP for skills known up to an error (Ho et al. 2013, 5.2)"

    def read(self, given: Any) -> Any:
        """The instance with less need."""
        return approximated.transform(instance_of(given), self.tolerance, self.least_quality)

    def build(self, instance: Any) -> Program:
        """Its LP."""
        return replace(super().build(instance), name="approximated")


@dataclass(frozen=True)
class OfHiring(WholeLabels):
    """The selection program of a campaign's gold: at most ``most`` workers (0: any number)."""

    most: int = 0
    classes: int = 2
    type: str = ""

    what: ClassVar[str] = "the program whom to hire (Li & Liu 2015, 11)"

    def read(self, given: Any) -> Any:
        """An instance as it is, or from a table of gold, or that of a campaign."""
        if isinstance(given, SelectionInstance):
            return given
        if isinstance(given, AssignmentInstance):
            raise InputError(
                "program selection goes by gold: give a table of it, a campaign that has one, or candidates"
            )
        gold = Path(given) / GOLD if Path(given).is_dir() else Path(given)
        limits = CandidateLimits(classes=self.classes, most=self.most or None, kind=self.type or None)
        return read_candidates(gold, limits)

    def build(self, instance: Any) -> Program:
        """The program that chooses a size, and so many workers."""
        return hiring.build(instance)

    def ids(self, instance: Any, program: Program) -> Ids:
        """Names by size from 1, worker and group."""
        return selection_ids(instance)

    def data(self, instance: Any) -> str:
        """Data for selection.mod."""
        return selection_data(instance)


EXPORTS: Mapping[str, type[Any]] = {
    "ip": WholeLabels,
    "lp": SharesOfLabels,
    "dual": DualOfShares,
    "sampled": OfSample,
    "approximated": UnderTolerance,
    "selection": OfHiring,
}


@public
def export(
    campaign: InstanceLike | SelectionInstance, output: AnyPath, *, program: str = "ip", force: bool = False
) -> Program:
    """Write a program for any other solver, with readable names, whole or not at all.

    The file and the program's ``about`` say by what it is written. Exact errors are no linear constraint: where few
    sets of workers are least for a task, ip and lp choose among them (crowdopt.programs.sets), and the optimum is that
    of ``solve``; else they go by the linear rule that implies the promise (crowdopt.crowd.rules), as all others do.

    Parameters
    ----------
    campaign : AssignmentInstance, SelectionInstance or path
        An instance, or the folder of a campaign; for ``selection`` candidates, or a table of gold, or a campaign's.
    output : path
        File to write that ends in .mps or .lp, or in .dat: data for the program's model in models/. Free MPS, CPLEX LP,
        or data as GNU MathProg reads it: assignment.mod for ip, lp, sampled and approximated, assignment_dual.mod,
        selection.mod.
    program : str
        ip, lp, dual, sampled:share=.3, approximated:tolerance=.01 or selection:most=8. ``crowdopt list programs`` shows
        their options. ``dual`` is the paper's dual, or the mechanical dual of the LP where the instance has limits that
        the paper's does not know, either a minimum whose optimum is minus the LP's.
    force : bool
        Replace the file if it exists.

    Returns
    -------
    Program
        What was written; its name says which dual: ``assignment-dual`` or ``assignment-lp-dual``.

    Raises
    ------
    InputError
        If an argument is out of range, or the file exists and is not forced, or cannot be written.

    Reads
    -----
    a campaign, or for a selection a table of gold

    Writes
    ------
    an .mps, .lp or .dat file

    Examples
    --------
    ::

        crowdopt export my-campaign --program lp -o my-campaign.mps
    """
    chosen = made(program, EXPORTS, "program")
    check_file(Path(output), force, data=True)
    instance = chosen.read(campaign)
    if Path(output).suffix.lower() == DATA:
        write_text(Path(output), chosen.data(instance), replace=force)
        return _built(chosen, instance)
    over_sets = sets.build(instance) if type(chosen) in (WholeLabels, SharesOfLabels) else None
    built = _built(chosen, instance) if over_sets is None else over_sets
    if over_sets is not None and isinstance(chosen, SharesOfLabels):
        built = relax(over_sets)
    write_program(built, Path(output), chosen.ids(instance, built), force)
    return built


def _built(chosen: Any, instance: Any) -> Program:
    program: Program = chosen.build(instance)
    return program


WRITTEN = {  # by the program's name
    **dict.fromkeys(("assignment", "assignment-sets"), "the integer program, a minimum"),
    **dict.fromkeys(("assignment-lp", "assignment-sets-lp"), "the LP relaxation, a minimum"),
    "assignment-dual": "the paper's dual as a minimum: its optimum is minus the LP's",
    "assignment-lp-dual": "the dual of the LP with all its limits, as a minimum: its optimum is minus the LP's",
    **{name: f"{EXPORTS[name].what}, a minimum" for name in ("sampled", "approximated", "selection")},
}


def _said(written: Program, output: AnyPath) -> Said:
    said = WRITTEN[written.name], written.about
    size = {"columns": written.cost.size, "rows": written.row_lower.size, "entries": int(written.matrix.nnz)}
    data = "data for " if Path(output).suffix.lower() == DATA else ""
    lines = [
        f"wrote {output}: {data}{', '.join(filter(None, said))}",
        f"{size['columns']} columns, {size['rows']} rows, {size['entries']} entries",
    ]
    return Said({"file": str(output), "program": written.name, "about": written.about, **size}, lines)


VERBS = (Verb("export", export, _said),)
