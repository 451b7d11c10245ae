"""The verb solve: the plan of a campaign, or the solution of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, overload

from crowdopt.api.assign import assign
from crowdopt.api.binding import AnyPath, InstanceLike
from crowdopt.api.parts import PartsPlan, assign_parts
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.backends import solve as solve_program
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Solution
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.io.parts import is_in_parts


@overload
def solve(
    given: Program,
    backend: str = "highs",
    options: Options | None = None,
    listener: Listener | None = None,
    *,
    isolated: bool | None = None,
) -> Solution: ...


@overload
def solve(given: AnyPath, *, processes: int, output: AnyPath, **settings: Any) -> PartsPlan: ...


@overload
def solve(given: InstanceLike, *, adaptive: Literal[True], **settings: Any) -> AdaptivePlan: ...


@overload
def solve(given: InstanceLike, method: str = "exact", **settings: Any) -> Plan: ...


@public
def solve(given: Program | InstanceLike, *places: Any, **settings: Any) -> Solution | Plan | AdaptivePlan | PartsPlan:
    """The plan of an instance or a campaign's folder, as :func:`crowdopt.assign`; or what a solver says of a program.

    Parameters
    ----------
    given : AssignmentInstance, path or Program
    *places, **settings
        Of an instance or folder ``method`` and the options of :func:`crowdopt.assign`; of a folder in parts
        ``processes`` (0: in this one), ``output``, … (crowdopt.api.parts.assign_parts); of a program ``backend``,
        ``options``, ``listener`` and ``isolated`` (crowdopt.backends.solve).

    Returns
    -------
    Plan, AdaptivePlan, PartsPlan or Solution

    Raises
    ------
    InputError
        If the campaign is in parts and ``processes`` does not say so, or as for those calls.
    """
    if isinstance(given, Program):
        return public(solve_program)(given, *places, **settings)
    if not isinstance(given, AssignmentInstance) and is_in_parts(Path(given)):
        if "processes" not in settings:
            raise InputError(f"{given} is a campaign in parts; say processes=0 to solve it part by part, or more")
        return public(assign_parts)(given, **settings)
    if "processes" in settings:
        raise InputError("processes are for a campaign in parts, and this is none; leave them out")
    found: Plan | AdaptivePlan = assign(given, *places, **settings)
    return found
