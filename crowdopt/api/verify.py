"""The verb verify: a second opinion on a plan."""

from __future__ import annotations

from crowdopt.api.binding import AnyPath
from crowdopt.recheck import verification
from crowdopt.recheck.findings import Report as Report


def verify(campaign: AnyPath, plan: AnyPath) -> Report:
    """Hold a plan folder against a campaign folder: everything is recomputed from the two folders alone.

    Recomputed: who may label what, loads, labels, evidence, error bounds, vote weights, queues, cost, violation, gap,
    and the bound that the stored multipliers prove. A branch-and-bound bound above that stays the solver's word.

    Parameters
    ----------
    campaign, plan : path

    Returns
    -------
    Report
        ``holds``, and the ``problems`` if it does not.

    Raises
    ------
    InputError
        If one of the folders cannot be read.
    """
    return verification.verify(campaign, plan)
