"""The verb export: a program for any other solver."""

from __future__ import annotations

from pathlib import Path

from crowdopt.api.assign import PROGRAMS
from crowdopt.api.binding import AnyPath, InstanceLike, instance_of
from crowdopt.core.dual import dualize
from crowdopt.core.program import Program, relax
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.mathprog import data_section
from crowdopt.io.program_files import DATA, check_file, ids_of, write_program
from crowdopt.programs import assignment, assignment_dual

EXPORTS = (*PROGRAMS, "dual")


def export(campaign: InstanceLike, output: AnyPath, *, program: str = "ip", force: bool = False) -> Program:
    """Write a program for any other solver, with readable names, whole or not at all.

    Parameters
    ----------
    campaign : AssignmentInstance or path
        An instance, or the folder of a campaign.
    output : path
        Ends in ``.mps`` (free MPS), ``.lp`` (CPLEX LP) or ``.dat``: data for models/assignment.mod, or for
        models/assignment_dual.mod, as GNU MathProg reads it.
    program : str
        ``ip``, ``lp``, or ``dual``: the paper's dual, or the mechanical dual of the LP where the instance has limits
        that the paper's does not know. Either is a minimum whose optimum is minus the LP's.
    force : bool
        Whether to replace a file that is there.

    Returns
    -------
    Program
        What was written; its name says which dual: ``assignment-dual`` or ``assignment-lp-dual``.

    Raises
    ------
    InputError
        If an argument is out of range, or the file exists and is not forced, or cannot be written.
    """
    if program not in EXPORTS:
        raise InputError(f"program must be one of {', '.join(EXPORTS)}, not {program!r}")
    check_file(Path(output), force, data=True)
    instance = instance_of(campaign)
    chosen = _exported(instance, program)
    if Path(output).suffix.lower() == DATA:
        write_text(Path(output), data_section(instance, dual=program == "dual"), replace=force)
        return chosen
    write_program(chosen, Path(output), ids_of(chosen, instance), force)
    return chosen


def _exported(instance: AssignmentInstance, program: str) -> Program:
    if program == "ip":
        return assignment.build(instance)
    if program == "lp":
        return relax(assignment.build(instance))
    try:
        return assignment_dual.build(instance)
    except InputError:  # limits that the paper's dual does not know
        return dualize(relax(assignment.build(instance)))
