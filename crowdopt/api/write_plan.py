"""The call write_plan: a plan of any kind as a folder."""

from __future__ import annotations

from crowdopt.api.binding import AnyPath
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.errors import public
from crowdopt.io import plan as plan_folder
from crowdopt.io.policy import write_policy


@public
def write_plan(plan: Plan | AdaptivePlan, folder: AnyPath, *, force: bool = False) -> None:
    """Write a plan as a folder, whole or not at all.

    Parameters
    ----------
    plan : Plan or AdaptivePlan
    folder : path
        What to write; it must not be there yet.
    force : bool
        Whether a plan that is there may be replaced.

    Raises
    ------
    ValueError
        If there is no plan to write.
    InputError
        If the target exists and is not forced, or cannot be written.
    """
    if isinstance(plan, AdaptivePlan):
        write_policy(plan, folder, force=force)
    else:
        plan_folder.write_plan(plan, folder, force=force)
