"""The verb rehearse: simulated labels of a plan, to try the whole loop."""

from __future__ import annotations

from crowdopt.api.at_hand import PlanLike, on_disk
from crowdopt.api.binding import AnyPath, InstanceLike
from crowdopt.errors import public
from crowdopt.io.plan import how_errors_are_drawn as how_errors_are_drawn
from crowdopt.io.plan import how_truth_is_drawn as how_truth_is_drawn
from crowdopt.io.plan import write_rehearsal


@public
def rehearse(
    campaign: InstanceLike,
    plan: PlanLike,
    *,
    output: AnyPath,
    truth: AnyPath | None = None,
    seed: int = 0,
    lost: float = 0.0,
    force: bool = False,
) -> int:
    """Simulate the labels of a plan by the campaign's own skills and write their table.

    The truth is drawn given the labels that are in, if any, so that a later round is of the same world as those before.
    Errors are drawn independently of one another, but for workers of one family, who err together as much as their
    skills allow: one number for a task and a family decides for all its members (crowdopt.crowd.recipes).

    Parameters
    ----------
    campaign : AssignmentInstance or path
        An instance, or the folder of a campaign.
    plan : Plan or path
        A plan, or its folder.
    output : path
        Table task, worker, label to write.
    truth : path, optional
        Where the drawn truth is written; a table that is there already is read instead, for a second round.
    seed : int
        Of the draw; each round has numbers of its own.
    lost : float
        Share of the labels that do not come.
    force : bool
        Whether a table that is there may be replaced.

    Returns
    -------
    int
        Number of labels.

    Raises
    ------
    InputError
        If something cannot be read or written.
    """
    with on_disk(campaign, plan) as folders:
        return write_rehearsal(*folders, output, truth, seed, lost, force)
